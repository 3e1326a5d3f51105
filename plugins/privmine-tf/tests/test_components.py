"""The components in a run: budgets, clamps, odd databases, and what they refuse."""

from __future__ import annotations

from fractions import Fraction

import pytest
from privmine_tf.allocate import Halves
from privmine_tf.construct import SelectedAsBases
from privmine_tf.estimate import NoLambda
from privmine_tf.reconstruct import DirectSupports
from privmine_tf.select import MonotoneTruncated, NoisyTruncated, Truncated

from privmine import Pipeline, PrivmineError, Transactions, groceries, mine
from privmine.api import BasisSet, Elements, InputError, hookimpl
from privmine.noise.simulated import SimulatedNoise
from privmine.testing import check_component

METHODS = ["tf", "tf-monotone", "tf-noisy"]
SELECTORS = [Truncated, MonotoneTruncated, NoisyTruncated]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("epsilon", ["1", "0.1", "1/3", 7])
def test_a_run_spends_exactly_epsilon_in_two_halves(tiny, method, epsilon):
    """One half buys the choice, the other k + 1 supports; nothing is left and nothing is exceeded."""
    receipt = mine(tiny.transactions([[0, 1], [1, 2]], 4), 3, epsilon, method=method).receipt
    assert [(charge.stage, charge.cost.amount) for charge in receipt.charges] == [
        ("select_elements", Fraction(epsilon) / 2),
        ("reconstruct_counts", Fraction(epsilon) / 2),
    ]
    assert receipt.spent.amount == Fraction(epsilon) == receipt.cost.amount
    assert "left unspent" not in {charge.mechanism for charge in receipt.charges}
    assert receipt.charges[1].query == "supports of 4 itemsets"
    assert all(charge.verified for charge in receipt.charges)


@pytest.mark.parametrize(
    ("method", "rate", "scale"),
    [("tf", Fraction(1, 20), None), ("tf-monotone", Fraction(1, 10), None), ("tf-noisy", None, Fraction(20))],
)
def test_rates_and_scales_are_the_published_ones(tiny, listen, method, rate, scale):
    """At ε = 1 and k = 5: the exponent ε/(4k), twice that for monotone scores, and noise of 4k/ε."""
    found = listen(method, tiny.transactions([[0, 1], [1, 2]], 4), k=5, epsilon=1)
    assert (found.rate, found.scale) == (rate, scale)


def test_counts_have_noise_for_k_supports_and_the_number_of_transactions(tiny):
    """With ε = 1 and k = 5 the noise of each count has scale 2·(k + 1), and N is among what it covers."""
    release = mine(tiny.transactions([[0, 1], [1, 2]] * 5000, 4), 5, 1, method="tf")
    assert "scale 12" in release.receipt.charges[1].mechanism
    assert abs(release.total - 10_000) < 12 * 25  # exceeded with a probability of e^(−25)
    assert release.total_error == pytest.approx(12 * 2**0.5, rel=0.01)
    assert {found.standard_error for found in release.itemsets} == {release.total_error}


@pytest.mark.parametrize("method", METHODS)
def test_clear_cases_are_found(method):
    """With much data and a small ρ, the most frequent itemsets are those released, in simulation and for real."""
    baskets = [["a", "b"]] * 4000 + [["a"]] * 3000 + [["b", "c"]] * 1000 + [[]] * 100
    transactions = Transactions.from_lists(baskets, items=list("abcdefghij"))
    pipeline = Pipeline(method, select_elements={"rho": "1e-12"})
    for options in ({}, {"simulate": True, "seed": 4}):
        release = pipeline.run(transactions, 3, 2, **options)
        assert {found.items for found in release.itemsets} == {("a",), ("b",), ("a", "b")}
        assert [round(found.count, -3) for found in release.itemsets] == [7000, 5000, 4000]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("simulate", [False, True])
@pytest.mark.parametrize(
    ("baskets", "items", "k", "expected"),
    [
        ([], 3, 4, 4),
        ([], 0, 4, 0),
        ([[], []], 0, 1, 0),
        ([[0]], 1, 1, 1),
        ([[0]], 1, 9, 1),
        ([[], [], []], 5, 2, 2),
        ([[0, 1, 2]], 3, 100, 6),
        ([[0, 1, 2]] * 3, 3, 6, 6),
    ],
    ids=[
        "no transactions",
        "nothing at all",
        "no items",
        "one item",
        "k > |U| = 1",
        "empty ones",
        "k > |U|",
        "k = |U|",
    ],
)
def test_odd_databases_give_a_release(tiny, method, simulate, baskets, items, k, expected):
    """However little there is, the run ends with min(k, |U|) distinct itemsets and ε spent."""
    release = mine(tiny.transactions(baskets, items), k, 1, method=method, simulate=simulate)
    assert len({found.items for found in release.itemsets}) == len(release.itemsets) == expected
    assert release.requested == k
    assert release.receipt.spent.amount == 1


@pytest.mark.parametrize("method", METHODS)
def test_the_requested_length_is_respected(tiny, method):
    """max_length takes precedence over a larger m, and m over a larger max_length."""
    transactions = tiny.transactions([[0, 1, 2, 3, 4]] * 30, 5)
    pipeline = Pipeline(method, select_elements={"m": 3})
    for max_length, longest, possible in ((1, 1, 5), (2, 2, 15), (3, 3, 25), (5, 3, 25), (None, 3, 25)):
        release = pipeline.run(transactions, 100, 1, max_length=max_length)
        assert {len(found.items) for found in release.itemsets} == set(range(1, longest + 1))
        assert len(release.itemsets) == possible


