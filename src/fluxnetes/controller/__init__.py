"""The loop: what the cluster shows goes into the queue, and what the queue decides is carried out.

leader       who leads: a Lease of the cluster
reports      all that users are told, in one piece
  events     what happened to an object           (`kubectl describe`)
  conditions why a pod waits                      (the same, and dashboards)
  records    FluxJobs, kept equal to what is wanted  (over `fluxjobs`: what one says,
             and `filing`: single writes)
  courtesy   reports give way to binds
  agenda     what is to be looked at, and when
crd          what a FluxJob is, for the API server
"""
