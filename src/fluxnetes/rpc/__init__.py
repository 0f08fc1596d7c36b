"""The matcher as a gRPC service.

    dialects/, api/   services: messages of a client ──▶ values ──▶ messages
    host              whoever has the resources: `alone`, or a controller that leads
    engine            does one thing at a time, in a thread, while the event loop goes on
    matching          a matcher on one graph, as a service needs it
    keeping, writing  what was granted, in the store
    server            sockets, limits, health and reflection; credentials and guard say who may call

The old dialects' messages are in `wire/`, under packages of our own naming: several of them share
names. Ours are in `fluxnetes.v1`.
"""
