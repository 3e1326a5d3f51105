"""The table of costs that merging keeps up to date, against one that is computed anew."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from privmine.defaults import merging
from privmine.defaults.merging import Merging, _Costs
from privmine.defaults.precision import Queries


@pytest.mark.parametrize("block", [2, 64])
def test_minima_are_those_of_the_table_after_any_change(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    """Lower and higher costs, forbidden rows, and costs that were the minimum before."""
    monkeypatch.setattr(merging, "_BLOCK", block)
    generator = np.random.default_rng(3)
    size = 9
    costs = _Costs(size)
    rows, columns = np.triu_indices(size, 1)
    costs.set(rows, columns, generator.integers(-5, 6, len(rows)))
    costs.find_minima()
    for step in range(200):
        changed = np.flatnonzero(generator.random(size) < 0.3)
        before = costs.rows(changed)
        inside = np.isin(rows, changed) & np.isin(columns, changed)
        costs.add(rows[inside], columns[inside], generator.integers(-3, 4, np.count_nonzero(inside)))
        reaches = np.isin(rows, changed) ^ np.isin(columns, changed)
        costs.set(rows[reaches], columns[reaches], generator.integers(-5, 6, np.count_nonzero(reaches)))
        if step % 10 == 0 and len(changed):
            costs.forbid(int(changed[0]))
        costs.renew_minima(changed, before)
        assert np.array_equal(costs._minima, costs._blocks.min(axis=2))


def test_pairs_that_are_taken_for_alike_share_the_same_cost() -> None:
    """Also where only the length of the union tells them apart, since they overlap outside of the query."""
    generator = np.random.default_rng(4)
    others = list(combinations(range(10, 17), 2))
    chosen = generator.permutation(len(others))[:12]
    bases = [(first, *others[place]) for first in (0, 1) for place in chosen]
    queries = Queries([*bases, (0, 1)], range(20), [(0, 1)], 12)
    found = Merging(queries, bases, 12)
    near = np.arange(len(bases))
    left, right = (np.array(places) for places in zip(*combinations(range(len(bases)), 2), strict=True))
    asked = np.flatnonzero(queries.first != queries.second)
    example, like = found._alike(near, left, right, asked)
    assert len(example) < len(left)
    expected = found._shared_costs(left, right, asked)
    assert len(set(expected.tolist())) > 2
    assert np.array_equal(found._shared_costs(left[example], right[example], asked)[like], expected)
