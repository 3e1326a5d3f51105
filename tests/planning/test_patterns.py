from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privmine as pm
from privmine.model import Elements
from privmine.planning.patterns import EXTREME, NO_PATTERN, ORDERS, WEIGHTS, arrangements
from privmine.planning.planner import _Planner
from privmine.planning.rehearsal import Rehearsal, made_up_baskets
from privmine.planning.sizes import ranges, size_errors
from privmine.privacy.unit import Unit


@given(st.integers(2, 30), st.data())
def test_every_pattern_has_as_many_pairs_of_the_same_items(size: int, data: st.DataObject) -> None:
    """Only their arrangement differs."""
    items = [10 * item for item in range(size)]
    count = data.draw(st.integers(1, comb(size, 2)))
    elements = Elements(items, list(combinations(items, 2))[:count])
    for _, arranged in arrangements(elements):
        assert arranged.items == elements.items
        assert len(set(arranged.itemsets)) == count
        assert {item for pair in arranged.itemsets for item in pair} <= set(items)


def test_patterns_are_what_they_are_called() -> None:
    """A star, a clique, a matching, triangles."""
    pairs = [(0, item) for item in range(1, 7)]
    found = dict(arrangements(Elements(range(12), pairs)))
    assert set(ORDERS) | set(WEIGHTS) == set(found)
    degrees = {name: Counter(item for pair in made.itemsets for item in pair) for name, made in found.items()}
    assert degrees["one item is in nearly all"][0] == 6
    assert set(degrees["all among a few items"].values()) == {3}
    assert set(degrees["almost none share an item"].values()) == {1}
    assert set(degrees["groups of three"].values()) == {2}


@pytest.mark.parametrize("itemsets", [(), ((0,), (1, 2)), ((0, 1, 2),)])
def test_what_holds_no_pairs_alone_stays_as_it_is(itemsets: tuple[tuple[int, ...], ...]) -> None:
    """There is one arrangement of it."""
    elements = Elements(range(4), itemsets)
    assert list(arrangements(elements)) == [(NO_PATTERN, elements)]


@pytest.mark.parametrize(("items", "pairs"), [(300, 20), (50, 300)])
def test_large_ones_are_arranged_fewer_times(items: int, pairs: int) -> None:
    """Bases for many items or pairs take long to build, so that only what may be extreme is tried, once each."""
    elements = Elements(range(items), list(combinations(range(items), 2))[:pairs])
    assert {name for name, _ in arrangements(elements)} == EXTREME < set(ORDERS) | set(WEIGHTS)
    assert len(list(arrangements(elements))) == len(EXTREME)


def test_all_pairs_are_arranged_once() -> None:
    """Where every pair was chosen, no pattern differs from another one."""
    elements = Elements(range(13), list(combinations(range(13), 2)))
    assert [set(arranged.itemsets) for _, arranged in arrangements(elements)] == [set(elements.itemsets)]


@pytest.mark.statistics
def test_the_range_holds_for_other_patterns() -> None:
    """Of random graphs of four kinds, at least 19 in 20 typical errors lie in the range of the patterns."""
    random = np.random.default_rng(11)
    inside = []
    for trial in range(80):
        k = int(random.choice([30, 50, 100, 200]))
        lam = int(random.integers(13, min(k, 110)))
        rehearsal = Rehearsal(pm.Pipeline(), made_up_baskets(1000, Unit()), k, None)
        selected = rehearsal.select(Fraction(1), lam)
        if not selected.elements.itemsets:
            continue
        pairs = list(combinations(range(lam), 2))
        chances = np.array(weights(trial % 4, lam, pairs, random))
        drawn = random.choice(len(pairs), len(selected.elements.itemsets), replace=False, p=chances / chances.sum())
        run = pm.Pipeline().prepare(selected.request)
        elements = Elements(range(lam), [pairs[place] for place in drawn])
        basis = run.stages.hook.construct_basis(request=selected.request, elements=elements, answers=())
        shapes, _ = _Planner(rehearsal, (lam,), None).shapes(Fraction(1))
        promised = {found.size: found for found in ranges(shape.sizes for shape in shapes)}
        inside += [
            promised[found.size].low <= found.typical <= promised[found.size].high
            for found in size_errors(rehearsal.counts(selected, basis), 3)
        ]
    assert len(inside) > 150
    assert np.mean(inside) >= 0.95


def weights(kind: int, lam: int, pairs: list[tuple[int, int]], random: np.random.Generator) -> list[float]:
    """How likely each pair is: all alike, by popularity, within groups, or of neighbours in a plane."""
    if kind == 0:
        return [1.0] * len(pairs)
    if kind == 1:
        popularity = np.arange(1, lam + 1) ** -random.uniform(0.3, 1.5)
        return [popularity[one] * popularity[other] for one, other in pairs]
    if kind == 2:
        group = random.integers(0, max(2, lam // random.integers(3, 8)), lam)
        return [20.0 if group[one] == group[other] else 0.3 for one, other in pairs]
    place = random.normal(size=(lam, 2))
    return [float(np.exp(-3 * np.linalg.norm(place[one] - place[other]))) for one, other in pairs]
