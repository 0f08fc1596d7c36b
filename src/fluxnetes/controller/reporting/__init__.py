"""Reports for users: events, conditions of pods, and FluxJobs.

reporter         what is reported about which object, and when          start here
reports          the three kinds of reports as one, with their throttle
events           what happened to an object             (`kubectl describe`)
conditions       why a pod waits                        (the same, and dashboards)
fluxjob_sync     keeps FluxJobs equal to what is wanted
fluxjob_view     the content of a FluxJob
fluxjob_writer   single writes of FluxJobs
jobspec_text     a request as a Flux jobspec, for the FluxJob
units            reasons of the queue in the units of Kubernetes
throttle         reports give way to binds
dedup            drops events that repeat others
delay_queue      keys that are due later

loop ──▶ reporter ──┬──▶ events ──▶ dedup ──▶ workers ────┐
                    ├──▶ conditions ──▶ delay_queue ──────┼──▶ throttle ──▶ API server
                    └──▶ fluxjob_sync ──▶ delay_queue ────┘
"""
