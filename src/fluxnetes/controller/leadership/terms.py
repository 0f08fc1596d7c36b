"""Terms of leadership: candidates wait, one leads, and a leader that loses its lease starts over.

    run ──▶ prepare the cluster ──▶ win the election ──▶ take the store's lease
             ▲                                             │
             │ a lease is lost                             ▼
             └───────────────── controller runs ◀── watch, recover, assemble

To lead takes two leases: the cluster's Lease, which guards what is written to Kubernetes, and the
store's lease, whose fence guards what is written to Postgres. Losing either ends the term at once,
with all of its tasks; the next term finishes or undoes what was half done.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from fluxnetes.cluster.labels.names import SCHEDULER_NAMES
from fluxnetes.cluster.model import ClusterModel
from fluxnetes.cluster.node_graph import NodeGraph
from fluxnetes.cluster.pods.reader import PodReader
from fluxnetes.cluster.scope import WHOLE_CLUSTER, ClusterScope
from fluxnetes.cluster.topology import DEFAULT, ClusterTopology
from fluxnetes.controller.actions.executor import Executor
from fluxnetes.controller.actions.outcomes import OutcomeRecorder
from fluxnetes.controller.actions.queue import ActionQueue
from fluxnetes.controller.deadlines import DeadlineKeeper
from fluxnetes.controller.decisions import DecisionApplier
from fluxnetes.controller.growth import GrowthResumer
from fluxnetes.controller.incomplete import IncompleteGroups
from fluxnetes.controller.leadership.election import LeaderElection, LeadershipLost, LeaseTiming
from fluxnetes.controller.leadership.preflight import prepare
from fluxnetes.controller.leadership.recovery import PodReadAhead, check_cluster, places_of, recover
from fluxnetes.controller.loop import Controller
from fluxnetes.controller.node_sync import NodeSync
from fluxnetes.controller.observation import Observation
from fluxnetes.controller.reconcile import Reconciler
from fluxnetes.controller.reporting.pod_groups.view import PodGroupObjects
from fluxnetes.controller.reporting.reporter import Reporter
from fluxnetes.controller.reporting.reports import Reports, report_to
from fluxnetes.controller.seats import SeatAssigner
from fluxnetes.controller.state import ControllerSettings, ControllerState
from fluxnetes.controller.submission import GroupSubmitter
from fluxnetes.controller.sweep import Sweep
from fluxnetes.controller.walltimes import WalltimeSync
from fluxnetes.controller.watchers import Watchers
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.errors import TemporaryError
from fluxnetes.kube.objects.nodes import NODES
from fluxnetes.queue.changes import Snapshot
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.service.mailbox import Mailbox
from fluxnetes.store.errors import LeaseLost, ValueRefused
from fluxnetes.store.lease import SECONDS, StoreLease
from fluxnetes.store.store import Store
from fluxnetes.store.system import StoredSystem

_log = logging.getLogger("fluxnetes.controller")

_DRAIN = 3.0
"""Maximum seconds at the end of a term for writing reports, and for releasing the store's lease."""
_RETRY_DELAY = 1.0
"""Seconds until the next attempt after the API server failed during a term."""
_CHECK_INTERVAL = 0.5
"""Seconds between two checks whether the cluster is being observed."""
_LEASE_INTERVAL = 0.5
"""Seconds between two attempts to take the store's lease."""


@dataclass(frozen=True, slots=True)
class CandidateOptions:
    """Options of one replica of the controller."""

    identity: str
    """Unique name of this replica."""
    namespace: str = "fluxnetes-system"
    config: SchedulerConfig = field(default_factory=SchedulerConfig)
    settings: ControllerSettings = field(default_factory=ControllerSettings)
    scheduler_names: tuple[str, ...] = SCHEDULER_NAMES
    control_plane: bool = False
    """Whether nodes of the control plane may be used."""
    scope: ClusterScope = WHOLE_CLUSTER
    """Which nodes are used, and which foreign pods do not count."""
    topology: ClusterTopology = field(default_factory=lambda: ClusterTopology.of(DEFAULT))
    """The levels above the nodes."""
    mailbox: Mailbox | None = None
    """Requests of callers; None: there are no callers."""
    lease: float = SECONDS
    """Seconds without a renewal after which another replica takes over."""


