"""Reports for users: events, conditions of pods, FluxJobs, and the status of PodGroups.

reporter         what is reported about which object, and when          start here
waiting          which waiting groups are reported next
wait_texts       words about a job that waits: position, promised start, what changed
start_events     which events a waiting group gets, and how many
job_names        reasons with the names of objects in place of job numbers
reports          the four kinds of reports as one, with their throttle
events           what happened to an object             (`kubectl describe`)
conditions       why a pod waits                        (the same, and dashboards)
fluxjob_sync     keeps FluxJobs equal to what is wanted
fluxjob_reports  which groups have a FluxJob, and when it changes
fluxjob_builder  what the FluxJob of a group says
fluxjob_view     the content of a FluxJob
fluxjob_writer   single writes of FluxJobs
pod_groups/      the status of PodGroups
throttle         reports give way to binds
dedup            drops events that repeat others
delay_queue      keys that are due later

loop ──▶ reporter ──┬──▶ events ──▶ dedup ──▶ workers ────┐
                    ├──▶ conditions ──▶ delay_queue ──────┼──▶ throttle ──▶ API server
                    ├──▶ fluxjob_reports ──▶ fluxjob_sync ─┤
                    └──▶ pod_groups ──────────────────────┘
"""
