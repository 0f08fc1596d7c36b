"""What the random stories of this folder once found, each as small as it got."""

from __future__ import annotations

from functools import partial

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.jobspec.constraint import Hostlist
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.queue.config import BackfillPolicy, QueueConfig, SchedulerConfig
from fluxnetes.queue.events import Event, Maintain, Reserve, Submit
from fluxnetes.queue.jobs import Request, Submission
from fluxnetes.queue.states import JobState
from tests.property.queue.notary import Notary
from tests.property.queue.scripts import pools
from tests.property.queue.story import Act, Fate, Script
from tests.property.queue.workloads import bare_nodes, one_queue, whole_nodes
from tests.property.queue.world import World


def comes(id: int, request: Request, walltime: int | None, **more: object) -> Submit:
    return Submit(Submission(id, request, walltime=walltime, **more))  # type: ignore[arg-type]


def lived(world: World) -> World:
    """Live through it all, and see to it that promises are kept."""
    notary = Notary(world)
    for step in world.steps():
        notary.check(step)
    notary.check_that_all_ended_once()
    return world


def script(acts: list[tuple[int, Event]], runtimes: dict[int, int]) -> Script:
    fates = {id: Fate(runtime) for id, runtime in runtimes.items()}
    return Script(tuple(Act(at, event) for at, event in acts), fates)


def test_a_job_that_does_not_fit_into_its_reservation_is_rejected() -> None:
    """It once waited for ever."""
    reserve = Reserve("w", 0, 1, 1, users=frozenset({"ada"}))
    late = comes(1, whole_nodes(1), 2, user="ada", reservation="w")
    world = lived(
        World(bare_nodes, one_queue(BackfillPolicy.EASY), script([(0, reserve), (0, late)], {1: 2}))
    )
    assert world.job(1).state is JobState.REJECTED
    assert (
        reason_text(world.job(1).reason)
        == "a walltime of 2 s; advance reservation w is there for 1 s"
    )


def test_a_job_whose_reservation_ends_before_it_found_room_there_is_rejected() -> None:
    reserve = Reserve("w", 0, 5, 1, users=frozenset({"ada"}))
    first, second = (comes(id, whole_nodes(1), 4, user="ada", reservation="w") for id in (1, 2))
    acts: list[tuple[int, Event]] = [(0, reserve), (0, first), (0, second)]
    world = lived(World(bare_nodes, one_queue(BackfillPolicy.EASY), script(acts, {1: 4, 2: 4})))
    assert world.job(1).start == 0
    assert reason_text(world.job(2).reason) == "advance reservation w is over"


def test_an_endless_job_that_moves_earlier_is_still_endless() -> None:
    """Its promise once ended a second before the end of all time, and another began there."""
    sizes: dict[int, tuple[int, int | None]] = {1: (1, 1), 2: (4, 1), 3: (1, None), 4: (4, 1)}
    acts: list[tuple[int, Event]] = [
        (0, comes(id, whole_nodes(size), walltime)) for id, (size, walltime) in sizes.items()
    ]
    story = script(acts, {1: 0, 2: 1, 3: 1, 4: 1})
    world = lived(World(partial(bare_nodes, 4), one_queue(BackfillPolicy.CONSERVATIVE), story))
    assert [world.job(id).start for id in world.ids] == [0, 0, 1, 2]


def test_room_that_is_freed_goes_to_the_higher_class_that_came_at_the_same_instant() -> None:
    """A promised job of a lower class once moved up before it was looked at."""
    acts: list[tuple[int, Event]] = [
        (0, comes(1, whole_nodes(1), 10)),
        (0, comes(2, whole_nodes(1), 3)),
        (5, comes(3, whole_nodes(1), 3, job_class=1)),
    ]
    story = script(acts, {1: 5, 2: 3, 3: 3})
    world = lived(World(partial(bare_nodes, 1), one_queue(BackfillPolicy.EASY), story))
    assert [world.job(id).start for id in world.ids] == [0, 8, 5]


def test_who_is_promised_this_very_moment_starts_in_this_cycle() -> None:
    def gang(*shapes: tuple[int, int]) -> Gang:
        return Gang(tuple(Shape.of(count, {"cpu": cpu, "memory": 1}) for count, cpu in shapes))

    asks: dict[int, tuple[Gang, int | None]] = {
        1: (gang((1, 1)), 1),
        2: (gang((1, 1)), 1),
        3: (gang((1, 1)), 1),
        4: (gang((1, 1)), None),
        5: (gang((2, 1), (2, 4)), 2),
        6: (gang((1, 1), (2, 1)), 1),
        7: (gang((1, 1)), None),
    }
    window = Maintain("w", 1, 3, Hostlist(frozenset({"n0"})))
    acts: list[tuple[int, Event]] = [(0, window)]
    acts += [(0, comes(id, request, walltime)) for id, (request, walltime) in asks.items()]
    runtimes = dict.fromkeys(asks, 1) | {5: 2}
    world = lived(World(pools, one_queue(BackfillPolicy.HYBRID), script(acts, runtimes)))
    assert world.job(7).start == 0


def test_the_capacity_of_preempted_jobs_is_held_though_they_are_slow_to_leave() -> None:
    """Others once slipped in, were made to go in their turn, and so on in a circle."""

    def gang(cpu: int, licences: int) -> Gang:
        return Gang((Shape.of(1, {"cpu": cpu, "memory": 1}),), (("licence", licences),))

    default = QueueConfig("default", grace=1)
    urgent = QueueConfig("urgent", BackfillPolicy.CONSERVATIVE, grace=1, priority=1, preempts=True)
    acts = (
        Act(0, comes(1, gang(4, 2), 10, preemptible=True)),
        Act(0, comes(2, gang(4, 2), 10, preemptible=True)),
        Act(1, comes(3, gang(2, 3), 8, queue="urgent", job_class=1)),
    )
    story = Script(acts, {1: Fate(10, leaves=2), 2: Fate(10, leaves=2), 3: Fate(8)})
    world = lived(World(pools, SchedulerConfig(queues=(default, urgent)), story))
    assert [world.job(id).start for id in world.ids] == [11, 21, 3]
