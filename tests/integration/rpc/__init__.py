"""The gRPC service as a process, called over real sockets by clients that share nothing with it."""
