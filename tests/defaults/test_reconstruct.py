"""What a support is made of, and that several bases combine in the best way."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from privmine.api import BasisSet, BinCounts, Itemset
from privmine.defaults.reconstruct import BasisFrequencies, Combined, combine, superset_sums
from privmine.testing import answers_of


def test_recipes_stay_apart_with_very_many_bases() -> None:
    """Eleven lengths with 63 bases of each: 64^11 ways to be covered are more than 64 bits can number.

    The variance of a support tells whether its recipe is the right one.
    """
    bases = tuple(tuple(range(length)) for length in range(1, 12) for _ in range(63))
    found = combine(bases, [np.zeros(2 ** len(basis)) for basis in bases])
    variances = [sum(bins * weight**2 for bins, weight in profile) for profile in found.profiles]
    np.testing.assert_allclose(np.array(variances)[found.profile_of], found.variances)
    # An itemset is covered by all bases that are long enough for its last item.
    assert len(found.profiles) == len({(len(itemset), max(itemset, default=0)) for itemset in found.itemsets})


def row_of(found: Combined, itemset: Itemset) -> int:
    """Where an itemset stands."""
    return list(found.itemsets).index(itemset)


def test_two_bases_are_weighted_by_inverse_variance() -> None:
    """{1} is a sum of two bins of {0, 1} and of four bins of {1, 2, 3}: weights 2/3 and 1/3 (Alg. 1, l. 22-23)."""
    found = combine(((0, 1), (1, 2, 3)), [np.array([1, 2, 3, 4]), np.array([0, 5, 0, 5, 0, 5, 0, 5])])
    one, none = row_of(found, (1,)), row_of(found, ())
    assert found.counts[one] == pytest.approx((2 * (3 + 4) + 20) / 3)
    assert found.counts[none] == pytest.approx((2 * 10 + 20) / 3)
    # 1 / (1/2 + 1/4) and 1 / (1/4 + 1/8) of the variance of one bin; a plain mean would have 3/2 and 3.
    assert found.variances[one] == pytest.approx(4 / 3)
    assert found.variances[none] == pytest.approx(8 / 3)
    np.testing.assert_allclose(found.profiles[found.profile_of[one]], ((2, 2 / 3), (4, 1 / 3)))


basis_sets = st.lists(st.frozensets(st.integers(0, 5), max_size=4), min_size=1, max_size=5)


@settings(max_examples=80, deadline=None)
@given(basis_sets, st.integers(0, 2**32))
@example([frozenset({0, 1}), frozenset({1, 2})], 0)  # {1} is in two bases of one length, {0} in one
def test_every_support_is_the_best_unbiased_mean(sets: list[frozenset[int]], seed: int) -> None:
    """Against the definition in exact fractions: what each basis counts, weighted by 2^(|X|-|B|)."""
    bases = tuple(tuple(sorted(basis)) for basis in sets)
    bins = [np.random.default_rng(seed + place).integers(-9, 99, 2 ** len(b)) for place, b in enumerate(bases)]
    found = combine(bases, bins)
    everything = {subset for basis in bases for size in range(len(basis) + 1) for subset in combinations(basis, size)}
    assert next(iter(found.itemsets)) == ()
    assert sorted(found.itemsets) == sorted(everything)
    assert found.itemsets.lengths.tolist() == [len(subset) for subset in found.itemsets]
    for row, subset in enumerate(found.itemsets):
        precision, mean, recipe = Fraction(0), Fraction(0), []
        for basis, counts in zip(bases, bins, strict=True):
            if set(subset) <= set(basis):
                wanted = sum(1 << basis.index(item) for item in subset)
                covered = [int(count) for mask, count in enumerate(counts) if mask & wanted == wanted]
                weight = Fraction(1, len(covered))
                recipe.append((len(covered), weight))
                precision, mean = precision + weight, mean + weight * sum(covered)
        assert found.counts[row] == pytest.approx(float(mean / precision))
        assert found.variances[row] == pytest.approx(float(1 / precision))
        # Bases of one length are one sum of all their bins.
        profile = [
            (sum(count for count, _ in recipe if count == size), float(Fraction(1, size) / precision))
            for size in sorted({count for count, _ in recipe})
        ]
        np.testing.assert_allclose(found.profiles[found.profile_of[row]], profile)


@pytest.mark.parametrize("items", [63, 64, 65, 130])
def test_any_number_of_items_is_told_apart(items: int) -> None:
    """Itemsets are keyed by words of 64 items; none is lost or confused where a word ends."""
    found = combine(tuple((item,) for item in range(items)), [np.array([0, item + 1]) for item in range(items)])
    assert len(found.itemsets) == items + 1
    for row, subset in enumerate(found.itemsets):
        if subset:
            assert found.counts[row] == subset[0] + 1


def test_sums_of_the_largest_bins_do_not_wrap() -> None:
    """Noise saturates at 64 bits; four such bins are a large count, not a negative one."""
    assert superset_sums(np.full(4, 2**62)).tolist() == [2.0**64, 2.0**63, 2.0**63, 2.0**62]


def test_without_bases_the_number_of_transactions_is_measured(stage) -> None:
    """A basis set of nothing is the empty basis: its one bin is N, at the whole price."""
    _, curator = stage(3, [[0], [0, 1]], 2)
    found = BasisFrequencies().reconstruct_counts(BasisSet(bases=()), curator)
    assert answers_of(curator)[0].query == BinCounts([()])
    assert list(found.itemsets) == [()]
    assert found.total == answers_of(curator)[0].values[0]
    assert not curator.remaining


def test_only_the_wanted_candidates_are_kept(stage) -> None:
    """In the order of the bases, with the errors and laws that belong to each; N stays."""
    _, curator = stage(3, [[0], [0, 1]] * 50, 3)
    basis = BasisSet(bases=[(0, 1), (2,)], candidates=[(1,), (2,), (0, 2)])
    found = BasisFrequencies().reconstruct_counts(basis, curator)
    first, second = BinCounts(basis.bases).by_basis(answers_of(curator)[0].values)
    assert list(found.itemsets) == [(1,), (2,)]
    np.testing.assert_allclose(found.counts, [first[2] + first[3], second[1]])
    noise = answers_of(curator)[0].noise.variance
    np.testing.assert_allclose(found.standard_errors**2, [2 * noise, noise])
    assert [found.laws[law].parts[0][1] for law in found.law_of] == [((2, 1.0),), ((1, 1.0),)]
    assert found.total == pytest.approx((first.sum() / 4 + second.sum() / 2) / (3 / 4))
    assert found.total_error**2 == pytest.approx(noise * 4 / 3)
    assert found.total_law.standard_error == pytest.approx(found.total_error)
