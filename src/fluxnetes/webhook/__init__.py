"""Admission: what is ours is marked as ours before it is stored.

    serving         serve: answer until told to stop                     start here
      server        HTTP: paths, limits, health
      mutate        a review in, a review out: what is done to a Job and to a Pod      (pure)
        review      the format of both
        makers      who made it: owners are claims, the API server's word about the user is not
      rotation      certificates are made, published and taken up while we serve
        certificates  which there are, and when the next ones are due                  (pure)
        keeping       in a Secret for all replicas, or in a folder
      registration  which requests the API server sends to us            (data)
    process         WebhookProcess: the same as a process of its own, started again when it ends

The webhook decides from the request alone. It asks nobody, stores nothing and has no side effects,
so a dry run is a run like any other, and any number of replicas agree. It runs as a process of its
own, since a scheduling cycle may compute for seconds and an answer must come within 50 ms.

What it must not do is as important. It is asked about Pods and Jobs on CREATE only, and only about
those that opted in. While it is down these cannot be made, and nothing else is blocked: not
kube-system, not our own namespace, not the pods of Jobs that run.
"""
