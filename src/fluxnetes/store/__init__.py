"""The store: the queue in Postgres, and only there.

    store        Store: open, take the lease, load, commit                  start here
      writes     changes -> statements      (over `written`: what need not be sent again,
      load       tables -> a snapshot        `records`: records <-> rows, `requests`: <-> JSON)
      system     the graph and the configuration that the queue belongs to (over `configs`)
      translate  allocations of one graph on another
      lease      one writer, with a fence
      migrate    numbered migrations
    connect      Database: a server that may come and go
    embedded     EmbeddedServer: a Postgres of our own   (over `cluster`: made and launched,
                 `places`, `account`, `binaries`, `locks`: where, as whom, with what, until when)
    statements   SQL, which lives in sql/ and migrations/
    errors       what can go wrong

Nothing is imported here: asyncpg is only for those who open a store.
"""
