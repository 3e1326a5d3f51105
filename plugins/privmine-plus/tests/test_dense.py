"""The dense method: the model of pairs, its top itemsets and errors, and runs on odd data."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from attrs import evolve
from privmine_plus.bins_and_model import joined_counts, own_error
from privmine_plus.maxent import States, fitted_states, thinned
from privmine_plus.model_errors import OWN_ERROR, noise_errors, own_spread
from privmine_plus.model_top import top_itemsets, weights_of
from privmine_plus.noisy_items import draw_error, items_share, penalties
from privmine_plus.pair_moments import combined, fitted, items_of
from privmine_plus.regime import MOST_ITEMS, Threshold, is_dense
from threadpoolctl import threadpool_info, threadpool_limits

from privmine import Pipeline, Transactions, mine
from privmine.api import BasisSet, Measurement, RankSupport, Supports, Unit
from privmine.privacy import Laplace

#: Dense data of six items: the second depends on the first, the third on both.
ROWS = [[0, 1, 2, 3]] * 40 + [[0, 1, 2]] * 25 + [[0, 3]] * 20 + [[4, 5]] * 10 + [[0, 1, 4]] * 15 + [[]] * 5


def moments(rows, items):
    """The exact mean of x·xᵀ."""
    signs = np.array([[1] + [1 if item in row else -1 for item in range(items)] for row in rows], dtype=float)
    return signs.T @ signs / len(rows)


def test_model_has_the_moments_that_it_is_fitted_to():
    """Without noise and ridge to speak of, all items and pairs come out as they went in."""
    wanted = moments(ROWS, 6)
    states = fitted_states(wanted, np.full((7, 7), 1e-9), 4096)
    assert np.abs(states.moments() - wanted).max() < 2e-3
    assert states.weights.sum() == pytest.approx(1)


def test_ridge_draws_towards_independence():
    """Where noise hides all, the items of the model are independent and half of the transactions have each."""
    states = fitted_states(moments(ROWS, 6), np.full((7, 7), 1e9), 4096)
    assert np.abs(states.moments() - np.eye(7)).max() < 1e-6


@pytest.mark.parametrize("value", [0.0, 1.0, -1.0, 1e12, -1e12])
def test_model_takes_moments_that_no_data_has(value):
    """Noisy moments may be anything; the model is a distribution all the same."""
    states = fitted_states(np.full((9, 9), value), np.full((9, 9), 1e-3), 64)
    assert np.isfinite(states.weights).all()
    assert len(states.weights) <= 64


def test_thinning_keeps_heavy_weights_and_the_sum():
    """Of 1,000 weights 100 are kept: heavy ones as they are, light ones with one common weight."""
    weights = np.concatenate([[0.3, 0.2], np.full(998, 0.5 / 998)])
    kept, chosen = thinned(weights, 100)
    assert set(kept[:2]) == {0, 1}
    assert len(kept) == len(set(kept.tolist())) <= 100
    assert chosen[:2] == pytest.approx([0.3, 0.2], rel=0.02)
    assert np.ptp(chosen[2:]) < 1e-12


@pytest.mark.parametrize("max_length", [None, 1, 2])
def test_top_itemsets_are_those_of_all_itemsets(max_length):
    """The search finds what sorting all itemsets finds, ties included."""
    generator = np.random.default_rng(3)
    for _ in range(20):
        columns = int(generator.integers(1, 6))
        present = generator.random((20, columns)) < 0.6
        weights = generator.integers(0, 4, 20).astype(float)
        k = int(generator.integers(0, 40))
        sizes = range(1, min(columns, max_length or columns) + 1)
        every = [found for size in sizes for found in combinations(range(columns), size)]
        heaviness = weights_of(present, weights, every)
        ranked = sorted(zip(-heaviness, map(len, every), every, strict=True))
        assert top_itemsets(present, weights, k, max_length) == [found for *_, found in ranked[:k]]


def test_equal_items_do_not_make_the_search_endless():
    """Where all 2^30 itemsets are equally frequent, the short ones are found at once."""
    found = top_itemsets(np.ones((50, 30), dtype=bool), np.ones(50), 400)
    assert [len(itemset) for itemset in found].count(1) == 30
    assert max(map(len, found)) == 2


def test_errors_are_those_of_fits_to_noisy_moments():
    """The standard deviations of counts agree with refits of the model under fresh noise."""
    wanted, noise = moments(ROWS, 5), 0.02
    ridge = np.full((6, 6), noise**2)
    states = fitted_states(wanted, ridge, 4096)
    itemsets = [(0,), (0, 1), (0, 1, 2), (2, 3)]
    predicted, _ = noise_errors(states, itemsets, noise, noise**2)
    generator = np.random.default_rng(5)
    refits = []
    for _ in range(200):
        shift = np.triu(generator.normal(scale=noise, size=(6, 6)), 1)
        refit = fitted_states(wanted + shift + shift.T, ridge, 4096)
        refits.append(weights_of(refit.signs > 0, refit.weights, itemsets))
    assert np.std(refits, axis=0) == pytest.approx(predicted, rel=0.3)


@pytest.mark.parametrize("ridge", [0.0, 1e-30])
def test_items_that_always_occur_together_have_errors(ridge):
    """Their products do not vary by themselves, so that without a ridge nothing could be solved for."""
    signs = np.array([[1.0, 1, 1], [-1, -1, 1]])
    errors, growth = noise_errors(States(signs, np.array([0.25, 0.75])), [(0,), (0, 1), (2,)], 1e-9, ridge)
    assert np.isfinite(errors).all()
    assert errors[0] == pytest.approx(errors[1])
    assert growth == pytest.approx([0.5, 0.5, 1.0], rel=1e-5)


def test_a_larger_total_changes_counts_as_refits_do():
    """With the same moments and a total of 101 instead of 100, counts grow as predicted: an item's by a half."""
    every = [[item for item in range(5) if number >> item & 1] for number in range(32)]
    wanted, itemsets = moments(ROWS + every, 5), [(0,), (0, 1), (0, 1, 2), (2, 3)]
    ridge = np.full((6, 6), 1e-9)

    def counts(total):
        states = fitted_states(np.where(np.eye(6) > 0, 1.0, wanted * 100 / total), ridge, 4096)
        return total * weights_of(states.signs > 0, states.weights, itemsets)

    _, growth = noise_errors(fitted_states(wanted, ridge, 4096), itemsets, 0.01, 1e-9)
    assert growth[[0, 1, 3]] == pytest.approx([0.5, 0.25, 0.25], abs=0.01)
    assert (counts(101.0) - counts(99.0)) / 2 == pytest.approx(growth, abs=0.05)


