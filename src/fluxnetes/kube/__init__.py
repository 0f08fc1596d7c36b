"""Kubernetes: what there is, what changes, and our own changes to it.

    informer     Informer: all objects of a kind, kept up to date        start here to read
      cache      what we know, and how that changes
      watch      one connection's worth of events
      backoff    patience
    client       Client: get, list, create, patch, delete, bind          start here to write
      patches    four ways to change an object
      transport  HTTP, in three lanes; what failures mean   (over `wires`: short requests,
                 `sessions`: watches and proxies, `exchange`: what both carry)
      decoding   bytes -> objects
    config       Access: the way to a server    (over `kubeconfig`, `exec_plugin`, `credentials`,
                 `tls`: the file, programs that hand out tokens, who we are, whom we trust)
    objects      the kinds, with the fields that we use
    errors       what can go wrong

Nothing is imported here: aiohttp is only for those who talk to a server.
"""
