"""The components of the plane: arguments, users and settings of each program.

    etcd                      stores the data; listens on a socket in the plane's folder
    kube-apiserver            RBAC, client certificates, service account tokens; on loopback
    kube-controller-manager   Jobs, service accounts, garbage collection: all but scheduling
    kube-scheduler            paths the pods that name no scheduler, or `default-scheduler`
    kwok                      simulates the kubelets

They start in this order and stop in the opposite one. Each runs in the plane's folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from fluxnetes.plane.api import PlaneApi
from fluxnetes.plane.binaries import PlaneBinaries
from fluxnetes.plane.certificates import PlaneAuthority, PlaneCertificate
from fluxnetes.plane.kubeconfig import write_kubeconfig
from fluxnetes.plane.paths import LOOPBACK, PlanePaths
from fluxnetes.plane.probes import etcd_is_ready, is_healthy
from fluxnetes.plane.processes import Program

ETCD, API_SERVER = "etcd", "kube-apiserver"
CONTROLLERS, SCHEDULER, KWOK = "kube-controller-manager", "kube-scheduler", "kwok"
ALL = (ETCD, API_SERVER, CONTROLLERS, SCHEDULER, KWOK)
WITH_PORT = ALL[1:]
ADMIN = "admin"

_SERVICES = "10.96.0.0/16"
_NAMES = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
_USERS: Mapping[str, tuple[str, str | None]] = {
    ADMIN: (ADMIN, "system:masters"),
    CONTROLLERS: (f"system:{CONTROLLERS}", None),
    SCHEDULER: (f"system:{SCHEDULER}", None),
    KWOK: (KWOK, "system:masters"),
}
_ETCD_SOCKET, _PEER_SOCKET = "etcd.sock:0", "peer.sock:0"
_STAGES = ("kwok.yaml", "nodes.yaml", "pods.yaml")
_CLIENT_LIMITS = {"qps": 5000, "burst": 10000}
"""Client limits in requests a second. The defaults are for large shared clusters: with them the
controller manager creates only 20 pods a second."""


@dataclass(frozen=True, slots=True)
class ComponentSettings:
    """The settings that the components share."""

    paths: PlanePaths
    binaries: PlaneBinaries
    ports: Mapping[str, int]
    components: tuple[str, ...] = ALL
    fsync: bool = True
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """More arguments for a program, by its name."""

    @property
    def server(self) -> str:
        return f"https://{LOOPBACK}:{self.ports[API_SERVER]}"

    @property
    def authority(self) -> Path:
        """The certificate of the plane's authority."""
        return self.key("ca").certificate

    def key(self, name: str) -> PlaneCertificate:
        return PlaneCertificate(self.paths.keys / f"{name}.crt", self.paths.keys / f"{name}.key")

    def kubeconfig(self, user: str) -> Path:
        if user == ADMIN:
            return self.paths.kubeconfig
        return self.paths.settings / f"{user}.kubeconfig"

    def api(self) -> PlaneApi:
        return PlaneApi(self.ports[API_SERVER], self.authority, self.key(ADMIN))


def write_settings(setting: ComponentSettings) -> None:
    """Issue the certificates and write all files that the programs read."""
    authority = PlaneAuthority(setting.paths.keys)
    authority.signing_key("service-accounts")
    authority.issue_server("server", (LOOPBACK, "10.96.0.1"), _NAMES)
    trusted = authority.files.certificate
    for name, (user, group) in _USERS.items():
        client = authority.issue_client(name, user, group)
        write_kubeconfig(setting.kubeconfig(name), setting.server, trusted, client)
    folder = resources.files("fluxnetes.plane") / "stages"
    stages = "---\n".join((folder / name).read_text() for name in _STAGES)
    (setting.paths.settings / "kwok.yaml").write_text(stages)
    (setting.paths.settings / "scheduler.json").write_text(_scheduler_configuration(setting))


def program(setting: ComponentSettings, name: str) -> Program:
    """How to run one component."""
    base = _BUILDERS[name](setting)
    extra = setting.extra.get(name, ())
    return Program(name, (*base.command, *extra), base.is_ready, base.environment)


def _etcd(setting: ComponentSettings) -> Program:
    command = (
        setting.binaries[ETCD],
        "--name=plane",
        "--data-dir=etcd",
        f"--listen-client-urls=unix://{_ETCD_SOCKET}",
        f"--advertise-client-urls=unix://{_ETCD_SOCKET}",
        f"--listen-peer-urls=unix://{_PEER_SOCKET}",
        f"--initial-advertise-peer-urls=unix://{_PEER_SOCKET}",
        f"--initial-cluster=plane=unix://{_PEER_SOCKET}",
        "--auto-compaction-retention=5m",
        "--quota-backend-bytes=4294967296",
        *(() if setting.fsync else ("--unsafe-no-fsync",)),
    )
    return Program(ETCD, command, lambda: etcd_is_ready(setting.paths.top / _ETCD_SOCKET))


