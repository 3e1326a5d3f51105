"""The worst case over all neighbours of tiny databases, computed and not sampled.

What a selection may cost is its share of ε. Scores, rates and scales are those that the components
really ask for; the probabilities of all ordered outcomes follow from them.
"""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement
from math import log

import pytest

ITEMS = 3
KINDS = [found for length in range(ITEMS + 1) for found in combinations(range(ITEMS), length)]
DATABASES = [chosen for size in range(3) for chosen in combinations_with_replacement(KINDS, size)]
SETTINGS = [
    {"m": 2, "gamma": 0, "explicit_limit": 20},
    {"m": 2, "gamma": 1, "explicit_limit": 20},
    {"m": 2, "gamma": 9, "explicit_limit": 3},
    {"m": 2, "gamma": 9, "explicit_limit": 20},
]
EPSILON = 3
SHARE = EPSILON / 2


def worst_case(tiny, listen, method, k, parameters):
    """The largest log-ratio of an ordered outcome's probabilities between neighbours, both ways."""
    known = {}

    def distribution(database):
        # One that differs in nothing but the scores has the same distribution.
        asked = listen(method, tiny.transactions(database, ITEMS), k, EPSILON, parameters)
        scores = tuple(asked.query.evaluate(tiny.transactions(database, ITEMS).store).tolist())
        assert list(scores) == tiny.scores(database, ITEMS, 2, k, parameters["gamma"], parameters["explicit_limit"])
        if scores not in known:
            known[scores] = (
                tiny.exponential(scores, k, float(asked.rate))
                if asked.scale is None
                else tiny.noisy_top(scores, k, float(asked.scale))
            )
        return known[scores]

    found = {database: distribution(database) for database in DATABASES}
    pairs = [
        (found[database], found[tuple(sorted((*database, kind), key=KINDS.index))])
        for database in DATABASES
        if len(database) < 2
        for kind in KINDS
    ]
    assert len(pairs) == 72
    return max(abs(log(one[outcome] / other[outcome])) for one, other in pairs for outcome in one)


@pytest.mark.parametrize("parameters", SETTINGS, ids=["gamma 0", "gamma 1", "limit", "no floor"])
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("method", ["tf", "tf-monotone", "tf-noisy"])
def test_no_neighbour_is_told_apart_by_more_than_the_share(tiny, listen, method, k, parameters):
    """Between all neighbours the odds of every ordered outcome stay within e^(ε/2).

    The published exponent and noise spend half of that, since scores are monotone.
    """
    worst = worst_case(tiny, listen, method, k, parameters)
    assert worst <= SHARE * (1 + 1e-4)
    if method != "tf-monotone":
        assert worst <= SHARE / 2 * (1 + 1e-4)


def test_the_share_is_nearly_reached(tiny, listen):
    """The check can fail: with half the noise of `tf-monotone` the worst case would exceed the share."""
    worst = worst_case(tiny, listen, "tf-monotone", 1, SETTINGS[3])
    assert worst > 0.7 * SHARE


def non_monotone_worst_case(probabilities, rate_or_scale):
    """The worst case where two scores rise and all others fall, which truncated supports never do."""
    one = probabilities([0, 0, 6, 6, 6], 2, rate_or_scale)
    other = probabilities([1, 1, 5, 5, 5], 2, rate_or_scale)
    return max(abs(log(one[outcome] / other[outcome])) for outcome in one)


def test_the_published_noise_is_enough_for_scores_that_are_not_monotone(tiny):
    """Lap(4k/ε) and the exponent ε/(4k) hold for any scores that move by 1; half the noise would not."""
    k = 2
    assert SHARE / 2 < non_monotone_worst_case(tiny.noisy_top, 4 * k / EPSILON) <= SHARE * (1 + 1e-4)
    assert SHARE / 2 < non_monotone_worst_case(tiny.exponential, EPSILON / (4 * k)) <= SHARE
    assert non_monotone_worst_case(tiny.noisy_top, 2 * k / EPSILON) > SHARE
    assert non_monotone_worst_case(tiny.exponential, EPSILON / (2 * k)) > SHARE


def test_a_truncation_point_that_moves_by_2_would_be_noticed(tiny):
    """A floor of larger sensitivity than the supports would break the bound, so its own sensitivity matters."""
    one, other = (tiny.exponential([6, *[floor] * 6], 1, SHARE) for floor in (3, 5))
    assert max(abs(log(one[outcome] / other[outcome])) for outcome in one) > SHARE
