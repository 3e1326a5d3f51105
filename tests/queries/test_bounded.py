import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privmine.errors import InputError
from privmine.privacy import Sensitivity
from privmine.queries import BoundedSupports, fair_weights
from privmine.store.transactions import Transactions

ITEMS = 5
itemsets = st.lists(st.integers(0, ITEMS - 1), max_size=4)


def test_the_norms_are_those_of_the_weights() -> None:
    """A transaction with T itemsets moves T values by weights[T], and the worst T is declared."""
    query = BoundedSupports([(0,), (1,), (2,), (3,)], [7, 5, 4, 2, 1, 100])
    assert query.sensitivity == Sensitivity(l1=8, l2_squared=32, linf=5, monotone=True)


def test_weights_beyond_the_number_of_itemsets_cost_nothing() -> None:
    """No transaction contains more itemsets than there are."""
    assert BoundedSupports([(0,)], [0, 3, 50, 50]).sensitivity.l1 == 3


def test_negative_weights_are_not_monotone() -> None:
    """A transaction could lower one value and raise another."""
    assert not BoundedSupports([(0,), (1,)], [0, 3, -1]).sensitivity.monotone


def test_weights_that_could_wrap_around_are_refused() -> None:
    """The least 64-bit integer has no absolute value of 64 bits, and is refused as well."""
    for weight in (2**31 + 1, -(2**31) - 1, -(2**63)):
        with pytest.raises(InputError, match="must not exceed"):
            BoundedSupports([(0,)], [0, weight])


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.lists(st.integers(0, ITEMS - 1)), max_size=9),
    st.lists(itemsets, min_size=1, max_size=7),
    st.integers(1, 4),
    st.integers(1, 1000),
)
def test_a_transaction_adds_at_most_the_bound(baskets, wanted, bound, scale) -> None:
    """Fair weights keep what one transaction adds within bound × scale, and count it in full up to the bound."""
    query = BoundedSupports(wanted, fair_weights(bound, scale, len(wanted)))
    assert query.sensitivity.l1 <= bound * scale
    for basket in baskets:
        store = Transactions.from_lists([basket], items=range(ITEMS)).store
        contained = sum(set(members) <= set(basket) for members in wanted)
        added = query.evaluate(store)
        assert added.sum() <= bound * scale
        if 0 < contained <= bound:
            assert added.sum() == contained * scale


def test_fair_weights_round_down() -> None:
    """A weight that were rounded up would exceed the bound."""
    assert fair_weights(2, 10, 4).tolist() == [10, 10, 10, 6, 5]
    assert fair_weights(1, 1, 3).tolist() == [1, 1, 0, 0]
    assert fair_weights(1, 2**60 + 2, 2)[2] == 2**59 + 1  # no float is that exact


@pytest.mark.parametrize("sizes", [(0, 10, 3), (2, 0, 3), (2, 10, 0)])
def test_fair_weights_need_a_bound(sizes) -> None:
    """A bound of 0 would count nothing, and so would a scale or a longest T of 0."""
    with pytest.raises(InputError, match="at least 1"):
        fair_weights(*sizes)
    assert fair_weights(1, 1, 1).tolist() == [1, 1]


def test_the_receipt_tells_the_bound() -> None:
    """The name of the query says how much one transaction adds."""
    query = BoundedSupports([(0,), (1,), (2,)], np.array([0, 4, 4, 2]))
    assert query.name == "bounded supports of 3 itemsets, at most 8 a transaction"
