"""A client for `fluxnetes serve` and `fluxnetes controller --serve`.

    from pathlib import Path
    from fluxnetes.client import Busy, Client

    with Client("127.0.0.1:4242") as client:
        try:
            job = client.match(Path("job.yaml").read_text(), name="hello")
        except Busy as busy:
            print("not now:", busy)
        else:
            print(job.id, *(share.node for share in job.nodes))
            client.cancel(job.id)

`AsyncClient` has the same methods, to be awaited. Both raise the classes of `errors`, repeat calls
that are safe to repeat while the server cannot be reached, and reconnect streams.

    synchronous    `Client`: blocking calls and iterators
    asynchronous   `AsyncClient`: the same for asyncio
    calls          one function per call of the API: the request message and how to read the answer
    messages       messages of `fluxnetes.v1` to and from `values`
    values         the values that callers see: jobs, nodes, changes, gangs
    errors         gRPC errors as exceptions, by the reason in their details
    retrying       which calls are repeated, how often and after which delay
    watching       streams that resume where the connection was lost
    channel        channel options, TLS credentials and metadata

    client.match(...) ──▶ calls.match: Call(method, request, read)
                      ──▶ channel, repeated by `retrying` while the server is unavailable
                      ──▶ messages.read_match ──▶ values.Job, or an exception of `errors`
"""

from __future__ import annotations

from fluxnetes.client.asynchronous import AsyncClient
from fluxnetes.client.errors import (
    Busy,
    CallError,
    Denied,
    Invalid,
    NoFit,
    NoGraph,
    NoQueue,
    Unavailable,
    UnknownJob,
    Unsatisfiable,
    WrongState,
)
from fluxnetes.client.retrying import Patience
from fluxnetes.client.synchronous import Client
from fluxnetes.client.values import (
    Estimate,
    Explanation,
    Gang,
    Job,
    JobChange,
    Node,
    NodeChange,
    NodeShare,
    Pool,
    Reset,
    Shape,
    Share,
    State,
    Status,
)

__all__ = [
    "AsyncClient",
    "Busy",
    "CallError",
    "Client",
    "Denied",
    "Estimate",
    "Explanation",
    "Gang",
    "Invalid",
    "Job",
    "JobChange",
    "NoFit",
    "NoGraph",
    "NoQueue",
    "Node",
    "NodeChange",
    "NodeShare",
    "Patience",
    "Pool",
    "Reset",
    "Shape",
    "Share",
    "State",
    "Status",
    "Unavailable",
    "UnknownJob",
    "Unsatisfiable",
    "WrongState",
]
