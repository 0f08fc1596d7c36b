"""A real Kubernetes control plane on this machine, for `fluxnetes up`, tests and benchmarks.

    plane         ControlPlane: start it, use it, stop it
      parts       which programs it consists of, and how each is told what to do
      probes      whether a program works
      processes   one program: started, waited for, stopped, never left behind
      nodes       the nodes that KWOK plays, and what they have
      api         the few requests that the plane itself sends to its API server
    binaries      where the programs come from   (over `build`: made from a pinned Go module)
    certificates  who may speak to whom
    kubeconfig    what a client needs to get in
    places        what is kept where, and which ports
    stages/       what KWOK does to pods and nodes: how a pod runs, fails, is refused and ends

Everything is real but the kubelets: etcd, kube-apiserver, kube-controller-manager and
kube-scheduler are the released sources. It imports nothing else of Fluxnetes but `certificates`.
"""
