"""Whatever happens: no node is overcommitted, no group is half placed, and all run in the end."""

from __future__ import annotations

from hypothesis import given

from tests.property.controller.endings import (
    check_that_all_came_to_an_end,
    check_that_services_run,
)
from tests.property.controller.happenings import Happening
from tests.property.controller.scene import NODES, Scene, a_node
from tests.property.controller.scripts import (
    COMING,
    ENDS,
    FALLS,
    GAPS,
    GROUPS,
    NODES_AND_OTHERS,
    SERVICES,
    TROUBLE,
    USERS,
    draining,
    shrinking,
    stories,
)
from tests.property.profile import examples
from tests.unit.controller.play import Play


def live_through(story: list[Happening]) -> None:
    with Play(*map(a_node, NODES)) as play:
        scene = Scene(play)
        for happening in story:
            happening(scene)
        scene.clear_up()
        check_that_services_run(scene)
        check_that_all_came_to_an_end(scene)
        scene.check_ends()
        scene.delete_everything()
        scene.wait(20)
        scene.check_that_nothing_is_left()
        scene.check_ends()


@given(stories(COMING | ENDS))
@examples(25)
def test_what_comes_runs_and_ends(story: list[Happening]) -> None:
    live_through(story)


@given(stories(USERS | ENDS))
@examples(25)
def test_so_it_is_when_users_change_their_minds(story: list[Happening]) -> None:
    live_through(story)


@given(stories(COMING | ENDS | NODES_AND_OTHERS | NODES_AND_OTHERS))
@examples(25)
def test_so_it_is_when_nodes_come_and_go_and_others_take_capacity(story: list[Happening]) -> None:
    live_through(story)


@given(stories(GROUPS))
@examples(50)
def test_so_it_is_with_objects_that_name_pod_groups(story: list[Happening]) -> None:
    live_through(story)


@given(stories(GROUPS | TROUBLE | FALLS))
@examples(50)
def test_so_it_is_with_pod_groups_in_all_kinds_of_trouble(story: list[Happening]) -> None:
    live_through(story)


@given(stories(GROUPS, GAPS))
@examples(25)
def test_so_it_is_with_pod_groups_that_no_controller_sees_change(story: list[Happening]) -> None:
    live_through(story)


@given(stories(SERVICES))
@examples(50)
def test_so_it_is_with_services(story: list[Happening]) -> None:
    live_through(story)


@given(stories(SERVICES | NODES_AND_OTHERS | TROUBLE | FALLS, coming=SERVICES))
@examples(50)
def test_so_it_is_with_services_in_all_kinds_of_trouble(story: list[Happening]) -> None:
    live_through(story)


@given(draining())
@examples(25)
def test_so_it_is_when_nodes_are_drained_under_gangs(story: list[Happening]) -> None:
    live_through(story)


@given(shrinking())
@examples(25)
def test_so_it_is_when_nodes_shrink_below_what_their_pods_hold(story: list[Happening]) -> None:
    live_through(story)


@given(stories(COMING | ENDS | TROUBLE))
@examples(25)
def test_so_it_is_when_actions_fail_and_news_are_late(story: list[Happening]) -> None:
    live_through(story)


@given(stories(COMING | ENDS | FALLS))
@examples(25)
def test_so_it_is_when_the_controller_is_killed(story: list[Happening]) -> None:
    live_through(story)


@given(stories(USERS | USERS | ENDS | NODES_AND_OTHERS | TROUBLE | FALLS))
@examples(25)
def test_so_it_is_when_all_of_this_happens(story: list[Happening]) -> None:
    live_through(story)


@given(stories(USERS | ENDS | NODES_AND_OTHERS, GAPS))
@examples(50)
def test_so_it_is_when_no_controller_sees_what_happens(story: list[Happening]) -> None:
    live_through(story)
