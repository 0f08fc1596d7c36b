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

`AsyncClient` has the same methods, to be awaited. What is refused is raised: see `errors`. What is
safe to ask twice is asked again while the server cannot be reached: see `retrying`. What there is
and how it changes can be followed, whatever becomes of the server: see `watching`.
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
