"""What the λ estimate asks, and when it need not ask."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privmine.api import Estimate, InputError, RankGap
from privmine.defaults.estimate import RankGapLambda
from privmine.testing import answers_of, charges_of

BASKETS = [[0, 1], [0]]


@pytest.mark.parametrize(
    ("k", "items", "max_length", "asked"),
    [
        (20, 30, None, RankGap(22, 5, 20)),  # η·k = 22 itemsets need 5 items
        (6, 30, None, RankGap(7, 3, 6)),  # 3 items have exactly 7
        (20, 8, None, RankGap(22, 5, 8)),  # no more than there are
        (20, 30, 2, RankGap(22, 7, 20, 2)),  # 6 items have only 21 itemsets of up to two
    ],
)
def test_the_question(stage, k: int, items: int, max_length: int | None, asked: RankGap) -> None:
    """The rank is ⌈η·k⌉, at most what exists, and λ lies in the public range; one draw pays the whole share."""
    request, curator = stage(k, BASKETS, items, max_length)
    found = RankGapLambda().estimate_lambda(request, curator)
    (answer,) = answers_of(curator)
    assert answer.query == asked
    assert found == Estimate(lam=answer.chosen[0])
    assert not curator.remaining


def test_a_single_value_is_free(stage) -> None:
    """Where λ can only be one number, that number is public."""
    for k, items, max_length, lam in ((1, 5, None, 1), (5, 1, None, 1), (3, 2, None, 2), (20, 30, 1, 20)):
        request, curator = stage(k, [[0]], items, max_length)
        assert RankGapLambda().estimate_lambda(request, curator) == Estimate(lam=lam)
        assert charges_of(curator) == ()


def test_nothing_wanted_needs_no_item(stage) -> None:
    """k = 0 is answered without a charge."""
    request, curator = stage(0, [[]], 0)
    assert RankGapLambda().estimate_lambda(request, curator) == Estimate(lam=0)
    assert charges_of(curator) == ()


def test_the_margin_is_exact_and_at_least_one(stage) -> None:
    """⌈1.1·100⌉ is 110, where floats make it 111; a margin of 1 is none, and less is refused."""
    request, curator = stage(100, BASKETS, 200)
    RankGapLambda(eta="1.1").estimate_lambda(request, curator)
    assert answers_of(curator)[0].query.rank == 110
    assert RankGapLambda().eta == Fraction(11, 10)
    assert RankGapLambda(eta=1).eta == 1
    with pytest.raises(InputError, match="eta must be at least 1"):
        RankGapLambda(eta="0.99")


def test_the_estimate_is_near_where_the_supports_meet(stage) -> None:
    """With a large budget λ is the number of items that are as frequent as the itemset at the rank."""
    baskets = [list(range(6))] * 400 + [list(range(20))] * 100
    request, curator = stage(40, baskets, 30)
    # 63 itemsets of the first six items have support 500, and the rank is 44.
    assert RankGapLambda().estimate_lambda(request, curator).lam == 6
