"""The selectors against exact probabilities, on universes so small that U can be listed."""

from __future__ import annotations

from functools import cache

import pytest
from attrs import evolve
from slow_cases import slow_after

from privmine import Pipeline
from privmine.noise.secure import SecureNoise
from privmine.noise.simulated import SimulatedNoise
from privmine.pipeline.request import Wish
from privmine.testing import curator_for

BASKETS = [[0, 1], [0, 1], [0, 1, 2], [0], [0], [2]]  # supports: 0: 5, 1: 3, 2: 2, 01: 3, 02: 1, 12: 1
# m, k, γ, M, and how many of the six candidates are listed
CASES = {
    "floor by gamma": (2, 2, 1, 20, 3),
    "floor by the limit": (2, 2, 100, 3, 1),
    "no floor": (2, 2, 100, 20, 6),
    "everything in the tail": (2, 1, 0, 1, 0),
}
#: ε so that chances differ much: the paper's exponent is ε/(4k), its noise Lap(4k/ε).
EPSILON = 5


class RememberingStore:
    """A store that mines once: thousands of selections ask the same of it."""

    def __init__(self, store):
        self.item_count = store.item_count
        self.top_itemsets = cache(store.top_itemsets)


def outcomes(tiny, method, case, noise, runs):
    """Ordered outcomes of many selections, as positions in U."""
    m, k, gamma, limit, _ = case
    select = {"m": m, "gamma": gamma, "explicit_limit": limit}
    plan, component = (
        Pipeline(method, select_elements=select).parts[stage].component
        for stage in ("allocate_budget", "select_elements")
    )
    transactions = tiny.transactions(BASKETS, 3)
    request = Wish(k, EPSILON).request(transactions)
    share = plan.allocate_budget().select_elements
    store = RememberingStore(transactions.store)
    place = {found: position for position, found in enumerate(tiny.candidates(3, m))}
    drawn = []
    for _ in range(runs):
        # The stage alone, with a fresh budget each time: whole runs take far longer.
        curator = curator_for(evolve(transactions, store=store), EPSILON, share=share, noise=noise)
        elements = component.select_elements(request, curator)
        assert not curator.remaining
        drawn.append(tuple(place[found] for found in elements.itemsets))
    return drawn


def probabilities(tiny, method, case):
    """The exact probability of each ordered outcome, from the paper's formulas."""
    m, k, gamma, limit, _ = case
    scores = tiny.scores(BASKETS, 3, m, k, gamma, limit)
    if method == "tf":
        return tiny.exponential(scores, k, EPSILON / (4 * k))
    if method == "tf-monotone":
        return tiny.exponential(scores, k, EPSILON / (2 * k))
    return tiny.noisy_top(scores, k, 4 * k / EPSILON)


def test_the_cases_are_what_they_are_called(tiny, listen):
    """The tail holds what its case says, from nothing to everything."""
    transactions = tiny.transactions(BASKETS, 3)
    for m, k, gamma, limit, listed in CASES.values():
        parameters = {"m": m, "gamma": gamma, "explicit_limit": limit}
        scores = listen("tf", transactions, k, EPSILON, parameters).query.scores(transactions.store)
        assert (len(scores.values), scores.tail.size) == (listed, 6 - listed)


@pytest.mark.parametrize("case", slow_after(1, CASES.values()), ids=CASES)
@pytest.mark.parametrize("method", ["tf", "tf-monotone", "tf-noisy"])
def test_exact_selections_have_their_probabilities(tiny, method, case):
    """3,000 selections fit the probabilities of all ordered outcomes of U (false-alarm rate below 10⁻⁶)."""
    tiny.assert_fits(outcomes(tiny, method, case, SecureNoise(), 3_000), probabilities(tiny, method, case))


@pytest.mark.statistics
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("method", ["tf", "tf-monotone", "tf-noisy"])
def test_simulated_selections_have_their_probabilities(tiny, method, case):
    """6,000 simulated selections fit the same probabilities."""
    draws = outcomes(tiny, method, case, SimulatedNoise(8), 6_000)
    tiny.assert_fits(draws, probabilities(tiny, method, case))
