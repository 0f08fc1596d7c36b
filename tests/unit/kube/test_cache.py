"""What we know equals what the server has, by whatever way we learned of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.kube.cache import ChangeKind, ObjectCache, ObjectChange
from fluxnetes.kube.client import Listing
from fluxnetes.kube.decoding import WatchEvent, decoding
from fluxnetes.kube.objects.base import Key
from fluxnetes.kube.objects.pods import PODS, Pod
from tests.unit.kube.objects import a_pod, as_line, as_pod, bookmark

ADDED, CHANGED, DELETED = ChangeKind.ADDED, ChangeKind.CHANGED, ChangeKind.DELETED


def summary(changes: list[ObjectChange[Pod]]) -> list[tuple[ChangeKind, str, str]]:
    return [(c.kind, c.object.metadata.name, c.object.metadata.resource_version) for c in changes]


def event(kind: str, name: str, version: int, uid: str = "") -> WatchEvent[Pod]:
    return decoding(PODS).event(as_line(kind, a_pod(name, version, uid=uid)))


def listing(*pods: Pod, version: int) -> Listing[Pod]:
    return Listing(list(pods), str(version))


def test_a_list_adds_all_and_a_second_one_tells_only_the_differences() -> None:
    cache: ObjectCache[Pod] = ObjectCache()
    a, b = as_pod(a_pod("a", 1)), as_pod(a_pod("b", 2))
    assert summary(cache.replace(listing(a, b, version=2))) == [
        (ADDED, "a", "1"),
        (ADDED, "b", "2"),
    ]
    c, later = as_pod(a_pod("c", 4)), as_pod(a_pod("b", 3))
    changes = cache.replace(listing(later, c, version=5))
    assert summary(changes) == [(DELETED, "a", "1"), (CHANGED, "b", "3"), (ADDED, "c", "4")]
    assert changes[1].before == b
    assert cache.version == "5"


def test_an_object_made_again_under_its_old_name_is_deleted_and_added() -> None:
    cache: ObjectCache[Pod] = ObjectCache()
    cache.replace(listing(as_pod(a_pod("a", 1)), version=1))
    again = as_pod(a_pod("a", 9, uid="another"))
    assert summary(cache.replace(listing(again, version=9))) == [
        (DELETED, "a", "1"),
        (ADDED, "a", "9"),
    ]


def test_what_we_know_already_is_no_change() -> None:
    cache: ObjectCache[Pod] = ObjectCache()
    cache.take(event("ADDED", "a", 3))
    assert cache.take(event("ADDED", "a", 3)) == []
    assert cache.replace(listing(as_pod(a_pod("a", 3)), version=4)) == []


def test_a_deletion_has_the_last_state_and_is_reported_once() -> None:
    cache: ObjectCache[Pod] = ObjectCache()
    cache.take(event("ADDED", "a", 3))
    [gone] = cache.take(event("DELETED", "a", 4))
    assert (gone.kind, gone.object.metadata.resource_version) == (DELETED, "4")
    assert gone.before is not None and gone.before.metadata.resource_version == "3"
    assert cache.take(event("DELETED", "a", 4)) == []


def test_a_bookmark_moves_the_version_and_nothing_else() -> None:
    cache: ObjectCache[Pod] = ObjectCache()
    cache.take(event("ADDED", "a", 3))
    assert cache.take(decoding(PODS).event(bookmark(30))) == []
    assert (cache.version, len(cache.objects)) == ("30", 1)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "delete", "again", "missed", "list"]),
        st.sampled_from("abc"),
    ),
    max_size=30,
)


class Server:
    """A history of pods, fed step by step to a cache and to a reader that follows its changes."""

    def __init__(self) -> None:
        self.version = 0
        self.pods: dict[Key, Pod] = {}
        self.cache: ObjectCache[Pod] = ObjectCache()
        self.followed: dict[Key, Pod] = {}
        self.misses = False
        """Whether the cache gets no event until the next list."""

    def step(self, what: str, name: str) -> None:
        if what == "list":
            self.misses = False
            self.follow(self.cache.replace(Listing(list(self.pods.values()), str(self.version))))
        elif what == "missed":
            self.misses = True
        else:
            self.change(what, name)

    def change(self, what: str, name: str) -> None:
        self.version += 1
        key = ("default", name)
        if what in ("delete", "again") and key in self.pods:
            gone = self.pods.pop(key)
            self.tell("DELETED", name, gone.metadata.uid)
        if what in ("put", "again"):
            old = self.pods.get(key)
            uid = old.metadata.uid if old else f"{name}-{self.version}"
            self.pods[key] = as_pod(a_pod(name, self.version, uid=uid))
            self.tell("MODIFIED" if old else "ADDED", name, uid)

    def tell(self, kind: str, name: str, uid: str) -> None:
        if not self.misses:
            self.follow(self.cache.take(event(kind, name, self.version, uid)))

    def follow(self, changes: list[ObjectChange[Pod]]) -> None:
        """Follow the changes as a reader that has no other source."""
        for change in changes:
            key = change.object.key
            if change.kind is ADDED:
                assert key not in self.followed
            else:
                assert self.followed[key] == change.before
            if change.kind is DELETED:
                del self.followed[key]
            else:
                self.followed[key] = change.object


@given(STEPS)
def test_after_a_list_nothing_that_was_missed_matters(steps: list[tuple[str, str]]) -> None:
    server = Server()
    for what, name in steps:
        server.step(what, name)
        if not server.misses:
            assert server.cache.objects == server.pods
        assert server.followed == server.cache.objects
    server.step("list", "")
    assert server.followed == server.cache.objects == server.pods
