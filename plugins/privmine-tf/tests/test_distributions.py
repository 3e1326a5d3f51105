"""The selectors against exact probabilities, on universes so small that U can be listed."""

from __future__ import annotations

import pytest
from attrs import define, field

from privmine import Pipeline
from privmine.api import hookimpl

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


@define
class Elements:
    """An observer that keeps what was selected."""

    selected: list = field(factory=list, eq=False)

    @hookimpl
    def stage_finished(self, stage, result):
        """Keep the itemsets."""
        if stage == "select_elements":
            self.selected.append(result.itemsets)

    __hash__ = object.__hash__


def outcomes(tiny, method, case, runs, **options):
    """Ordered outcomes of many runs, as positions in U."""
    m, k, gamma, limit, _ = case
    kept = Elements()
    select = {"m": m, "gamma": gamma, "explicit_limit": limit}
    pipeline = Pipeline(method, select_elements=select, observers=[kept])
    transactions = tiny.transactions(BASKETS, 3)
    for run in range(runs):
        pipeline.run(transactions, k, EPSILON, **{name: option(run) for name, option in options.items()})
    place = {found: position for position, found in enumerate(tiny.candidates(3, m))}
    return [tuple(place[found] for found in selected) for selected in kept.selected]


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


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("method", ["tf", "tf-monotone", "tf-noisy"])
def test_exact_selections_have_their_probabilities(tiny, method, case):
    """2,000 releases fit the probabilities of all ordered outcomes of U (false-alarm rate below 10⁻⁶)."""
    tiny.assert_fits(outcomes(tiny, method, case, 2_000), probabilities(tiny, method, case))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("method", ["tf", "tf-monotone", "tf-noisy"])
def test_simulated_selections_have_their_probabilities(tiny, method, case):
    """4,000 simulated runs fit the same probabilities."""
    draws = outcomes(tiny, method, case, 4_000, simulate=lambda run: True, seed=lambda run: run)
    tiny.assert_fits(draws, probabilities(tiny, method, case))
