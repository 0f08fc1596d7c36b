"""HTTP to the API server: connections, and the meaning of failures.

    transport  Transport: three request lanes, retries, failures to `kube.errors`    start here
    pool       ConnectionPool: HTTP/1.1 over asyncio, for short requests and binds
    sessions   AiohttpSession: aiohttp, for watches and for everything behind a proxy
    types      HttpRequest, HttpResponse, and HttpCarrier, which pool and sessions implement
    tls        ServerTrust: trusted authorities and the client certificate, as an SSL context

Data flow:

    KubeClient --HttpRequest--> Transport --lane--> pool or sessions --> API server
    KubeClient <--bytes or a KubeError-- Transport <--HttpResponse-- pool or sessions
"""
