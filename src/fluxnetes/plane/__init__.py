"""A real Kubernetes control plane on this machine, for `fluxnetes up`, tests and benchmarks.

    plane         ControlPlane: start, use and stop it                             start here
    components    the programs of the plane, their arguments, users and settings files
    processes     one process: started, waited for, stopped; and the lock of the plane's folder
    probes        health checks of the programs
    nodes         the nodes that KWOK simulates, and their capacity
    api           PlaneApi: the few requests that the plane, its tests and benchmarks send
    binaries      finds the programs: in a given folder, on PATH, in the cache, or by a build
    build         builds the programs from a pinned Go module
    versions      the versions of Kubernetes that can be built
    certificates  the plane's certificate authority, and the certificates of servers and clients
    kubeconfig    writes kubeconfig files
    paths         the layout of the plane's folder, and its ports
    errors        PlaneFailed, RequestRefused
    stages/       what KWOK does to pods and nodes: how a pod runs, fails, is rejected and ends

Data flow:

    binaries (build) --+
    paths -------------+-> components.write_settings -> certificates, kubeconfig, stages
                       +-> components.program -> processes -> probes -> nodes -> ready

Only the kubelets are simulated: etcd, kube-apiserver, kube-controller-manager and kube-scheduler
are the released sources. Of Fluxnetes the package imports nothing but `common.certificates`.
"""
