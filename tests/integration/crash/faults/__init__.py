"""A mixed load under faults of every kind, whose ends are then compared with Kubernetes' own.

load       what users and administrators do, drawn from a seed
objects    workloads as Kubernetes objects
users      carries the load out, in a thread of its own
plan       which fault comes when, drawn from the same seed
link       a connection to the API server that can be cut and reset
replicas   two controllers, each behind a link, killed, paused and cut off
cluster    everything that runs: control plane, Postgres, recorder, replicas
inject     carries a fault out
gather     what a run left behind
run        one run, from an empty folder to what was found (`crash.truth`)
"""
