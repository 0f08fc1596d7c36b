"""The mutating admission webhook: marks what opted in before it is stored.

    run           serve: certificates, then answers, then the registration          start here
    server        WebhookServer: HTTP paths, limits, health endpoints
    review        AdmissionReview: decoding of requests, encoding of responses and edits
    mutate        decide: what happens to a Job, a service and a Pod                 (pure)
    requester     which user sent a request, and so whether an owner reference is trusted
    rotation      CertificateRotation: renews and publishes certificates while serving
    certificates  which certificates there are, and when the next ones are due       (pure)
    cert_store    stores certificates in a Secret for all replicas, or in a folder
    registration  the MutatingWebhookConfiguration: which requests the API server sends
    settings      WebhookSettings: the settings of one webhook
    process       WebhookProcess: the webhook as a child process, restarted when it ends

Data flow:

    API server -> server -> review -> mutate (requester) -> review -> server -> API server

    cert_store <-> rotation (certificates) -> TLS context of the server
                                           -> registration -> API server

The webhook decides from the request alone. It sends no requests to decide, stores nothing and has
no side effects, so dry runs give the real result, and any number of replicas agree. It runs as a
process of its own, since a scheduling cycle may compute for seconds and a response must come within
50 ms.

What it must not do is as important. It is called for Pods and Jobs on CREATE only, for services
also when their template changes, and only for those that opted in. While it is down these cannot be
created, and nothing else is blocked: not kube-system, not the webhook's own namespace, not the pods
of running Jobs and services.
"""
