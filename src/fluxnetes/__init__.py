"""Fluxnetes: schedule HPC, AI and batch work on Kubernetes the way a supercomputer does."""
