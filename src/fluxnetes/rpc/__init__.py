"""The gRPC server: `fluxnetes.v1` and the old dialects, on a backend of `service`.

    server       the server: address, credentials, limits, health
    listener     the options of a listener, read into the settings of a server
    serve_loop   serves a backend until it is stopped, and reports its health
    embedded     serves callers of a controller, from a thread beside it
    guard        authenticates callers by bearer tokens
    callers      the caller of the current call
    receiving    reads messages after authentication, a few at a time, within limits
    credentials  TLS certificates: given files, or self-made ones
    validation   checks the text of every request
    handlers     method handlers from a service's descriptor
    call         one call in progress: trailing metadata, and what to withdraw if it is lost
    grpc_status  errors of the service as status codes with details
    reflection   describes services to tools, under their names on the wire

    api/         the services of `fluxnetes.v1`
    dialects/    the services of the old clients
    wire/        generated messages of the old dialects; those of `fluxnetes.v1` are in `v1`

The way of one Match:

    headers ──▶ guard: token, caller ──▶ receiving: slot, bytes
          ──▶ handlers: MatchRequest ──▶ api.jobs.JobService.match
          ──▶ api.reading, requests.jobspec_cache: MatchCall ──▶ Backend.match ──▶ Grant
          ──▶ api.writing: MatchResponse ──▶ handlers ──▶ bytes

A ServiceError on the way becomes a gRPC error in `grpc_status`. If the client is gone before the
answer is sent, `call` withdraws the grant.
"""

from __future__ import annotations

import os

# With gRPC's fork support, a child that is forked while calls are under way dies before it can exec
# another program: the embedded Postgres. No child here continues as a copy of this process.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
