"""Terms of leadership: candidates wait, one leads, and whoever loses its lease starts over.

To lead takes two things: the cluster's Lease, which guards what is written to Kubernetes, and the
store's lease, whose fence guards what is written to Postgres. Losing either ends the term at once,
with everything in it; what is half done the next term finishes or undoes.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from fluxnetes.cluster.groups import NO_OPTIONS
from fluxnetes.cluster.labels.names import SCHEDULER_NAMES
from fluxnetes.cluster.model import ClusterModel
from fluxnetes.cluster.node_graph import NodeGraph
from fluxnetes.cluster.pods.reader import PodReader
from fluxnetes.controller.actions.executor import Executor
from fluxnetes.controller.decisions import DecisionApplier
from fluxnetes.controller.leadership.election import LeaderElection, LeadershipLost, LeaseTiming
from fluxnetes.controller.leadership.preflight import prepare
from fluxnetes.controller.leadership.recovery import PodReadAhead, check_cluster, recover, zones_of
from fluxnetes.controller.loop import Controller
from fluxnetes.controller.node_sync import NodeSync
from fluxnetes.controller.reconcile import Reconciler
from fluxnetes.controller.reporting.reporter import Reporter
from fluxnetes.controller.reporting.reports import report_to
from fluxnetes.controller.seats import SeatAssigner
from fluxnetes.controller.state import ControllerSettings
from fluxnetes.controller.submission import GroupSubmitter
from fluxnetes.controller.watchers import Watchers
from fluxnetes.jobspec.constraint import Constraint, Properties
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.errors import TemporaryError
from fluxnetes.kube.objects.base import Metadata
from fluxnetes.kube.objects.nodes import NODES
from fluxnetes.kube.objects.pods import PodSpec
from fluxnetes.queue.changes import Snapshot
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.service.mailbox import Mailbox
from fluxnetes.store.errors import LeaseLost
from fluxnetes.store.lease import SECONDS, StoreLease
from fluxnetes.store.store import Store
from fluxnetes.store.system import StoredSystem

_log = logging.getLogger("fluxnetes.controller")

_DRAIN = 3.0
_PAUSE = 1.0


@dataclass(frozen=True, slots=True)
class CandidateOptions:
    """How a controller runs."""

    identity: str
    """Unlike that of any other controller that lives."""
    namespace: str = "fluxnetes-system"
    config: SchedulerConfig = field(default_factory=SchedulerConfig)
    settings: ControllerSettings = field(default_factory=ControllerSettings)
    scheduler_names: tuple[str, ...] = SCHEDULER_NAMES
    control_plane: bool = False
    """Whether nodes of the control plane may be used."""
    mailbox: Mailbox | None = None
    """What callers ask; None: nobody does."""
    lease: float = SECONDS
    """How long, in seconds, others wait for a sign of life before one of them leads."""


def _nothing() -> None:
    pass


async def run(
    client: KubeClient,
    store: Store,
    options: CandidateOptions,
    leads: Callable[[], None] = _nothing,
) -> None:
    """Lead whenever we can, until cancelled. `leads` hears of every term that begins."""
    ahead = await store.system()
    uid = await prepare(client, options.namespace)
    check_cluster(ahead, uid)
    candidate = _Candidate(client, store, options, uid, leads, ahead)
    while True:
        timing = LeaseTiming.lasting(options.lease)
        leader = LeaderElection(client, options.identity, options.namespace, timing=timing)
        await leader.win()
        try:
            await _lead(candidate, leader)
        except* (LeadershipLost, LeaseLost) as lost:
            _log.warning("no longer leading: %s", _first(lost))
        except* TemporaryError as away:
            # A term needs a server to begin; the next one may find it.
            _log.warning("the term ends: %s", _first(away))
            await asyncio.sleep(_PAUSE)
        finally:
            with suppress(Exception):
                await asyncio.shield(leader.release())
        candidate.ahead = await store.system(candidate.ahead)


@dataclass(slots=True, eq=False)
class _Candidate:
    """Whoever would lead, if he could."""

    client: KubeClient
    store: Store
    options: CandidateOptions
    uid: str
    """Which cluster this is."""
    leads: Callable[[], None]
    ahead: StoredSystem | None
    """The stored system as it was when there was time to read it; it may have changed since."""


def _first(group: BaseException) -> BaseException:
    """The error itself; terms have tasks within tasks."""
    while isinstance(group, BaseExceptionGroup):
        group = group.exceptions[0]
    return group


async def _take_store(candidate: _Candidate) -> StoreLease:
    """The store's lease; whoever had it before may need a moment to lose it."""
    store, options, is_waiting = candidate.store, candidate.options, False
    while (lease := await store.take(options.identity, options.lease)) is None:
        if not is_waiting:
            is_waiting = True
            # Somebody who leads in another cluster would keep it for ever.
            check_cluster(await store.system(), candidate.uid)
            holder = (await store.holder()).name
            _log.info("waiting for the lease of the store, which is still that of %s", holder)
        await asyncio.sleep(0.5)
    return lease