def test_own_error_of_the_model_grows_with_length():
    """Items and pairs are measured; each item more adds to what the model may be off."""
    spread = own_spread(np.full(4, 500.0), [(0,), (0, 1), (0, 1, 2), (0, 1, 2, 3)], 1000.0)
    assert spread[0] == spread[1] < spread[2] < spread[3]
    assert np.sqrt(spread[2]) == pytest.approx(500)


def test_penalties_favour_the_usual_number():
    """The penalty is least about 1.5 times the fewest items, and is in units of the score."""
    found = penalties(1, 40, 8, 0.01)
    assert int(np.argmin(found)) + 1 == 12
    assert found[0] > found[5] > found[11] < found[20] < found[39]
    assert (penalties(1, 40, 8, 0.001) >= found).all()
    assert penalties(1, 10**6, 3, 1e-30).max() == 2**40


def test_shares_of_the_draws_stay_within_bounds():
    """Draws among many items for a small support cost more: up to 40 %, and up to 60 % where that is too little."""
    known = Threshold(theta=5000.0, theta_scale=10.0, total=9000.0, total_law=None)
    scales = (0.001, 4.0, 25.0, 30.0, 1e9)
    shares = [items_share(12, 200, known, scale) for scale in scales]
    assert shares[0] == 0.08 < shares[1] < shares[2] == 0.4 < shares[3] < shares[4] == 0.6
    assert draw_error(20, 200, 1.0) > draw_error(10, 200, 1.0)


@pytest.mark.parametrize(("total", "dense"), [(60_000, False), (6_000, True)])
def test_doubt_is_a_part_of_few_transactions(total, dense):
    """What noise could hide is taken off θ̂, but of few transactions no more than a tenth of them."""
    noise = Laplace(Fraction(1000))
    # Of 60,000 transactions the gate is at 6,000 and the doubt 2,000, of 6,000 they are 600 and 600.
    theta = 7900 if total > 50_000 else 1300
    answers = (
        Measurement(RankSupport(100), np.array([theta]), noise, "estimate_lambda"),
        Measurement(Supports([()]), np.array([total]), noise, "estimate_lambda"),
    )
    request = SimpleNamespace(public=SimpleNamespace(universe=range(100), n=None), k=100, max_length=None)
    assert is_dense(request, answers) == dense


def test_totals_are_combined_by_their_precision():
    """A public number of transactions is exact; noisy ones are weighted."""
    assert combined([(100.0, 0.0), (50.0, 4.0)]) == (100.0, 0.0)
    assert combined([(100.0, 1.0), (200.0, 3.0)]) == pytest.approx((125.0, 0.75))


def test_items_of_too_many_bases_are_those_of_the_first():
    """A model has at most 30 items, in public order."""
    basis = BasisSet([(place, place + 1) for place in range(50, 0, -1)])
    assert items_of(basis) == tuple(range(51 - MOST_ITEMS + 1, 52))
    assert items_of(BasisSet([()])) == ()


