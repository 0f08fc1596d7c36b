"""Conditions of pods, on a real API server: why pods wait, and which of them ask for nodes."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any

from fluxnetes.controller.reporting.conditions import ConditionLimits, ConditionWriter, PodKeys
from fluxnetes.controller.reporting.throttle import WriteThrottle
from fluxnetes.kube.auth.access import ApiAccess
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.objects.base import Condition, Key
from fluxnetes.kube.objects.pods import PODS, Pod
from tests.integration.controller.counting import CountingClient, beside, until
from tests.integration.kube.test_client import a_pod

BRISK = ConditionLimits(after=0.1, again=0.5, a_second=1000.0, growth_a_second=1000.0, of_a_group=3)
GATED = {"schedulingGates": [{"name": "fluxqueue"}]}


class Known(dict[Key, Pod]):
    """Pods as an informer would show them, some time ago."""

    async def make(self, client: KubeClient, namespace: str, *names: str, **spec: Any) -> list[Key]:
        made = [await client.create(PODS, a_pod(name, **spec), namespace) for name in names]
        self.update({pod.key: pod for pod in made})
        return [pod.key for pod in made]

    async def look(self, client: KubeClient) -> None:
        for key in self:
            self[key] = await client.get(PODS, key[1], key[0])


def just(*keys: Key) -> PodKeys:
    """These pods, whenever they are asked for."""
    return lambda: keys


async def reasons(client: KubeClient, keys: list[Key]) -> list[str]:
    """Why each pod waits, as it says itself; empty: it says nothing."""
    said = [await scheduled(client, key) for key in keys]
    return ["" if each is None else each.reason for each in said]


async def scheduled(client: KubeClient, key: Key) -> Condition | None:
    conditions = (await client.get(PODS, key[1], key[0])).status.conditions
    return next((c for c in conditions if c.type == "PodScheduled"), None)


async def test_a_pod_that_waits_says_why(access: ApiAccess, namespace: str) -> None:
    async with KubeClient(access) as client:
        pods = Known()
        [key] = await pods.make(client, namespace, "a")
        conditions = ConditionWriter(client, WriteThrottle(), pods.get, BRISK)
        async with beside(conditions.run()):
            conditions.want("g", just(key), "Held", "busy until noon")
            await until(lambda: conditions.writes == 1)
            await asyncio.sleep(0.1)
        said = await scheduled(client, key)
    assert said is not None
    assert (said.status, said.reason, said.message) == ("False", "Held", "busy until noon")
    assert said.last_transition_time is not None


async def test_a_condition_never_comes_after_the_bind(access: ApiAccess, namespace: str) -> None:
    """The informer lags: it still shows a pod that waits."""
    async with CountingClient(access) as client:
        pods = Known()
        [key] = await pods.make(client, namespace, "a")
        await client.bind("a", namespace, uid=pods[key].metadata.uid, node="node-0")
        conditions = ConditionWriter(client, WriteThrottle(), pods.get, BRISK)
        async with beside(conditions.run()):
            conditions.want("g", just(key), "Held", "busy")
            await until(lambda: "PATCH status" in client.writes("pods", namespace))
            await asyncio.sleep(0.05)
            await pods.look(client)
            await asyncio.sleep(0.3)
        said = await scheduled(client, key)
        assert said is not None and said.status == "True"
        assert client.writes("pods", namespace).count("PATCH status") == 1


async def test_pods_that_wait_no_longer_get_no_condition(access: ApiAccess, namespace: str) -> None:
    async with KubeClient(access) as client:
        pods = Known()
        keys = await pods.make(client, namespace, "a", "b")
        conditions = ConditionWriter(client, WriteThrottle(), pods.get, BRISK)
        async with beside(conditions.run()):
            conditions.want("soon", just(*keys[:1]), "Held", "busy")
            conditions.want("later", just(*keys[1:]), "Held", "busy")
            conditions.forget("soon")
            await until(lambda: conditions.writes == 1)
            await asyncio.sleep(0.2)
        assert await scheduled(client, keys[0]) is None


async def test_the_same_words_cost_no_write_even_after_a_restart(
    access: ApiAccess, namespace: str
) -> None:
    async with KubeClient(access) as client:
        pods = Known()
        keys = await pods.make(client, namespace, "a", "b")
        for writes in (2, 0):
            conditions = ConditionWriter(client, WriteThrottle(), pods.get, BRISK)
            async with beside(conditions.run()):
                for _ in range(3):
                    conditions.want("g", just(*keys), "Held", "busy")
                    await asyncio.sleep(0.15)
            assert conditions.writes == writes
            await pods.look(client)


async def test_only_the_first_pods_of_a_group_say_it(access: ApiAccess, namespace: str) -> None:
    async with KubeClient(access) as client:
        pods = Known()
        keys = await pods.make(client, namespace, *"abcde")
        conditions = ConditionWriter(client, WriteThrottle(), pods.get, BRISK)
        async with beside(conditions.run()):
            conditions.want("g", just(*keys), "Held", "busy")
            await asyncio.sleep(0.4)
        said = [await scheduled(client, key) for key in keys]
    assert [each is not None for each in said] == [True, True, True, False, False]


async def test_new_words_wait_their_time(access: ApiAccess, namespace: str) -> None:
    async with KubeClient(access) as client:
        pods = Known()
        [key] = await pods.make(client, namespace, "a")
        slow = replace(BRISK, again=60.0)
        conditions = ConditionWriter(client, WriteThrottle(), pods.get, slow)
        async with beside(conditions.run()):
            conditions.want("g", just(key), "Held", "busy")
            await until(lambda: conditions.writes == 1)
            await asyncio.sleep(0.05)
            await pods.look(client)
            conditions.want("g", just(key), "Held", "still busy")
            await asyncio.sleep(0.3)
        assert conditions.writes == 1


async def test_words_that_change_at_once_are_no_reason_to_say_them_at_once(
    access: ApiAccess, namespace: str
) -> None:
    """A gang whose pods arrive waits for one pod less each time."""
    async with KubeClient(access) as client:
        pods = Known()
        keys = await pods.make(client, namespace, "a", "b")
        conditions = ConditionWriter(client, WriteThrottle(), pods.get, replace(BRISK, after=60.0))
        async with beside(conditions.run()):
            conditions.want("g", just(*keys[:1]), "Gathering", "2 pods are missing")
            conditions.want("g", just(*keys), "Gathering", "1 pod is missing")
            await asyncio.sleep(0.3)
        assert conditions.writes == 0


# --- what autoscalers act on ---------------------------------------------------------------------


async def test_all_pods_of_a_group_ask_for_nodes_and_all_cease_to(
    access: ApiAccess, namespace: str
) -> None:
    async with KubeClient(access) as client:
        pods = Known()
        keys = await pods.make(client, namespace, *"abcdefgh")
        conditions = ConditionWriter(client, WriteThrottle(), pods.get, BRISK)
        async with beside(conditions.run()):
            conditions.want("g", just(*keys), "Unschedulable", "busy")
            await until(lambda: conditions.writes == 8)
            await pods.look(client)
            assert await reasons(client, keys) == ["Unschedulable"] * 8
            conditions.want("g", just(*keys), "Held", "held by its user")
            await until(lambda: conditions.writes == 16)
            assert await reasons(client, keys) == ["Held"] * 8


async def test_another_message_is_told_by_the_first_pods_alone(
    access: ApiAccess, namespace: str
) -> None:
    async with KubeClient(access) as client:
        pods = Known()
        keys = await pods.make(client, namespace, *"abcdefgh")
        conditions = ConditionWriter(client, WriteThrottle(), pods.get, BRISK)
        async with beside(conditions.run()):
            conditions.want("g", just(*keys), "Unschedulable", "position 2")
            await until(lambda: conditions.writes == 8)
            await pods.look(client)
            conditions.want("g", just(*keys), "Unschedulable", "position 1")
            await until(lambda: conditions.writes == 11)
            await pods.look(client)
            await asyncio.sleep(0.3)
        assert conditions.writes == 11
        told = [await scheduled(client, key) for key in keys]
        assert [each.message[-1] for each in told if each is not None] == list("11122222")


async def test_a_gated_pod_asks_for_nodes_and_is_otherwise_left_to_the_server(
    access: ApiAccess, namespace: str
) -> None:
    async with KubeClient(access) as client:
        pods = Known()
        keys = await pods.make(client, namespace, "a", "b", **GATED)
        conditions = ConditionWriter(client, WriteThrottle(), pods.get, BRISK)
        async with beside(conditions.run()):
            conditions.want("g", just(*keys), "Priority", "its turn has not come")
            await asyncio.sleep(0.3)
            assert await reasons(client, keys) == ["SchedulingGated"] * 2
            conditions.want("g", just(*keys), "Unschedulable", "busy")
            await until(lambda: conditions.writes == 2)
            await pods.look(client)
            assert await reasons(client, keys) == ["Unschedulable"] * 2
            conditions.want("g", just(*keys), "Limit", "two at a time")
            await until(lambda: conditions.writes == 4)
            assert await reasons(client, keys) == ["Limit"] * 2


async def test_pods_that_an_earlier_controller_left_asking_cease_to(
    access: ApiAccess, namespace: str
) -> None:
    """Versions before this one said of every pod that waited that it is Unschedulable."""
    async with KubeClient(access) as client:
        pods = Known()
        keys = await pods.make(client, namespace, *"abcdefgh")
        for wanted, writes in (("Unschedulable", 8), ("Held", 8)):
            conditions = ConditionWriter(client, WriteThrottle(), pods.get, BRISK)
            async with beside(conditions.run()):
                conditions.want("g", just(*keys), wanted, "told")
                await until(lambda: conditions.writes == writes)  # noqa: B023
                await pods.look(client)
        assert await reasons(client, keys) == ["Held"] * 8


async def test_a_pod_that_comes_late_asks_like_the_others(
    access: ApiAccess, namespace: str
) -> None:
    async with KubeClient(access) as client:
        pods = Known()
        keys = await pods.make(client, namespace, *"abcde")
        conditions = ConditionWriter(client, WriteThrottle(), pods.get, BRISK)
        async with beside(conditions.run()):
            conditions.want("g", just(*keys), "Unschedulable", "busy")
            await until(lambda: conditions.writes == 5)
            await pods.look(client)
            keys += await pods.make(client, namespace, "f")
            conditions.want("g", just(*keys), "Unschedulable", "busy")
            await until(lambda: conditions.writes == 6)
        assert await reasons(client, keys) == ["Unschedulable"] * 6


async def test_a_large_group_keeps_no_other_from_its_turn(
    access: ApiAccess, namespace: str
) -> None:
    async with KubeClient(access) as client:
        pods = Known()
        many = await pods.make(client, namespace, *(f"g-{n}" for n in range(60)))
        [one] = await pods.make(client, namespace, "one")
        conditions = ConditionWriter(client, WriteThrottle(), pods.get, BRISK)
        async with beside(conditions.run()):
            conditions.want("large", just(*many), "Unschedulable", "busy")
            conditions.want("small", just(one), "Unschedulable", "busy")
            await until(lambda: conditions.writes == 61)
            await pods.look(client)
        written = sorted(pods.values(), key=lambda pod: int(pod.metadata.resource_version))
        assert [pod.metadata.name for pod in written].index("one") <= 6
        assert await reasons(client, [*many, one]) == ["Unschedulable"] * 61


async def test_asking_is_throttled(access: ApiAccess, namespace: str) -> None:
    async with KubeClient(access) as client:
        pods = Known()
        keys = await pods.make(client, namespace, *(f"g-{n}" for n in range(20)))
        slow = replace(BRISK, growth_a_second=40.0)
        conditions = ConditionWriter(client, WriteThrottle(), pods.get, slow)
        began = time.monotonic()
        async with beside(conditions.run()):
            conditions.want("g", just(*keys), "Unschedulable", "busy")
            await until(lambda: conditions.writes == 20)
        assert time.monotonic() - began >= 19 / 40


async def test_a_group_that_changes_its_mind_in_the_middle_says_the_last_thing(
    access: ApiAccess, namespace: str
) -> None:
    async with KubeClient(access) as client:
        pods = Known()
        keys = await pods.make(client, namespace, *(f"g-{n}" for n in range(30)))
        conditions = ConditionWriter(
            client, WriteThrottle(), pods.get, replace(BRISK, growth_a_second=60.0)
        )
        async with beside(conditions.run()):
            conditions.want("g", just(*keys), "Unschedulable", "busy")
            await until(lambda: conditions.writes >= 10)
            conditions.want("g", just(*keys), "Held", "held by its user")

            async def is_withdrawn() -> bool:
                await pods.look(client)
                said = await reasons(client, keys)
                return said[:3] == ["Held"] * 3 and "Unschedulable" not in said

            await until(is_withdrawn)
