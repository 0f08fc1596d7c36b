"""The status of PodGroups: what users see in `kubectl get podgroups`, in the words of each API.

reports   which PodGroups the groups of the controller name, and when they change    start here
view      what is known of the pods of a PodGroup: counts, the state of their job, why it waits
native    the condition of Kubernetes' own PodGroups
plugins   phase and counts of scheduler-plugins' PodGroups
sync      single writes, throttled

reporter ──▶ reports ──view──▶ sync ──native, plugins──▶ throttle ──▶ API server

Only PodGroups of groups that Fluxnetes schedules are written. What another controller writes there
is left alone until our own view changes, so that two controllers never answer each other.
"""
