"""The embedded Postgres server, for installations without one: no password, no port, no set-up.

    server    EmbeddedServer: start, share and stop the server of a data folder     start here
    cluster   PostgresCluster: the data directory, its access rules, and the server process
    paths     the layout of the data folder, and its permissions
    account   the account that the server runs as
    binaries  the programs of Postgres, from a wheel

Data flow:

    folder -> paths (account) -> server.start -> cluster.launch (binaries) -> Postgres
    server.dsn -> database.Database
"""