def _nothing() -> None:
    pass


async def run(
    client: KubeClient,
    store: Store,
    options: CandidateOptions,
    leads: Callable[[], None] = _nothing,
) -> None:
    """Lead whenever possible, until cancelled. `leads` is called when a term begins."""
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
            # A term cannot begin without the API server; the next one may reach it.
            _log.warning("the term ends: %s", _first(away))
            await asyncio.sleep(_RETRY_DELAY)
        except* ValueRefused as refused:
            # Nothing of it was written: the next term begins before it, and leaves its cause out.
            _log.error("the term ends: %s", _first(refused))
            await asyncio.sleep(_RETRY_DELAY)
        finally:
            with suppress(Exception):
                await asyncio.shield(leader.release())
        candidate.ahead = await store.system(candidate.ahead)


@dataclass(slots=True, eq=False)
class _Candidate:
    """A replica that leads or wants to."""

    client: KubeClient
    store: Store
    options: CandidateOptions
    uid: str
    """Identifies the cluster."""
    leads: Callable[[], None]
    ahead: StoredSystem | None
    """The stored graph as it was read before the term, to save time; it may have changed since."""
    refused: dict[str, str] = field(default_factory=dict)
    """Workloads with a value that the store refused, and what it said."""


def _first(group: BaseException) -> BaseException:
    """The error itself, from within nested exception groups."""
    while isinstance(group, BaseExceptionGroup):
        group = group.exceptions[0]
    return group


async def _take_store(candidate: _Candidate) -> StoreLease:
    """Take the store's lease; that of the previous leader may not have expired yet."""
    store, options, is_waiting = candidate.store, candidate.options, False
    while (lease := await store.take(options.identity, options.lease)) is None:
        if not is_waiting:
            is_waiting = True
            # The leader of another cluster would keep it for ever.
            check_cluster(await store.system(), candidate.uid)
            holder = (await store.holder()).name
            _log.info("waiting for the lease of the store, which %s still holds", holder)
        await asyncio.sleep(_LEASE_INTERVAL)
    return lease


@dataclass(slots=True, eq=False)
class _StoreLeaseKeeper:
    """Renews the store's lease."""

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
        store_lease = _StoreLeaseKeeper(store, await _take_store(candidate))
        tasks.create_task(store_lease.keep())
        try:
            await _run_term(_Term(candidate, leader, store_lease), tasks)
        finally:
            with suppress(asyncio.CancelledError, Exception):
                async with asyncio.timeout(_DRAIN):  # the database may be away
                    # So that the next leader need not wait for it to expire.
                    await asyncio.shield(store.release(store_lease.lease))


@dataclass(frozen=True, slots=True)
class _Term:
    """What a leader holds. It is the `WriteLease` of the executor."""

    candidate: _Candidate
    leader: LeaderElection
    store_lease: _StoreLeaseKeeper

    def may_write(self) -> bool:
        return self.sure_for() > 0

    def sure_for(self) -> float:
        return min(self.leader.sure_for(), self.store_lease.sure_for())