def _api_server(setting: ComponentSettings) -> Program:
    accounts, server = setting.key("service-accounts"), setting.key("server")
    command = (
        setting.binaries[API_SERVER],
        f"--etcd-servers=unix://{_ETCD_SOCKET}",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={setting.ports[API_SERVER]}",
        f"--tls-cert-file={server.certificate}",
        f"--tls-private-key-file={server.key}",
        f"--client-ca-file={setting.authority}",
        *_front_proxy(setting),
        "--anonymous-auth=false",
        "--authorization-mode=Node,RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={accounts.certificate}",
        f"--service-account-signing-key-file={accounts.key}",
        f"--service-cluster-ip-range={_SERVICES}",
        "--allow-privileged=true",
        # A pod cannot reach an endpoint on loopback, so none is published.
        "--endpoint-reconciler-type=none",
        *_without_controllers(setting),
    )
    return Program(API_SERVER, command, setting.api().is_ready)


def _front_proxy(setting: ComponentSettings) -> tuple[str, ...]:
    """The front proxy settings, which the controllers require; no client has that name."""
    return (
        f"--requestheader-client-ca-file={setting.authority}",
        "--requestheader-allowed-names=front-proxy",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    )


def _without_controllers(setting: ComponentSettings) -> tuple[str, ...]:
    """Without controllers: turns off admission plugins whose objects wait for a controller."""
    if CONTROLLERS in setting.components:
        return ()
    return ("--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",)


def _controllers(setting: ComponentSettings) -> Program:
    command = (
        setting.binaries[CONTROLLERS],
        *_secured(setting, CONTROLLERS),
        f"--kubeconfig={setting.kubeconfig(CONTROLLERS)}",
        "--leader-elect=false",
        f"--root-ca-file={setting.authority}",
        f"--service-account-private-key-file={setting.key('service-accounts').key}",
        "--use-service-account-credentials=true",
        f"--kube-api-qps={_CLIENT_LIMITS['qps']}",
        f"--kube-api-burst={_CLIENT_LIMITS['burst']}",
        "--concurrent-job-syncs=20",
        "--concurrent-gc-syncs=20",
    )
    return Program(
        CONTROLLERS, command, lambda: is_healthy(setting.ports[CONTROLLERS], setting.authority)
    )


def _scheduler(setting: ComponentSettings) -> Program:
    configuration = setting.paths.settings / "scheduler.json"
    command = (
        setting.binaries[SCHEDULER],
        *_secured(setting, SCHEDULER),
        f"--config={configuration}",
    )
    return Program(
        SCHEDULER, command, lambda: is_healthy(setting.ports[SCHEDULER], setting.authority)
    )


def _scheduler_configuration(setting: ComponentSettings) -> str:
    return json.dumps(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "leaderElection": {"leaderElect": False},
            "clientConnection": {
                "kubeconfig": str(setting.kubeconfig(SCHEDULER)),
                **_CLIENT_LIMITS,
            },
        }
    )


def _kwok(setting: ComponentSettings) -> Program:
    command = (
        setting.binaries[KWOK],
        f"--kubeconfig={setting.kubeconfig(KWOK)}",
        f"--config={setting.paths.settings / 'kwok.yaml'}",
        "--manage-all-nodes",
        # With leases the next start would wait until those of the last one have expired.
        "--node-lease-duration-seconds=0",
        f"--node-ip={LOOPBACK}",
        f"--server-address={LOOPBACK}:{setting.ports[KWOK]}",
    )
    # Otherwise KWOK also reads its configuration in the user's home.
    own = {"KWOK_WORKDIR": str(setting.paths.settings)}
    return Program(KWOK, command, lambda: is_healthy(setting.ports[KWOK]), own)


_BUILDERS: Mapping[str, Callable[[ComponentSettings], Program]] = {
    ETCD: _etcd,
    API_SERVER: _api_server,
    CONTROLLERS: _controllers,
    SCHEDULER: _scheduler,
    KWOK: _kwok,
}


def _secured(setting: ComponentSettings, name: str) -> tuple[str, ...]:
    """Where it serves health and metrics, and how it authenticates clients there."""
    server, kubeconfig = setting.key("server"), setting.kubeconfig(name)
    return (
        f"--bind-address={LOOPBACK}",
        f"--secure-port={setting.ports[name]}",
        f"--tls-cert-file={server.certificate}",
        f"--tls-private-key-file={server.key}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
    )