@dataclass(slots=True, eq=False)
class _Holding:
    """The store's lease, renewed."""

    store: Store
    lease: StoreLease

    def sure_for(self) -> float:
        return self.lease.sure_until - time.monotonic()

    async def keep(self) -> None:
        while True:
            await asyncio.sleep(self.lease.seconds / 3)
            self.lease = await self.store.renew(self.lease)


async def _lead(candidate: _Candidate, leader: LeaderElection) -> None:
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(leader.keep())
        store = candidate.store
        holding = _Holding(store, await _take_store(candidate))
        tasks.create_task(holding.keep())
        try:
            await _govern(_Office(candidate, leader, holding), tasks)
        finally:
            with suppress(asyncio.CancelledError, Exception):
                async with asyncio.timeout(_DRAIN):  # a server that is away is waited for
                    await asyncio.shield(store.release(holding.lease))  # the next need not wait


@dataclass(frozen=True, slots=True)
class _Office:
    """What whoever leads has."""

    candidate: _Candidate
    leader: LeaderElection
    holding: _Holding

    def may_write(self) -> bool:
        return self.sure_for() > 0

    def sure_for(self) -> float:
        return min(self.leader.sure_for(), self.holding.sure_for())


async def _govern(queue_host: _Office, tasks: asyncio.TaskGroup) -> None:
    """Follow the cluster, recover, and run until the term ends."""
    candidate, options = queue_host.candidate, queue_host.candidate.options
    node_graph = NodeGraph(control_plane=options.control_plane, uid=candidate.uid)
    model = ClusterModel(node_graph, options.scheduler_names)
    watchers = Watchers(candidate.client, model, asyncio.Event())
    tasks.create_task(watchers.run())
    before = await candidate.store.system(candidate.ahead)
    check_cluster(before, candidate.uid)
    stored = await candidate.store.load()
    node_graph.zones = zones_of(before)
    tasks.create_task(candidate.client.prepare_binds())
    await watchers.complete(NODES)
    node_graph.put(watchers.take_nodes()[0])  # while the pods are on their way
    reader = PodReader(model, watchers.storage)
    await watchers.complete(meanwhile=PodReadAhead(reader).read_more)
    controller = await _begin(queue_host, watchers, reader, stored, before)
    controller.executor.sure_for = queue_host.sure_for
    tasks.create_task(controller.executor.run())
    tasks.create_task(controller.reporter.reports.run())
    candidate.leads()
    mailbox = controller.mailbox
    mailbox.open(controller.shared, watchers.wake.set)
    try:
        await controller.run()
    finally:
        mailbox.close()
        with suppress(asyncio.CancelledError, Exception):
            await asyncio.shield(controller.reporter.reports.drain(_DRAIN))


def _anywhere(reader: PodReader) -> Constraint:
    """The rule of a pod that tolerates nothing and wishes for nothing."""
    plain = reader(PodSpec(), Metadata(), NO_OPTIONS, "default")
    return Properties((plain.rule,))


async def _begin(
    queue_host: _Office,
    watchers: Watchers,
    reader: PodReader,
    stored: Snapshot,
    before: StoredSystem | None,
) -> Controller:
    """Recover, and put the parts together. `before` is the system as it is stored."""
    candidate, model = queue_host.candidate, watchers.model
    client, store, options = candidate.client, candidate.store, candidate.options
    config, fence = options.config, queue_host.holding.lease.fence
    recovered = await recover(
        store,
        stored,
        before,
        fence,
        config,
        model,
        reader,
        now=int(time.time()),
        clock=time.monotonic(),
        settings=options.settings,
    )
    shared = recovered.shared
    shared.anywhere = _anywhere(reader)
    executor = Executor(client, queue_host.may_write)
    reports = report_to(
        client,
        options.identity,
        watchers.pods.objects.get,
        idle=executor.is_idle,
        may_write=queue_host.may_write,
    )
    reconciler = Reconciler(shared, executor.is_binding, executor.revoke)
    seats = SeatAssigner(shared, reader)
    submitter = GroupSubmitter(shared, reader)
    node_sync = NodeSync(shared, reconciler, executor, reader)
    shared.before_telling = node_sync.tell_of_reading
    controller = Controller(
        shared=shared,
        watchers=watchers,
        node_sync=node_sync,
        seats=seats,
        submitter=submitter,
        reconciler=reconciler,
        decisions=DecisionApplier(shared, seats, submitter),
        executor=executor,
        reporter=Reporter(shared, reports),
        store=store,
        config=config,
        fence=fence,
        wake=watchers.wake,
        mailbox=options.mailbox or Mailbox(),
    )
    executor.hold_back = model.foreign.is_changed
    executor.bound, executor.failed = controller.bound, controller.failed
    controller.reporter.recover(recovered.ended)
    _log.info("leading: %d jobs resumed, %d taken over", recovered.resumed, recovered.adopted)
    return controller
