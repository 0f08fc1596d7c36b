"""`fluxnetes controller --serve`: callers over gRPC on a real cluster, beside Kubernetes' work."""