async def _run_term(term: _Term, tasks: asyncio.TaskGroup) -> None:
    """Watch the cluster, recover, and run the controller until the term ends."""
    candidate, options = term.candidate, term.candidate.options
    node_graph = NodeGraph(
        control_plane=options.control_plane,
        scope=options.scope,
        uid=candidate.uid,
        topology=options.topology,
    )
    model = ClusterModel(node_graph, options.scheduler_names)
    watchers = Watchers(candidate.client, model, asyncio.Event())
    tasks.create_task(watchers.run())
    before = await candidate.store.system(candidate.ahead)
    check_cluster(before, candidate.uid)
    stored = await candidate.store.load()
    node_graph.keep_places(places_of(before))
    tasks.create_task(candidate.client.prepare_binds())
    await watchers.complete(NODES)
    node_graph.put(watchers.take_nodes()[0])  # while the pods are being listed
    reader = PodReader(model, watchers.storage)
    await watchers.complete(meanwhile=PodReadAhead(reader).read_more)
    parts = await _begin(term, watchers, reader, stored, before)
    controller, reports, mailbox = parts.controller, parts.reports, parts.controller.mailbox
    tasks.create_task(parts.executor.run())
    tasks.create_task(reports.run())
    tasks.create_task(_keep_checking(controller.observation))
    candidate.leads()
    mailbox.open(controller.shared, watchers.wake.set)
    try:
        await controller.run()
    finally:
        mailbox.close()
        with suppress(asyncio.CancelledError, Exception):
            await asyncio.shield(reports.drain(_DRAIN))


async def _keep_checking(observation: Observation) -> None:
    """Check also while a round waits for the store."""
    while True:
        await asyncio.sleep(_CHECK_INTERVAL)
        observation.check()


@dataclass(frozen=True, slots=True)
class _TermParts:
    """The components of a term that run as tasks."""

    controller: Controller
    executor: Executor
    reports: Reports


async def _begin(
    term: _Term,
    watchers: Watchers,
    reader: PodReader,
    stored: Snapshot,
    before: StoredSystem | None,
) -> _TermParts:
    """Recover the state, and assemble the components. `before` is the system as it is stored."""
    candidate, options = term.candidate, term.candidate.options
    fence = term.store_lease.lease.fence
    recovered = await recover(
        candidate.store,
        stored,
        before,
        fence,
        options.config,
        watchers.model,
        reader,
        now=int(time.time()),
        clock=time.monotonic(),
        settings=options.settings,
    )
    parts = _assemble(term, watchers, reader, recovered.shared, fence)
    parts.controller.reporter.term_started(recovered.ended)
    _log.info("leading: %d jobs resumed, %d adopted", recovered.resumed, recovered.adopted)
    return parts


def _assemble(
    term: _Term, watchers: Watchers, reader: PodReader, shared: ControllerState, fence: int
) -> _TermParts:
    """Put the components together, each after those that it uses.

    The queue of actions is apart from the executor because it is used by components that the
    executor, in turn, informs: reports give way to queued binds, and outcomes are reported.
    """
    candidate, options = term.candidate, term.candidate.options
    actions = ActionQueue()
    reports = report_to(
        candidate.client,
        options.identity,
        watchers.pods.objects.get,
        idle=actions.is_idle,
        may_write=term.may_write,
        pod_groups=PodGroupObjects(watchers.native_pod_groups, watchers.pod_groups),
    )
    resumer = GrowthResumer(shared, actions, reports.events)
    reporter = Reporter(shared, reports, resumer)
    reconciler = Reconciler(shared, actions)
    seats = SeatAssigner(shared, reader)
    submitter = GroupSubmitter(shared, reader, candidate.refused)
    executor = Executor(
        candidate.client,
        actions,
        lease=term,
        observer=OutcomeRecorder(shared, seats, reporter),
        hold_back=shared.model.foreign.is_changed,
    )
    controller = Controller(
        shared=shared,
        watchers=watchers,
        node_sync=NodeSync(shared, reconciler, actions),
        seats=seats,
        submitter=submitter,
        reconciler=reconciler,
        deadlines=DeadlineKeeper(shared, actions, reports.events),
        incomplete=IncompleteGroups(shared, reconciler, reporter),
        walltimes=WalltimeSync(shared, reporter),
        decisions=DecisionApplier(shared, seats, submitter),
        actions=actions,
        reporter=reporter,
        store=candidate.store,
        config=options.config,
        fence=fence,
        mailbox=options.mailbox or Mailbox(),
        observation=Observation(watchers, shared.clock),
        sweep=Sweep(shared),
    )
    return _TermParts(controller, executor, reports)
