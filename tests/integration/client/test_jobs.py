"""Every call about jobs, by clients that wait and by clients that await."""

from __future__ import annotations

import json

import pytest

from fluxnetes.client import (
    Busy,
    Client,
    Gang,
    Invalid,
    Job,
    NodeShare,
    NoQueue,
    Shape,
    State,
    UnknownJob,
    Unsatisfiable,
)
from tests.integration.client.jobs import cores, free_cores, nodes, pools


def test_a_match_says_what_the_job_has_and_where(client: Client) -> None:
    job = client.match(cores(3), name="first")
    share = NodeShare("node0", 1, {"core": 3})
    assert job == Job(1, State.RUNNING, name="first", nodes=(share,))
    assert free_cores(client) == {"node0": 1, "node1": 4}


def test_jobs_are_numbered_one_after_the_other(client: Client) -> None:
    assert [client.match(cores(1)).id for _ in range(3)] == [1, 2, 3]


def test_a_gang_is_placed_whole(client: Client) -> None:
    client.load(pools({"a": {"cpu": 4000}, "b": {"cpu": 4000}}))
    job = client.match(Gang((Shape(2, {"cpu": 2000}), Shape(1, {"cpu": 3500}))))
    assert {(each.tasks, each.amounts["cpu"]) for each in job.nodes} == {(1, 3500), (2, 4000)}
    assert client.job(job.id).state is State.RUNNING
    client.match(Gang.of(1, cpu=500))
    with pytest.raises(Busy):
        client.match(Gang.of(1, cpu=1))


def test_a_gang_on_numbered_cores_is_refused_in_favour_of_a_jobspec(client: Client) -> None:
    with pytest.raises(Invalid, match="jobspec"):
        client.match(Gang.of(1, core=1))


def test_a_match_is_written_in_the_format_that_was_asked_for(client: Client) -> None:
    jgf = json.loads(client.match(cores(1), format="jgf").allocation)
    assert "core" in {node["metadata"]["type"] for node in jgf["graph"]["nodes"]}
    rv1 = json.loads(client.match(cores(1), format="rv1_nosched").allocation)
    assert rv1["execution"]["R_lite"] == [{"rank": "0", "children": {"core": "1"}}]
    assert client.match(cores(1)).allocation == ""


def test_what_does_not_fit_now_can_be_reserved(client: Client) -> None:
    client.match(nodes(2), walltime=100)
    later = client.match(cores(2), reserve=True)
    assert (later.state, later.at) == (State.RESERVED, 100)
    [node] = client.nodes("node0")
    assert [(share.job, share.reserved) for share in node.shares] == [(1, False), (2, True)]
    assert node.shares[1].amounts == {"core": 2}
    assert [(pool.free, pool.reserved) for pool in node.pools] == [(0, 2)]


def test_a_node_that_is_had_whole_has_nothing_free(client: Client) -> None:
    job = client.match(nodes(1))
    assert job.nodes == (NodeShare("node0", 1, {"node": 1}),)
    assert free_cores(client) == {"node0": 0, "node1": 4}
    client.match(nodes(2), reserve=True)
    client.match(cores(1), reserve=True)
    [[pool], _] = [node.pools for node in client.nodes()]
    assert (pool.free, pool.reserved) == (0, 4)


def test_a_match_holds_for_the_walltime_that_is_said_beside_it(client: Client) -> None:
    client.match(nodes(1, duration=3600), walltime=7)
    client.match(nodes(1, duration=3600), walltime=5)
    assert client.match(cores(1), reserve=True).at == 5
    assert client.match(nodes(2), reserve=True, now=6).at == 3605


def test_an_estimate_says_when_and_where_and_changes_nothing(client: Client) -> None:
    client.match(nodes(1), walltime=50)
    now = client.estimate(cores(4))
    assert (now.known, now.start, [each.node for each in now.nodes]) == (True, 0, ["node1"])
    later = client.estimate(nodes(2), now=10)
    assert (later.known, later.start) == (True, 50)
    never = client.estimate(nodes(3))
    assert (never.known, never.start, never.nodes) == (False, None, ())
    assert never.reason == "needs 3 slot; only 2 in this graph could serve"
    assert free_cores(client) == {"node0": 0, "node1": 4}
    assert client.match(cores(1)).id == 2


def test_an_estimate_looks_at_the_walltime(client: Client) -> None:
    client.load(pools({"a": {"cpu": 4}, "b": {"cpu": 4}}))
    client.match(Gang.of(1, cpu=4), walltime=100)
    client.match(Gang.of(2, cpu=4), walltime=60, reserve=True)
    assert client.estimate(Gang.of(1, cpu=1), walltime=100).start == 0
    assert client.estimate(Gang.of(1, cpu=1), walltime=101).start == 160
    assert client.estimate(Gang.of(1, cpu=1)).start == 160


@pytest.mark.parametrize(("wanted", "written"), [("jgf", "jgf"), ("rv1_nosched", "rv1")])
def test_an_allocation_that_was_made_elsewhere_is_taken_note_of(
    client: Client, wanted: str, written: str
) -> None:
    made = client.match(cores(3), format=wanted)
    client.cancel(made.id)
    job = client.update(7, made.allocation, at=0, duration=60, format=written)
    assert (job.id, [(each.node, each.amounts) for each in job.nodes]) == (
        7,
        [("node0", {"core": 3})],
    )
    assert free_cores(client) == {"node0": 1, "node1": 4}
    assert client.match(cores(2), reserve=True).nodes[0].node == "node1"


def test_a_job_is_looked_at_while_it_lives_and_after(client: Client) -> None:
    job = client.match(cores(1), name="seen")
    seen = client.job(job.id)
    assert (seen.name, seen.state, seen.nodes) == ("seen", State.RUNNING, job.nodes)
    assert seen.started is not None
    client.cancel(job.id, reason="enough")
    ended = client.job(job.id)
    assert (ended.state, ended.reason, ended.nodes) == (State.CANCELLED, "enough", ())
    assert ended.state.has_ended
    assert client.explain(job.id).reason == "enough"


def test_a_job_that_is_called_off_gives_back_what_it_had(client: Client) -> None:
    job = client.match(nodes(2))
    client.cancel(job.id)
    assert free_cores(client) == {"node0": 4, "node1": 4}
    client.cancel(job.id)
    with pytest.raises(UnknownJob):
        client.cancel(job.id, missing_ok=False)


def test_a_job_that_is_over_gives_back_what_it_had(client: Client) -> None:
    client.finish(client.match(nodes(1)).id)
    client.finish(client.match(nodes(1)).id, failed=True, reason="it crashed")
    assert free_cores(client) == {"node0": 4, "node1": 4}
    assert client.job(2).reason == "it crashed"


def test_an_allocation_of_a_matcher_lasts_until_it_is_cancelled(client: Client) -> None:
    assert client.renew(client.match(cores(1)).id) is None
    with pytest.raises(UnknownJob):
        client.renew(77)


def test_a_server_that_only_matches_says_that_it_has_no_queue(client: Client) -> None:
    job = client.match(cores(1)).id
    with pytest.raises(NoQueue, match="no queue"):
        client.submit(cores(1), after=[job])
    for call in (client.start, client.hold, client.release):
        with pytest.raises(NoQueue, match="no queue"):
            call(job)


def test_busy_and_impossible_are_two_answers(client: Client) -> None:
    client.match(nodes(2))
    with pytest.raises(Busy):
        client.match(cores(1))
    with pytest.raises(Unsatisfiable):
        client.match(cores(5))
