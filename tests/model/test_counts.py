"""Noisy counts: what is ranked, and what is refused."""

from __future__ import annotations

import pytest

from privmine.errors import ContractError
from privmine.model import NoisyCounts

ITEMSETS = [(0,), (1,), (0, 1), ()]


def test_the_largest_are_those_of_the_estimates_where_there_are_any() -> None:
    """Ties go to the shorter, then to the item order; the empty itemset is never listed."""
    plain = NoisyCounts(ITEMSETS, [5.0, 9.0, 5.0, 20.0], [1.0] * 4, 20, 1)
    assert plain.top(2) == [1, 0]
    assert plain.top(9) == [1, 0, 2]
    estimated = NoisyCounts(ITEMSETS, [5.0, 9.0, 5.0, 20.0], [1.0] * 4, 20, 1, estimates=[3.0, 3.0, 8.0, 20.0])
    assert estimated.top(2) == [2, 0]
    assert estimated.top(9) == [2, 0, 1]
    assert estimated.top(9, max_length=1) == [0, 1]
    assert plain != estimated


def test_ties_do_not_go_by_the_order_in_which_counts_come() -> None:
    """That may be the order of the data; here it is the opposite of the public one."""
    found = NoisyCounts([(1, 2), (0, 2), (0, 1), (2,), (1,), (0,)], [5.0] * 6, [1.0] * 6, 20, 1)
    assert found.top(9) == [5, 4, 3, 2, 1, 0]
    assert found.top(4) == [5, 4, 3, 2]


@pytest.mark.parametrize("estimates", [[1.0], [True, False, True, True], [1.0] * 5])
def test_estimates_are_one_number_an_itemset(estimates: list[float]) -> None:
    """Neither fewer nor more, and no truth values."""
    with pytest.raises(ContractError, match=r"estimate for each|not True or False"):
        NoisyCounts(ITEMSETS, [5.0] * 4, [1.0] * 4, 20, 1, estimates=estimates)
