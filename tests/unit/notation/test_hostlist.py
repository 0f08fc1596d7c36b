"""Hostlists: which hosts a text names, and the text for a list of hosts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.notation.hostlist import HostlistError, decode_hostlist, encode_hostlist


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("", []),
        ("login", ["login"]),
        ("node[0-2,7]", ["node0", "node1", "node2", "node7"]),
        ("node[2,0-1]", ["node2", "node0", "node1"]),
        ("n[08-10]", ["n08", "n09", "n10"]),
        ("n[9-10]", ["n9", "n10"]),
        ("a,b1, c[1-2]-ib", ["a", "b1", "c1-ib", "c2-ib"]),
        ("foo[01-02]-x[1-2]", ["foo01-x1", "foo01-x2", "foo02-x1", "foo02-x2"]),
        ("[1-2]", ["1", "2"]),
        ("a,a", ["a", "a"]),
    ],
)
def test_a_text_names_its_hosts_in_order(text: str, hosts: list[str]) -> None:
    assert decode_hostlist(text) == hosts


@pytest.mark.parametrize(
    ("hosts", "text"),
    [
        ([], ""),
        (["node0"], "node0"),
        (["node0", "node1"], "node[0-1]"),
        (["node0", "node1", "node3"], "node[0-1,3]"),
        (["node3", "node0"], "node[3,0]"),
        (["n9", "n10", "n11"], "n[9-11]"),
        (["n09", "n10"], "n[09-10]"),
        (["n9", "n010"], "n[9,010]"),
        (["a", "n1", "b"], "a,n1,b"),
        (["login", "login"], "login,login"),
        (["x1", "y2"], "x1,y2"),
    ],
)
def test_runs_of_numbered_hosts_are_written_in_brackets(hosts: list[str], text: str) -> None:
    assert encode_hostlist(hosts) == text


_HOSTS = st.lists(st.from_regex(r"[a-c]{0,2}-?[0-2]{0,3}", fullmatch=True).filter(bool))


@given(_HOSTS)
def test_what_is_encoded_decodes_to_the_same_hosts_in_the_same_order(hosts: list[str]) -> None:
    assert decode_hostlist(encode_hostlist(hosts)) == hosts


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a[1", "is not closed"),
        ("a1]", "a ']' too many"),
        ("a[[1]]", r"a '\[' too many"),
        ("a[]", "found ''"),
        ("a[1-]", "found '1-'"),
        ("a[x]", "found 'x'"),
        ("a[3-1]", "3-1 ends before it starts"),
        ("a[0-99999999999]", "names more than"),
        ("a[0-4000]b[0-4000]", "names more than"),
        ("a[0-4000]" * 10_000, "names more than"),
        ("a" * 255 + "[0-1]", "more than 255 characters"),
    ],
)
def test_a_text_that_is_no_hostlist_is_refused_with_the_part_at_fault(text: str, why: str) -> None:
    with pytest.raises(HostlistError, match=why):
        decode_hostlist(text)


@given(st.text(alphabet="ab[]-,019 ", max_size=24))
def test_no_text_fails_in_another_way(text: str) -> None:
    try:
        decode_hostlist(text)
    except HostlistError as error:
        assert "hostlist" in str(error)
