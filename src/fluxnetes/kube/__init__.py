"""The Kubernetes API client: reads, watches and changes objects of one API server.

    client     KubeClient: get, list, create, patch, delete, bind          start here to write
    informer   Informer: all objects of a kind, kept up to date            start here to read
    discovery  which version of a kind the server has
    cache      ObjectCache: the objects last seen, and the changes between two views of them
    watch      one watch connection: batches of events after a known resource version
    decoding   bytes to objects: single ones, pages of a list, lines of a watch
    patches    the four kinds of patch that the server accepts
    errors     the error tree, and which HTTP status leads to which error

    objects/   the kinds, with the fields that Fluxnetes reads
    auth/      ApiAccess: address, trusted authority and credentials, from a kubeconfig or a pod
    http/      Transport: connections, request lanes, retries, HTTP failures to `errors`

Data flow:

    kubeconfig or service account -> auth -> ApiAccess -> KubeClient -> http.Transport -> API server

    read    API server -> http -> decoding -> watch -> cache -> Informer.changes() -> watchers
    write   caller -> KubeClient (patches, objects) -> http -> API server

Nothing is imported here, so that programs which never talk to an API server do not load aiohttp.
"""