DENSE = {
    "select_elements": "noisy-items",
    "construct_basis": "item-pairs",
    "reconstruct_counts": "pair-moments",
}
ODD = {
    "nothing": ([], 25),
    "one transaction": ([list(range(25))], 25),
    "fifty": (ROWS[:50], 25),
    "one item": ([[0]] * 30, 1),
    "few items": (ROWS, 6),
}


@pytest.mark.parametrize(("rows", "items"), ODD.values(), ids=ODD)
@pytest.mark.parametrize("max_length", [None, 1, 2])
def test_odd_data_is_released(rows, items, max_length):
    """Whatever the data, ε is spent exactly, counts are finite and no itemset is too long."""
    data = Transactions.from_lists(rows, items=list(range(items)))
    pipeline = Pipeline(method="plus", **DENSE)
    for epsilon in ("0.001", "1"):
        release = pipeline.run(data, k=40, epsilon=epsilon, max_length=max_length)
        assert release.receipt.spent == release.receipt.cost
        table = release.to_pandas()
        assert np.isfinite(table[["count", "ci_low", "ci_high"]].to_numpy(dtype=float)).all()
        assert table["length"].max() <= (max_length or items)


def test_unit_of_several_transactions_has_as_much_more_noise():
    """With up to four baskets a customer the noise of the moments is four times as large."""
    data = Transactions.from_lists(ROWS, items=list(range(6)))
    owned = evolve(data, unit=Unit("customer", baskets=4))
    charges = [mine(found, k=10, epsilon=1, method="plus").receipt.charges[-1] for found in (data, owned)]
    assert [charge.noise.scale for charge in charges] == [Fraction(100, 99), Fraction(400, 99)]


def test_public_number_of_transactions_is_used():
    """With n_public the total is that number, and the receipt promises 2ε for replacement."""
    release = mine(Transactions.from_lists(ROWS, items=list(range(6))), k=10, epsilon=1, method="plus", n_public=True)
    assert release.total == len(ROWS)
    assert release.receipt.guarantee.epsilon == 2


def test_dense_data_is_routed_to_the_model():
    """Few items, or many top itemsets a transaction, call for moments; the receipt says what intervals rest on."""
    receipt = mine(Transactions.from_lists(ROWS, items=list(range(6))), k=10, epsilon=1, method="plus").receipt
    assert [charge.query for charge in receipt.charges][1:] == ["moments of pairs of 6 items"]
    assert receipt.charges[1].mechanism.startswith("discrete elliptope of 7 variables")
    assert any("fitted to noisy counts of items and pairs" in note for note in receipt.notes)


def test_model_finds_the_top_itemsets_of_dense_data():
    """At a large budget the released itemsets are the true ones, and subsets are never rarer."""
    data = Transactions.from_lists(ROWS * 20, items=list(range(6)))
    release = mine(data, k=12, epsilon=5, method="plus", simulate=True, seed=1)
    found, _ = data.store.top_itemsets(12)
    released = {tuple(sorted(itemset)) for itemset in release.to_pandas()["itemsets"]}
    assert len(released & set(found)) >= 11


def test_bins_are_counted_where_they_are_precise():
    """With many transactions for ε the model only says what to count: bins find the counts that pairs do not tell."""
    # The third item is there if just one of the others is: pairs tell nothing of it.
    rows = [[], [0, 2], [1, 2], [0, 1]] * 25_000
    data = Transactions.from_lists(rows, items=[0, 1, 2])
    release = mine(data, k=7, epsilon=1, method="plus", simulate=True, seed=1)
    queries = [charge.query for charge in release.receipt.charges]
    assert [query.split()[0] for query in queries] == ["supports", "moments", "bins"]
    assert release.receipt.spent == release.receipt.cost
    table = release.to_pandas()
    (triple,) = table[table["length"] == 3].itertuples()
    assert triple.ci_low <= 0 < 12_500 < 100_000 / 8 + triple.count < 13_000


def test_few_transactions_are_left_to_the_model():
    """Where bins would be all noise, all the rest buys moments; where they disappoint, most of it buys them again."""
    data = Transactions.from_lists(ROWS * 10, items=list(range(6)))
    asked = mine(data, k=12, epsilon=1, method="plus", simulate=True, seed=1).receipt.charges
    assert [charge.query.split()[0] for charge in asked] == ["supports", "moments"]
    # Of 17 items there are too many itemsets to cover, then too few transactions that have them.
    many = Transactions.from_lists([list(range(17))] * 50_000, items=list(range(17)))
    rare = Transactions.from_lists([[0, 1], [2]] * 50 + [[]] * 60_000, items=list(range(17)))
    for data, k, bins in ((many, 2000, []), (rare, 400, ["bins"])):
        receipt = mine(data, k=k, epsilon=1, method="plus", simulate=True, seed=1).receipt
        assert [charge.query.split()[0] for charge in receipt.charges] == ["supports", "moments", "moments", *bins]
        assert receipt.spent == receipt.cost


