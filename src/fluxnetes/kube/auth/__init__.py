"""Authentication: which API server to use, and the credentials for it.

    access       find_access: ApiAccess from a kubeconfig or the pod's service account   start here
    kubeconfig   Kubeconfig: the files, read as one; a context with its cluster and user
    credentials  Credentials: the headers and TLS settings valid now, read again when they expire
    exec_plugin  ExecPlugin: credentials from a command, as cloud providers supply them

Data flow:

    files, environment -> kubeconfig -> access -> ApiAccess(server, credentials)
    every request -> Credentials.current() -> source (file or exec_plugin), if the last one expired
"""
