"""The pure functions of the sparse method: histograms, beliefs, candidates, covers, bins."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from privmine_plus.beliefs import Beliefs, in_public_order
from privmine_plus.bin_estimates import estimates
from privmine_plus.bins import superset_sums
from privmine_plus.budget import draw_scale_at, growth, scale_at, scale_of
from privmine_plus.cover import Cover, best_cover, cover_variance
from privmine_plus.grow import grown, promising_pairs, with_grown
from privmine_plus.histogram import Holdings, best_bound, edges_for, misjudged
from privmine_plus.looks import UNIT, weights_for
from privmine_plus.posterior import GRID, CredibleLaw, log_likelihood, log_prior, normalised, probability
from privmine_plus.regime import Threshold
from privmine_plus.released import released

from privmine import Pipeline, Transactions
from privmine.api import BinCounts, BoundedSupports, Elements, Measurement, fair_weights, hookimpl
from privmine.privacy import DiscreteLaplace, Laplace, Noise


def holdings(counts, scale=1.0):
    """A histogram over the first ranges: T of 0, 1, 2, 3, 4 to 5."""
    return Holdings.cleaned(edges_for(5)[: len(counts)], np.array(counts, dtype=float), scale)


def test_edges_end_with_the_number_of_candidates():
    """No transaction holds more candidates than there are, so no range begins beyond that."""
    assert edges_for(1) == (0, 1)
    assert edges_for(7) == (0, 1, 2, 3, 4, 6)
    assert edges_for(0) == (0, 1)


def test_counts_fade_where_noise_hides_them():
    """From its peak on a histogram falls; ranges that drown in noise have three tenths of the one before."""
    found = Holdings.cleaned(edges_for(30), np.array([9, 0, 1, 2, 900, 800, 2, 1, -2, 500.0]), 100.0)
    assert found.counts[:6] == pytest.approx([0, 24.3, 81, 270, 900, 800])
    assert found.counts[6:] == pytest.approx([240, 72, 21.6, 6.48])


def test_counts_that_rise_away_from_the_peak_become_their_mean():
    """Noise alone makes a histogram rise again; where it is little, all other counts stay."""
    found = Holdings.cleaned(edges_for(9), np.array([5, 40, 100, 60, 30, 50, 20.0]), 1.0)
    assert found.counts.tolist() == [0, 40, 100, 60, 40, 40, 20]


def test_what_a_bound_keeps_is_the_share_of_occurrences():
    """100 transactions with 1 candidate and 100 with 2: a bound of 1 keeps 200 of 300 occurrences."""
    found = holdings([50, 100, 100], 0.0)
    assert found.kept_by(np.array([1])) == pytest.approx(2 / 3)
    assert found.kept_by(np.array([2])) == 1
    assert found.kept(fair_weights(1, 1000, 5)) == pytest.approx(2 / 3, abs=1e-3)


def test_no_transactions_lose_nothing():
    """An empty histogram gives no reason to correct anything."""
    assert holdings([7, 0, 0]).kept_by(np.array([1])) == 1
    assert misjudged(1.0) == 0


def test_the_bound_follows_the_noise():
    """With little noise a large bound loses nothing; with much noise a bound of 1 is best."""
    found = holdings([0, 100, 100, 100, 100])
    assert best_bound(found, 1000.0, 0.01, 5)[0] >= 4
    assert best_bound(found, 1000.0, 1e5, 5)[0] == 1
    assert best_bound(found, 1000.0, 0.01, 2)[0] <= 2


def test_beliefs_follow_precise_looks():
    """A look with little noise decides; one with much noise leaves the prior."""
    theta, values = 100.0, np.array([50.0, 200.0])
    sharp = log_prior(np.ones(2)) + log_likelihood(values, 0.5, 1.0, 0.0, theta)
    assert normalised(sharp) @ GRID * theta == pytest.approx(values, rel=0.03)
    vague = log_prior(np.ones(2)) + log_likelihood(values, 1e6, 1.0, 0.0, theta)
    assert (normalised(vague) @ GRID)[0] == pytest.approx((normalised(vague) @ GRID)[1], rel=1e-3)
    assert probability(np.array([-1e9, 0.0, 1e9])).tolist() == pytest.approx([0, 0.5, 1])


def test_a_credible_law_has_its_quantiles():
    """Half-widths grow with the level, hold the promised probability, and stretch."""
    law = CredibleLaw(np.array([8.0, 9, 10, 11, 14]), np.array([[0.1, 0.2, 0.4, 0.2, 0.1]]), 10.0)
    assert [law.half_width(level) for level in (0.3, 0.5, 0.85, 0.95)] == [0, 1, 2, 4]
    assert CredibleLaw(np.array([9.0, 10]), np.array([[0.5, 0.5]]), 10.0, 3.0).half_width(0.9) == 3


def test_ties_go_by_length_then_item_order():
    """Equal keys never leave the order to chance or to the order of the arguments."""
    itemsets = [(2, 3), (5,), (1, 9), (0,)]
    order = in_public_order(itemsets, np.zeros(4))
    assert [itemsets[place] for place in order] == [(0,), (5,), (1, 9), (2, 3)]
    assert in_public_order(itemsets, np.array([0, 1.0, 0, 1]), np.array([5.0, 0, 0, 0])).tolist() == [3, 1, 0, 2]


def beliefs(counts, theta=100.0, total=1000.0):
    """Beliefs that are nearly certain."""
    values = np.array(list(counts.values()), dtype=float)
    logs = log_prior(np.ones(len(values))) + log_likelihood(values, 0.5, 1.0, 0.0, theta)
    return Beliefs(Threshold(theta, 1.0, total, None), tuple(counts), logs, values, np.full(len(values), 0.5))


def test_pairs_need_likely_items():
    """Pairs of items that reach θ̂ are worth a look; rare items are not."""
    found = promising_pairs(beliefs({(7,): 300, (3,): 200, (5,): 20}))
    assert found == [(3, 7)]
    # 1.3·(100 − 1) = 128.7 of the rarer item, or 40 by independence; items of 100 alone are not enough.
    assert promising_pairs(beliefs({(1,): 300, (2,): 125, (3,): 132}, total=10_000.0)) == [(1, 3)]


def test_longer_itemsets_grow_from_likely_pairs():
    """A triple needs all its pairs, and its predicted count; a limit of the length is kept."""
    items = dict.fromkeys([(1,), (2,), (3,), (4,)], 400)
    found = beliefs(items | {(1, 2): 390, (1, 3): 390, (2, 3): 390, (1, 4): 150})
    assert list(grown(found, 50, None)) == [(1, 2, 3)]
    assert grown(found, 50, 2) == {}


def test_what_the_last_look_suggests_joins_unmeasured():
    """A triple of likely pairs joins with a wide belief about its guessed count; a known one keeps its own."""
    items = dict.fromkeys([(1,), (2,), (3,)], 400)
    found = beliefs(items | {(1, 2): 390, (1, 3): 390, (2, 3): 390})
    joined = with_grown(found, 50, None)
    assert joined.itemsets == (*found.itemsets, (1, 2, 3))
    assert 250 < joined.means()[-1] < 390
    assert joined.variances[-1] > 100**2
    assert (joined.logs[-1, np.flatnonzero(GRID > 4.6)] < joined.logs[-1].max() - 1000).all()
    assert with_grown(joined, 50, None) is joined
    assert with_grown(found, 50, 2) is found


def test_a_cover_contains_all_that_is_wanted():
    """Every itemset is inside a basis, no basis is longer than 12 and none is inside another."""
    wanted = [(1, 2, 3), (2, 3, 4), (9,), (8, 9), (20, 21, 22), (5,)]
    cover = best_cover(wanted)
    bases = cover.bases
    assert all(any(set(found) <= set(basis) for basis in bases) for found in wanted)
    assert cover_variance(wanted, bases) == pytest.approx(cover.variance)
    assert cover_variance([(1, 30)], bases) == np.inf
    assert best_cover(wanted, 1).bases == ((1, 2, 3, 4, 5, 8, 9, 20, 21, 22),)
    assert best_cover([]) == best_cover(wanted, 0) == best_cover([(item,) for item in range(2000)]) == Cover()


def bin_answer(bases, rows):
    """Bins without noise worth mentioning."""
    store = Transactions.from_lists(rows, range(6)).store
    query = BinCounts(bases)
    return Measurement(query, query.evaluate(store), Laplace(Fraction(1, 1000)), "reconstruct_counts")


def test_bins_give_the_exact_counts_without_noise():
    """Sums over supersets are supports, whichever bases they come from, and N is that of the empty itemset."""
    rows = [[0, 1, 2], [0, 1], [1, 4], [], [0, 2, 4]]
    found = estimates(bin_answer([(0, 1, 2), (1, 4), (0, 2)], rows))
    assert found.counts[()] == 5
    for itemset, count in found.counts.items():
        assert count == pytest.approx(sum(set(itemset) <= set(row) for row in rows)), itemset
    assert superset_sums(np.array([1.0, 2, 3, 4])).tolist() == [10, 6, 7, 4]


def test_two_bases_are_better_than_one():
    """The law of a count that two bases tell is narrower than that of each."""
    one = estimates(bin_answer([(0, 1, 2)], [[0]]))
    both = estimates(bin_answer([(0, 1, 2), (0, 2)], [[0]]))
    assert both.variance((0, 2)) < one.variance((0, 2))
    assert both.law((0, 2)).half_width(0.95) == pytest.approx(1.05 * 1.95996 * both.variance((0, 2)) ** 0.5, rel=1e-4)
    assert one.law((0, 2)).standard_error == pytest.approx(one.variance((0, 2)) ** 0.5)


def test_a_cover_promises_the_variances_that_its_bins_have():
    """What a choice between covers predicts is what least squares over their bins gives, by another formula."""
    bases = [(0, 1, 2), (1, 4), (0, 2, 3), (1, 2, 3, 5)]
    found = estimates(bin_answer(bases, [[0]]))
    for itemset in found.counts:
        if itemset:
            expected = found.variance(itemset) / found.answer.noise.variance
            assert cover_variance([itemset], bases) == pytest.approx(expected), itemset
    assert cover_variance([(1,), (2, 3)], bases) == pytest.approx(
        (found.variance((1,)) + found.variance((2, 3))) / 2 / found.answer.noise.variance
    )


def test_sure_counts_are_released_as_measured():
    """A precise count keeps its value, an imprecise one moves towards what counts usually are."""
    sure = released(beliefs({(1,): 210.0}), None, 1)
    assert sure.counts.tolist() == [210.0]
    vague = Beliefs(Threshold(100.0, 1.0, 1000.0, None), ((1,),), log_prior(np.ones(1)), np.zeros(1), np.array([1e9]))
    found = released(vague, None, 1)
    assert found.believed
    assert 0 < found.counts[0] < 6 * 100
    assert found.laws[0].half_width(0.99) <= 1.1 * GRID[-1] * 100


def test_levels_and_refinement_tell_the_same_story():
    """What refinement believes before its own look is what selection has handed over."""
    kept = {}

    class Watch:
        """Keeps results."""

        @hookimpl
        def stage_finished(self, stage, result):
            """Keep the result."""
            kept[stage] = result

    rows = [[1, 2, 3]] * 900 + [[2, 3]] * 500 + [[item] for item in range(24) for _ in range(30)]
    Pipeline("plus", select_elements="bounded-levels", construct_basis="first-fit", reconstruct_counts="refine").run(
        Transactions.from_lists(rows, range(24)), 7, 2, simulate=True, seed=4, observers=[Watch()]
    )
    elements, basis, counts = (kept[stage] for stage in ("select_elements", "construct_basis", "reconstruct_counts"))
    named = {*((item,) for item in elements.items), *elements.itemsets}
    assert set(basis.candidates) == named
    assert named <= set(counts.itemsets)
    assert {(2, 3), (1, 2)} <= named
    assert (1, 2, 3) in counts.itemsets


def test_a_scale_is_told_by_the_standard_deviation() -> None:
    """Noise of another shape has a scale of another meaning, but a standard deviation of the same."""

    class Other(Noise):
        @property
        def variance(self) -> float:
            return 50.0

    assert scale_of(Other(3)) == 5
    assert scale_of(Laplace(7)) == scale_of(DiscreteLaplace(7)) == pytest.approx(7)


def request_of(**options):
    """What the stages of a run are asked for."""
    asked = []

    class Listening:
        """Keeps the request."""

        @hookimpl
        def select_elements(self, request):
            """Keep, and select nothing."""
            asked.append(request)
            return Elements(())

    data = Transactions.from_lists([[0, 1], [1]], range(24))
    Pipeline("plus", select_elements=Listening()).run(data, 3, 1, simulate=True, seed=0, **options)
    return asked[0]


def test_noise_grows_with_the_norm_of_the_definition():
    """Nine answers that move by 1 each have nine times the noise in pure ε, and three times with a δ."""
    for options, power, times in (({}, 1.0, 9), ({"delta": "1e-6"}, 0.5, 3)):
        request = request_of(**options)
        assert growth(request) == power
        assert scale_at(request, 1, 9) == pytest.approx(times * scale_at(request, 1))
        # A draw that is charged a fourth of the budget.
        assert draw_scale_at(request, Fraction(1, 4)) == pytest.approx(4**power * draw_scale_at(request, 1))


@pytest.mark.parametrize("bound", [1, 7, 40])
def test_weights_use_up_the_norm_that_the_noise_goes_by(bound):
    """A transaction of many candidates adds the bound in the L1 norm, or its root in the L2 norm, and hardly less."""
    itemsets = [(item,) for item in range(100)]
    linear, root = (BoundedSupports(itemsets, weights_for(bound, 100, power)).sensitivity for power in (1, 0.5))
    assert 0.95 * bound * UNIT <= linear.l1 <= bound * UNIT
    assert 0.95 * bound * UNIT**2 <= root.l2_squared <= bound * UNIT**2
    assert (weights_for(bound, 100, 0.5) >= weights_for(bound, 100, 1)).all()


def test_a_larger_bound_pays_where_noise_grows_less():
    """The same noise for a bound of 1, and transactions of up to 26 candidates."""
    found = Holdings.cleaned(edges_for(26), np.array([0.0, *[100.0] * 9]), 1.0)
    linear, root = (best_bound(found, 1000.0, 20.0, 100, power) for power in (1.0, 0.5))
    assert root[0] > linear[0]
    assert root[1] < linear[1]


def test_more_bases_pay_where_noise_grows_less():
    """Twelve pairs in a chain: one long basis in pure ε, several short ones with a δ."""
    pairs = [(item, item + 1) for item in range(12)]
    assert len(best_cover(pairs, power=0.5).bases) > len(best_cover(pairs).bases)