def test_the_limit_rises_to_k(tiny, listen):
    """A k beyond M raises M, which stays public: nothing is refused in the middle of a run."""
    found = listen("tf", tiny.transactions([], 10), k=50, epsilon=1, parameters={"explicit_limit": 20})
    assert (found.query.k, found.query.explicit_limit) == (50, 50)
    assert len(found.chosen) == 50


def test_simulations_are_repeatable():
    """The same seed gives the same release, for each method."""
    for method in METHODS:
        one, same, other = (
            mine(groceries(), 20, 1, method=method, simulate=True, seed=seed).itemsets for seed in (1, 1, 2)
        )
        assert one == same != other


class NoLaplaceTop:
    """A source of noise that lacks the one thing."""

    private = False
    name = "half a source"

    def __init__(self):
        whole = SimulatedNoise(0)
        self.draws, self.add, self.select, self.below = whole.draws, whole.add, whole.select, whole.below


def test_noise_that_cannot_select_by_noise_is_refused_before_a_charge(tiny):
    """A source without noisy_top is named, and nothing is charged."""
    with pytest.raises(PrivmineError, match=r"'half a source' has no noisy_top.*Nothing was charged"):
        mine(tiny.transactions([[0]], 2), 1, 1, method="tf-noisy", noise=NoLaplaceTop())
    assert len(mine(tiny.transactions([[0]], 2), 1, 1, method="tf", noise=NoLaplaceTop()).itemsets) == 1


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"m": 0}, "m must be a whole number from 1 to 20, not 0"),
        ({"m": 21}, "m must be a whole number from 1 to 20, not 21"),
        ({"m": True}, "m must be a whole number"),
        ({"m": None}, "m must be a whole number"),
        ({"rho": 0}, "rho bounds a probability"),
        ({"rho": 1}, "rho bounds a probability"),
        ({"gamma": -1}, "gamma must be a whole number of at least 0"),
        ({"gamma": 1.5}, "gamma must be a whole number"),
        ({"explicit_limit": 0}, "explicit_limit must be a whole number of at least 1"),
    ],
)
def test_senseless_parameters_are_refused(selector, parameters, message):
    """A parameter that means nothing is named when the component is made, before any run."""
    with pytest.raises(InputError, match=message):
        selector(**parameters)


def test_parameters_can_be_text():
    """Parameters from a command line arrive as text and become what they mean."""
    pipeline = Pipeline("tf", select_elements={"m": "3", "rho": "0.25", "gamma": "17"})
    assert pipeline.parts["select_elements"].component == Truncated(m=3, rho=Fraction(1, 4), gamma=17)
    assert Pipeline("tf").parts["select_elements"].component == Truncated(2, Fraction(9, 10), None, 20_000)


def test_selected_itemsets_become_bases_and_candidates():
    """Each selected itemset is a basis and a candidate, once; of items alone, the single items are."""
    selected = Elements((4, 1, 2), [(4,), (1, 2), (4,), ()])
    assert SelectedAsBases().construct_basis(selected) == BasisSet([(4,), (1, 2)], [(4,), (1, 2)])
    assert SelectedAsBases().construct_basis(Elements((4, 1))) == BasisSet([(4,), (1,)], [(4,), (1,)])
    assert SelectedAsBases().construct_basis(Elements(())) == BasisSet((), ())


@pytest.mark.parametrize("construct", ["direct", "greedy-merge"])
@pytest.mark.parametrize("reconstruct", ["direct", "basis-frequencies"])
def test_stages_mix_with_those_of_privbasis(construct, reconstruct):
    """What TF selects can be covered and counted as PrivBasis does, and the other way round."""
    for select in ("truncated-monotone", "items-and-pairs"):
        pipeline = Pipeline(select_elements=select, construct_basis=construct, reconstruct_counts=reconstruct)
        release = pipeline.run(groceries(), 30, 1, simulate=True, seed=5)
        assert 0 < len(release.itemsets) <= 30
        assert release.receipt.spent.amount == 1


def test_items_of_a_selection_are_those_of_its_itemsets(tiny):
    """The elements name every item that a selected itemset has, so that any basis strategy can use them."""
    kept = []

    class Watch:
        """Keeps results."""

        @hookimpl
        def stage_finished(self, stage, result):
            """Keep the result."""
            kept.append((stage, result))

    Pipeline("tf").run(tiny.transactions([[0, 1, 2]] * 9, 5), 6, 1, observers=[Watch()])
    elements = dict(kept)["select_elements"]
    assert len(elements.itemsets) == 6
    assert set(elements.items) == {item for found in elements.itemsets for item in found}
    assert len(set(elements.items)) == len(elements.items)


@pytest.mark.parametrize("component", [Halves, NoLambda, *SELECTORS, SelectedAsBases, DirectSupports])
def test_every_component_states_its_privacy(component):
    """Each component says in its documentation which queries it asks and why that is paid for."""
    assert "Privacy:" in component.__doc__


@pytest.mark.parametrize("component", [Halves, NoLambda, *SELECTORS, SelectedAsBases, DirectSupports])
def test_every_component_keeps_the_contracts_of_its_stage(component):
    """The kit for plugin authors finds nothing wrong: charges, totality, no data access around the curator."""
    check_component(component())


def test_components_are_values():
    """Components compare by their parameters and cannot be changed."""
    assert Truncated(m=3) == Truncated(m=3) != Truncated(m=2)
    assert Truncated() != MonotoneTruncated()
    with pytest.raises(AttributeError):
        Truncated().m = 3
