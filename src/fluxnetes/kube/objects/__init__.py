"""The kinds of the API that Fluxnetes reads and writes, one module for each.

    base           Metadata, Object, Resource: what all objects have, and the path of each kind
    pods           Pod, its spec and status, and the pod template of workloads
    affinity       node and pod affinity, spread constraints, tolerations; used by `pods`
    nodes          Node: capacity, taints, readiness
    jobs           Job: a pod template, and how many pods
    podgroups      PodGroup of scheduler-plugins, of Kubernetes itself and of Volcano
    fluxjobs       FluxJob: the record of a group that users read
    volumes        claims, volumes and storage classes, as far as they limit a pod's nodes
    priorities     PriorityClass, which templates name
    namespaces     Namespace: labels that opt in
    leases         Lease: leader election
    events         Event: messages to users about an object
    secrets        Secret: keys and certificates of the webhook
    registrations  MutatingWebhookConfiguration
    definitions    CustomResourceDefinition
    times          the spelling of times in leases and events

Data flow: `decoding` turns a response into these structs by way of a `Resource`; `KubeClient` takes
the same `Resource` to find the path of a request.

Every kind is a frozen struct with only the fields that Fluxnetes uses, decoded by msgspec straight
from the bytes; fields not named here are skipped without being built. That is why the client has no
PUT: written back whole, an object would lose the fields that are not modelled. Use a patch.

Names are those of the API in Python's spelling (`nodeName` is `node_name`), so there is no second
vocabulary to learn. A field that the server leaves out has the value that leaving it out means.
"""
