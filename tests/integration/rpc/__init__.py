"""The gRPC service as a process, called over real sockets by clients that share nothing with it."""

import fluxnetes.rpc  # noqa: F401 - says to gRPC, before it is there, that processes are started here
