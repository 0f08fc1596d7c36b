"""The matcher as a gRPC service.

    dialects/, api/   services: messages of a client ──▶ values ──▶ messages
    host              whoever has the resources: `alone`, or a controller that leads
    engine            does one thing at a time, in a thread, while the event loop goes on
    matching          a matcher on one graph, as a service needs it
    keeping, writing  what was granted, in the store
    lone_queue        a queue for callers, without a cluster
    whose             which stores are somebody else's
    server            sockets, limits, health and reflection; credentials and guard say who may call

The old dialects' messages are in `wire/`, under packages of our own naming: several of them share
names. Ours are in `fluxnetes.v1`.
"""

from __future__ import annotations

import os

# gRPC wants to follow when we fork, and while calls are under way the child dies of that, before it
# becomes the program that it was to be: Postgres, as another user. Nobody of ours forks to stay.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
