"""A queue over gRPC, without gRPC: what callers ask of it, and what becomes of that."""
