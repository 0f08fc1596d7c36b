"""When nothing more happens, everything that can run has run."""

from __future__ import annotations

from fluxnetes.cluster.demand import least_size
from fluxnetes.cluster.groups import Group, is_live
from tests.property.controller.scene import Scene

PATIENCE = 120


def check_that_all_came_to_an_end(scene: Scene) -> None:
    """Wait until all have run; whoever does not has a reason."""
    for _ in range(PATIENCE // 5):
        scene.wait(5)
        if not _waiting(scene):
            return
    for group in _waiting(scene):
        raise AssertionError(f"{group.key} never ran: {scene.play.desk.parts} {group}")


def _waiting(scene: Scene) -> list[Group]:
    """Groups that should have come to an end, and have not."""
    groups = scene.play.desk.world.groups.values()
    return [group for group in groups if _is_alive(group) and not _may_wait(group)]


def _is_alive(group: Group) -> bool:
    jobs = [job for job in group.workloads.values() if job.end is None]  # type: ignore[attr-defined]
    return bool(group.parts or jobs or any(is_live(m.pod) for m in group.pods.values()))


def _may_wait(group: Group) -> bool:
    if group.parts:
        return False
    if group.closed is not None:
        return True
    if not group.workloads:
        live = [member for member in group.pods.values() if is_live(member.pod)]
        return len(live) < least_size(group)
    return False
