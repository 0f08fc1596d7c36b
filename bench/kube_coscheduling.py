from bench.kube_contestants import COSCHEDULING, KubeScheduler


class Coscheduling(KubeScheduler):
    name = COSCHEDULING
