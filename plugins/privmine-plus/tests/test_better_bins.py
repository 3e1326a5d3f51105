"""Least squares, unequal budgets and cut bins, against exact small cases."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from privmine_plus.better_bins import budget_weight
from privmine_plus.walsh import SumLaw, coefficients, least_squares, norm_cut, subsets

from privmine import Pipeline
from privmine.io.groceries import groceries

NAMES = ("walsh-gls", "unequal-budgets", "norm-cut")
BASES = ((0, 1, 2), (1, 2, 3), (3,))


def exact_bins(bases, transactions):
    """How many transactions meet a basis in each of its subsets."""
    return [
        np.array([sum(set(t) & set(basis) == set(s) for t in transactions) for s in subsets(basis)], dtype=float)
        for basis in bases
    ]


def solved_by_matrices(bases, bins, variances):
    """Least squares with the cells of all items as unknowns, by a pseudo-inverse: counts and their variances."""
    items = sorted({item for basis in bases for item in basis})
    cells = [
        frozenset(i for i, has in zip(items, bits, strict=True) if has) for bits in product((0, 1), repeat=len(items))
    ]
    rows = [[float(cell & set(basis) == set(s)) for cell in cells] for basis in bases for s in subsets(basis)]
    weights = np.concatenate([np.full(2 ** len(b), v**-0.5) for b, v in zip(bases, variances, strict=True)])
    inverse = np.linalg.pinv(np.array(rows) * weights[:, None])
    solution = inverse @ (np.concatenate(bins) * weights)
    named = {s for basis in bases for s in subsets(basis)}
    maps = {s: np.array([float(set(s) <= cell) for cell in cells]) for s in named}
    return (
        {s: float(maps[s] @ solution) for s in named},
        {s: float(((maps[s] @ inverse) ** 2).sum()) for s in named},
    )


def test_coefficients_are_sums_of_products_of_signs():
    """For a basis of two items: the total, and what has an item minus what has not."""
    assert coefficients(np.array([1.0, 2, 4, 8])).tolist() == [15, 5, 9, 3]


def test_bins_without_noise_give_exact_counts():
    """Least squares is unbiased: what goes in exactly comes out exactly."""
    transactions = [t for size in range(5) for t in combinations(range(4), size)] * 3 + [(0, 1)] * 5
    found = least_squares(BASES, exact_bins(BASES, transactions), [2.0, 2.0, 7.0])
    for itemset, count in found.counts.items():
        assert count == pytest.approx(sum(set(itemset) <= set(t) for t in transactions))


@pytest.mark.parametrize("variances", [(2.0, 2.0, 2.0), (1.0, 5.0, 30.0)])
def test_it_is_the_least_squares_solution(variances):
    """Counts and variances are those of a solver that knows nothing of Walsh coefficients."""
    made = np.random.default_rng(5)
    bins = [made.normal(50, 20, 2 ** len(basis)) for basis in BASES]
    found = least_squares(BASES, bins, variances)
    counts, spreads = solved_by_matrices(BASES, bins, variances)
    assert found.counts == pytest.approx(counts)
    assert found.variances == pytest.approx(spreads)


def test_no_linear_estimate_of_privbasis_is_better():
    """A pair in one basis has a variance of at most 2^(ℓ−2) bins, and less where other bases know its items."""
    found = least_squares(BASES, [np.zeros(8), np.zeros(8), np.zeros(2)], [1.0] * 3)
    assert found.variances[0, 1] < 2
    alone = least_squares(BASES[:1], [np.zeros(8)], [1.0])
    assert alone.variances[0, 1] == pytest.approx(2)


def test_cut_bins_are_the_largest_ones_up_to_the_total():
    """9 + 5 of a total of 16 leave 2 of the next; negative and small bins become 0."""
    assert norm_cut(np.array([3.0, 9, -4, 5, 1]), 16).tolist() == [2, 9, 0, 5, 0]
    assert norm_cut(np.array([3.0, -1]), 10).tolist() == [3, 0]
    assert norm_cut(np.array([3.0, 2]), -5).tolist() == [0, 0]


def test_budgets_are_the_best_ones():
    """No other division of ε has a smaller Σ V/ε²: moving a little from one basis to another makes it worse."""
    lengths = (2, 5, 9)
    sizes = np.array([2.0**n * (n / 2 + n * (n - 1) / 8) for n in lengths])
    shares = np.array([float(budget_weight(n)) for n in lengths])
    shares /= shares.sum()
    best = (sizes / shares**2).sum()
    for one, other in ((0, 1), (1, 2), (2, 0)):
        moved = shares.copy()
        moved[one] += 0.01
        moved[other] -= 0.01
        assert (sizes / moved**2).sum() > best
    assert budget_weight(0) == 1


def test_budgets_with_a_delta_have_the_least_error():
    """There variances fall with ρ itself, so that Σ V/ρ is what budgets make least."""
    sizes = np.array([2.0**n * (n / 2 + n * (n - 1) / 8) for n in (2, 5, 9)])
    shares = np.array([float(budget_weight(n, 0.5)) for n in (2, 5, 9)])
    assert shares / shares.sum() == pytest.approx(np.sqrt(sizes) / np.sqrt(sizes).sum(), rel=1e-3)


def test_the_law_of_a_sum_covers_one_laplace_noise_and_many():
    """Its 95 % interval covers at least that of a Laplace and of a normal noise with the same deviation."""
    made = np.random.default_rng(3)
    half = SumLaw(2.0).half_width(0.95)
    assert (np.abs(made.laplace(0, 2**0.5, 40_000)) <= half).mean() > 0.945
    assert (np.abs(made.normal(0, 2, 40_000)) <= half).mean() > 0.945


@pytest.mark.parametrize("name", NAMES)
def test_each_serves_privbasis(name):
    """Each runs in PrivBasis, spends ε exactly, and names the k itemsets that were asked for."""
    release = Pipeline(reconstruct_counts=name).run(groceries(), 30, 1, simulate=True, seed=4)
    assert len(release) == 30
    assert release.receipt.spent.amount == 1