def test_a_model_is_fitted_by_one_thread(monkeypatch):
    """Otherwise sums, and so simulated releases, would depend on how many cores there are."""
    seen = []

    def noted(*arguments):
        seen.extend(found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas")
        return fitted(*arguments)

    monkeypatch.setattr("privmine_plus.pair_moments.fitted", noted)
    with threadpool_limits(limits=2, user_api="blas"):
        mine(Transactions.from_lists(ROWS, items=list(range(6))), 10, 1, method="plus", simulate=True, seed=1)
    assert seen
    assert set(seen) == {1}


def test_two_measurements_of_moments_count_by_their_precision():
    """Moments that were measured twice have the weighted mean, and less noise than either."""
    noises = [SimpleNamespace(variance=variance, diagonal_variance=variance) for variance in (1.0, 3.0)]
    values = [np.array(found, dtype=float) for found in ([100.0, 40.0, 20.0, 0.0], [100.0, 80.0, 20.0, 0.0])]
    answers = [SimpleNamespace(values=found, noise=noise) for found, noise in zip(values, noises, strict=True)]
    model = fitted((0, 1), [(100.0, 0.0)], answers)
    assert (model.deviation * 100) ** 2 == pytest.approx(0.75)
    assert model.supports([(0,)])[0] == pytest.approx((100 + 50) / 2, abs=0.5)


def test_own_error_is_what_noise_does_not_explain():
    """Differences of the size of their noise leave the least error; larger ones are the model's."""
    spread, many = np.full(40_000, 10_000.0), np.full(40_000, 1.0)
    assert own_error(5 * many, 25 * many, spread) == pytest.approx(OWN_ERROR, rel=0.5)
    assert own_error(13 * many, 25 * many, spread) == pytest.approx(0.12, rel=0.01)
    assert own_error(many[:0], many[:0], many[:0]) == OWN_ERROR


def test_own_error_is_larger_where_noise_may_hide_more():
    """Few noisy itemsets cannot tell a good model from a bad one; precise ones outweigh them."""
    few = np.full(20, 1.0)
    assert own_error(50 * few, 2500 * few, 10_000 * few) > 0.2
    differences, variances = np.concatenate([50 * few, few]), np.concatenate([2500 * few, few])
    assert own_error(differences, variances, np.full(40, 10_000.0)) < 0.01


def test_bins_of_a_part_tell_how_far_the_model_is_off_elsewhere():
    """Itemsets without bins have the model's counts, with the error that the bins have told."""
    noise = SimpleNamespace(variance=100.0, diagonal_variance=100.0)
    answer = SimpleNamespace(values=np.array([1000.0, *[0.0] * 6]), noise=noise)
    model = fitted((0, 1, 2), [(1000.0, 0.0)], [answer])
    itemsets = model.top(7, None)

    def errors(triple):
        """The standard errors where the model says 125 for the triple, and the bins something else."""
        bins = SimpleNamespace(counts={(0, 1, 2): triple}, variance=lambda _: 4.0, law=lambda _: None)
        joined = joined_counts(model, bins, itemsets, 7, None)
        return dict(zip(joined.itemsets, joined.standard_errors.tolist(), strict=True))

    assert errors(20.0)[0, 1] > 2 * errors(125.0)[0, 1] > 0
    assert errors(20.0)[0, 1, 2] == pytest.approx(2.0, rel=0.1)


def test_data_of_too_few_items_for_k_is_not_dense():
    """30 items have 435 pairs: a model of them cannot have 1,000 itemsets of at most two items."""
    rows = [list(range(60))] * 500
    data = Transactions.from_lists(rows, items=list(range(60)))
    for max_length, dense in ((2, False), (None, True)):
        receipt = mine(data, k=1000, epsilon=1, method="plus", max_length=max_length, simulate=True, seed=1).receipt
        assert any("moments" in charge.query for charge in receipt.charges) == dense


@pytest.mark.parametrize(("options", "draws"), [({}, "a set of"), ({"delta": "1e-6"}, "draws")])
def test_items_are_drawn_as_a_set_in_pure_epsilon(options, draws):
    """With a δ one by one: there single draws cost less than the many bad sets do."""
    data = Transactions.from_lists([[*range(8)]] * 3000, range(30))
    stages = {"select_elements": "noisy-items", "construct_basis": "item-pairs", "reconstruct_counts": "pair-moments"}
    release = Pipeline("plus", **stages).run(data, 50, 1, simulate=True, seed=1, **options)
    (told,) = [charge.mechanism for charge in release.receipt.charges if charge.query == "supports of 30 items"]
    assert draws in told
