"""`evaluate.fit` is `Count.fit` of every element."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.jobspec.model import UINT_MAX, Count
from fluxnetes.match.engine.states import fit
from tests.property.profile import examples

small = st.integers(0, 40)
counts = st.one_of(
    small.map(lambda n: Count(n, n)),
    small.map(lambda n: Count(n, UINT_MAX)),
    st.builds(Count, small, small, st.just("+"), st.integers(1, 9)),
    st.builds(Count, small, small, st.just("*"), st.integers(1, 5)),
    st.builds(Count, small, small, st.just("^"), st.integers(1, 5)),
)
amounts = st.lists(
    st.one_of(st.integers(0, 60), st.sampled_from([UINT_MAX, UINT_MAX + 1, 2**53])), max_size=12
)


@examples(500)
@given(counts, amounts)
def test_fitting_a_column_is_fitting_every_element(count: Count, available: list[int]) -> None:
    found = fit(count, np.array(available, np.int64))
    assert found.tolist() == [count.fit(amount) for amount in available]
