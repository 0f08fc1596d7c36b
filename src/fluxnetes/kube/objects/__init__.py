"""What the API server stores, as far as we look at it.

    base        Metadata and Resource: what an object is called, and where the server keeps it
    pods        Pod and its spec: what is asked for, and where it may go   (over `affinity`)
    nodes       Node: what there is
    jobs        Job: a pod template, and how many
    podgroups   PodGroup, of scheduler-plugins and of Kubernetes itself
    fluxjobs    FluxJob: our own record, for users to read
    volumes     claims, volumes and storage classes, as far as they tie a pod to nodes
    priorities  priority classes, which templates name
    registrations   of webhooks
    namespaces, leases, events, secrets

Every kind is a frozen struct with only the fields that we use, decoded by msgspec straight from the
bytes; what is not named here is skipped without being built. That is why there is no PUT in the
client: written back whole, an object would lose what we do not know. Change it with a patch.

Names are those of the API in Python's spelling (`nodeName` is `node_name`), so nobody has to learn
a second set. A field that the server leaves out has the value that leaving it out means.
"""
