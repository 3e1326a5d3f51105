from __future__ import annotations

import json
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from attrs import evolve, frozen
from attrs.exceptions import FrozenInstanceError
from hypothesis import given, settings
from hypothesis import strategies as st

import privmine as pm
from privmine.api import BasisSet, BudgetPlan, Elements, Estimate, ItemSupports, NoiseSum, NoisyCounts, PureDP, hookimpl
from privmine.defaults.allocate import FixedShares
from privmine.defaults.construct import GreedyBasis
from privmine.defaults.estimate import RankGapLambda, lambda_range
from privmine.defaults.reconstruct import BasisFrequencies
from privmine.defaults.select import ItemsAndPairs, pair_target
from privmine.errors import ContractError, InputError, PluginError, PrivmineWarning, StageError, UnknownNameError
from privmine.model import Public, Request, Universe
from privmine.pipeline.settings import override, read_spec
from privmine.privacy import UNSPENT, Laplace
from privmine.store.memory import MemoryStore

SMALL = [["a", "b"], ["a"], ["b", "c"], []]


def simulate(baskets=SMALL, k=3, epsilon=1, **options):
    return pm.mine(baskets, k, epsilon, simulate=True, seed=1, **options)


# Charges


@frozen
class FixedLambda:
    """Answers a λ without looking, so that a test can pick the branch."""

    lam: int

    @hookimpl
    def estimate_lambda(self) -> Estimate:
        return Estimate(lam=self.lam)


databases = st.lists(st.sets(st.integers(0, 29), max_size=12).map(list), max_size=30)
budgets = st.fractions(min_value=Fraction(1, 900), max_value=20, max_denominator=997)


@settings(max_examples=60, deadline=None)
@given(baskets=databases, k=st.integers(1, 60), epsilon=budgets, seed=st.integers(0, 2**32))
def test_the_charges_sum_to_epsilon(baskets, k, epsilon, seed) -> None:
    """Whatever the data, k and ε: nothing is left over and nothing is overspent, to the last digit."""
    data = pm.Transactions.from_lists(baskets, items=list(range(30)))
    release = pm.mine(data, k, epsilon, simulate=True, seed=seed)
    assert release.receipt.spent.amount == release.receipt.cost.amount == epsilon
    assert UNSPENT not in {charge.mechanism for charge in release.receipt.charges}


@pytest.mark.parametrize(
    ("lam", "k", "selections"),
    [
        pytest.param(0, 20, 0, id="no items"),
        pytest.param(12, 20, 1, id="one basis"),
        pytest.param(13, 20, 2, id="pairs"),
        pytest.param(20, 20, 2, id="λ = k"),
        pytest.param(25, 20, 1, id="λ beyond η·k, so no pairs"),
        pytest.param(30, 40, 2, id="all items"),
    ],
)
def test_every_branch_spends_exactly_epsilon(lam: int, k: int, selections: int) -> None:
    """Each branch of the selection pays the whole budget in as many selections as it makes."""
    data = pm.Transactions.from_lists([[1, 2, 3], [2, 3]], items=list(range(30)))
    epsilon = Fraction(7, 11)
    release = pm.Pipeline(estimate_lambda=FixedLambda(lam)).run(data, k, epsilon, simulate=True, seed=1)
    charged = [charge.stage for charge in release.receipt.charges]
    assert charged == ["select_elements"] * selections + ["reconstruct_counts"]
    assert release.receipt.spent.amount == epsilon
    assert UNSPENT not in {charge.mechanism for charge in release.receipt.charges}


def test_shares_are_exact_tenths() -> None:
    """0.1, 0.4 and 0.5 are tenths, not their binary neighbours."""
    data = pm.Transactions.from_lists(SMALL, items=list(range(40)))
    charges = pm.mine(data, 30, "0.3", simulate=True, seed=1).receipt.charges
    by_stage = {
        stage: sum(charge.cost.amount for charge in charges if charge.stage == stage)
        for stage in ("estimate_lambda", "select_elements", "reconstruct_counts")
    }
    assert list(by_stage.values()) == [Fraction(3, 100), Fraction(12, 100), Fraction(15, 100)]


def test_what_a_stage_leaves_goes_to_the_next() -> None:
    """Where λ can only be 1 it costs nothing, and the selection has its share as well."""
    charges = simulate(k=1).receipt.charges
    assert [(charge.stage, charge.cost.amount) for charge in charges] == [
        ("select_elements", Fraction(1, 2)),
        ("reconstruct_counts", Fraction(1, 2)),
    ]


# Totality


@pytest.mark.parametrize("simulated", [True, False])
@pytest.mark.parametrize(
    ("baskets", "items"),
    [
        pytest.param([], [], id="nothing at all"),
        pytest.param([], ["a", "b"], id="no transactions"),
        pytest.param([[], [], []], [], id="empty transactions, no items"),
        pytest.param([[], []], ["a"], id="empty transactions"),
        pytest.param([["a"]], ["a"], id="one item"),
        pytest.param([["a", "b"]] * 5, list("abcdefghijklmnopqrstuvwxyz"), id="mostly absent items"),
    ],
)
@pytest.mark.parametrize("k", [1, 100])
def test_stages_are_total(baskets, items, k, simulated) -> None:
    """What the data merely contains is no error, and the budget is spent all the same."""
    data = pm.Transactions.from_lists(baskets, items=items)
    release = pm.mine(data, k, 1, simulate=simulated, **({"seed": 1} if simulated else {}))
    assert release.receipt.spent.amount == 1
    assert release.requested == k
    assert len(release) <= min(k, 2 ** len(items) - 1)
    assert release.total >= 1


@pytest.mark.parametrize("baskets", [[], [[], []]])
def test_data_without_items_is_not_charged(tmp_path, baskets) -> None:
    """Where nobody named a universe there is nothing to release, which is no secret, and nothing to pay for."""
    ledger = pm.Ledger(tmp_path / "budget.db")
    ledger.init("orders", 1)
    with pytest.raises(InputError, match=r"no items.*items="):
        pm.mine(baskets, 3, 1, ledger=ledger, dataset="orders")
    assert ledger.budget("orders").spent_epsilon == 0


@pytest.mark.parametrize("table", [pd.DataFrame({"order_id": [1], "product": ["a"]}), np.eye(2)])
def test_a_frame_is_to_be_read_first(table) -> None:
    """The names of its columns must be said, and pm.read takes them."""
    with pytest.raises(InputError, match=r"pm\.read\(frame, transaction="):
        pm.mine(table, 3, 1)


def test_all_itemsets_are_found_where_the_universe_is_small() -> None:
    """k beyond the number of itemsets gives all of them, and never pads."""
    release = simulate([["a", "b"]] * 50, k=100, epsilon=100)
    assert sorted(found.items for found in release) == [("a",), ("a", "b"), ("b",)]
    assert release.requested == 100


def test_max_length_limits_what_is_released() -> None:
    """No longer itemset comes out, and the budget is still spent whole."""
    data = [["a", "b", "c"]] * 100
    release = simulate(data, k=7, epsilon=50, max_length=2)
    assert {len(found.items) for found in release} == {1, 2}
    assert release.receipt.spent.amount == 50


def test_high_epsilon_finds_the_exact_answer() -> None:
    """With next to no noise the release is the truth."""
    data = [["milk", "bread"]] * 40 + [["milk"]] * 30 + [["tea"]] * 20
    release = pm.mine(data, 3, 5000)
    assert [(found.items, round(found.count)) for found in release] == [
        (("milk",), 70),
        (("bread",), 40),
        (("bread", "milk"), 40),
    ]
    assert round(release.total) == 90


def test_a_simulation_repeats_under_its_seed() -> None:
    """The same seed gives the same release, another seed another one."""
    assert simulate() == simulate()
    assert simulate() != pm.mine(SMALL, 3, 1, simulate=True, seed=2)


def test_input_order_does_not_matter() -> None:
    """Ties are broken by public order, so the order of baskets and of items in them changes nothing."""
    shuffled = [["c", "b"], [], ["b", "a"], ["a", "a"]]
    assert simulate(shuffled) == simulate(SMALL)


# Choice of components


def test_components_by_name_by_mapping_and_by_instance_are_the_same() -> None:
    """Three ways to say one thing."""
    ways = (
        pm.Pipeline(construct_basis={"use": "greedy-merge", "max_length": 10}),
        pm.Pipeline(construct_basis={"max_length": 10}),
        pm.Pipeline(construct_basis=GreedyBasis(max_length=10)),
        pm.Pipeline.from_spec(override({}, ["construct_basis.max_length=10"])),
    )
    assert {repr(way) for way in ways} == {repr(ways[0])}
    assert "max_length=10" in repr(ways[0])


def test_a_pipeline_file(tmp_path) -> None:
    """A TOML file starts from a preset and overrides it; decimals in it stay exact."""
    path = tmp_path / "mine.toml"
    path.write_text('method = "privbasis"\n[stages.estimate_lambda]\nuse = "rank-gap"\neta = 1.2\n')
    pipeline = pm.Pipeline.from_file(path)
    assert pipeline.parts["estimate_lambda"].component == RankGapLambda(eta=Fraction(6, 5))


def test_choosing_another_component_drops_the_former_ones_parameters() -> None:
    """--set STAGE=NAME starts that stage afresh."""
    spec = override({"stages": {"construct_basis": {"use": "x", "limit": 3}}}, ["construct_basis=greedy-merge"])
    assert spec["stages"]["construct_basis"] == {"use": "greedy-merge"}


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: pm.Pipeline("privbassis"), UnknownNameError, "Did you mean 'privbasis'"),
        (lambda: pm.Pipeline(construct_basis="gredy-merge"), UnknownNameError, "Did you mean 'greedy-merge'"),
        (lambda: pm.Pipeline(construct_basis={"max_lenght": 3}), UnknownNameError, "Did you mean 'max_length'"),
        (lambda: pm.Pipeline(construct_basis={"max_length": "long"}), InputError, "max_length|cannot be made"),
        (lambda: pm.Pipeline(allocate_budget={"alpha1": 0.9}), InputError, "exceeds 1"),
        (lambda: pm.Pipeline(allocate_budget={"alpha1": -1}), InputError, "negative"),
        (lambda: pm.Pipeline(estimate_lambda={"eta": 0.5}), InputError, "at least 1"),
        (lambda: pm.Pipeline(construct_basis=GreedyBasis), InputError, "write GreedyBasis()"),
        (lambda: override({}, ["construct_basis"]), InputError, "STAGE=COMPONENT"),
        (lambda: override({}, ["construct=single"]), UnknownNameError, "stage"),
    ],
)
def test_a_wrong_choice_says_what_to_do(make, error, words) -> None:
    """Unknown names come with close matches, wrong values with the reason."""
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("method = 3", "method must be a name"),
        ("[stages]\nconstruct_basis = 3", "must be a table"),
        ("[stages.construct]\nuse = 'x'", "no stage named"),
        ("[stage.construct_basis]", "no key"),
        ("method = ", "not a valid TOML"),
    ],
)
def test_a_wrong_pipeline_file_says_what_to_do(tmp_path, content: str, words: str) -> None:
    """Each flaw of a file has its sentence."""
    path = tmp_path / "pipeline.toml"
    path.write_text(content)
    with pytest.raises(pm.PrivmineError, match=words):
        read_spec(path)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"metod": "privbasis"}, "'metod'. Did you mean 'method'?"),
        ({"stage": {}}, "'stage'. Did you mean 'stages'?"),
        ({"stages": {"construct_bass": "greedy-merge"}}, "'construct_bass'. Did you mean 'construct_basis'"),
        ({"method": 3}, "method must be a name"),
        ("privbasis", "a mapping with method and stages, not 'privbasis'"),
    ],
)
def test_a_wrong_mapping_is_refused_as_a_wrong_file_is(spec, words: str) -> None:
    """What a file may not hold, a mapping may not hold either: nobody would notice that it does nothing."""
    with pytest.raises(pm.PrivmineError, match=re.escape(words)):
        pm.Pipeline.from_spec(spec)


def test_a_missing_pipeline_file() -> None:
    """A file that is not there is named."""
    with pytest.raises(pm.PrivmineError, match=r"nowhere\.toml"):
        pm.Pipeline.from_file("nowhere.toml")


@pytest.mark.parametrize("use", [pm.mine, pm.plan])
def test_a_pipeline_is_no_method(use) -> None:
    """Whoever has a pipeline is told how to run it."""
    options = {"transactions": 100, "items": 5} if use is pm.plan else {"baskets": [["a"]]}
    with pytest.raises(InputError, match=re.escape("not Pipeline. A Pipeline is run by itself: pipeline.run(")):
        use(k=5, epsilon=1, method=pm.Pipeline(), **options)


# Bad input


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"k": 0}, "at least 1"),
        ({"k": -3}, "at least 1"),
        ({"k": 2.5}, "whole number"),
        ({"k": True}, "whole number"),
        ({"k": "many"}, "whole number"),
        ({"epsilon": 0}, "greater than 0"),
        ({"epsilon": -1}, "greater than 0"),
        ({"epsilon": float("nan")}, "finite"),
        ({"epsilon": float("inf")}, "finite"),
        ({"epsilon": "nan"}, "must be a number"),
        ({"epsilon": "lots"}, "must be a number"),
        ({"epsilon": "1e999999999"}, "too many digits"),
        ({"epsilon": "9" * 2000}, "too many digits"),
        ({"epsilon": "1/0"}, "must be a number"),
        ({"epsilon": "-1e400"}, "greater than 0"),
        ({"epsilon": "1e400"}, "must lie between"),
        ({"epsilon": None}, "Specify the privacy budget"),
        ({"epsilon": 1e9}, "must lie between"),
        ({"epsilon": 1e-12}, "must lie between"),
        ({"max_length": 0}, "at least 1"),
        ({"dataset": "orders"}, "ledger"),
        ({"output": "release.xls"}, "Cannot tell a format"),
        ({"output": "nowhere/release.csv"}, "no directory"),
    ],
)
def test_bad_input_is_refused_before_anything_is_spent(change, words) -> None:
    """One sentence that says what to do; the data is not even looked at."""
    with pytest.raises(InputError, match=words):
        pm.mine(SMALL, **{"k": 3, "epsilon": 1, **change})


def test_a_seed_needs_simulation() -> None:
    """A predictable release would protect nobody."""
    with pytest.raises(InputError, match="simulate=True"):
        pm.mine(SMALL, 3, 1, seed=1)


def test_strict_refuses_a_universe_from_the_data() -> None:
    """What items occur at all is private, unless the user names them."""
    with pytest.raises(InputError, match="items="):
        pm.mine(SMALL, 3, 1, strict=True)
    named = pm.read(SMALL, items=["a", "b", "c"])
    assert pm.mine(named, 3, 1, strict=True).receipt.assumptions == ()


@pytest.mark.parametrize("label", ["\ud800", "fine\udfff"])
def test_a_label_that_no_file_can_hold_is_refused(label) -> None:
    """Before anything is spent, not when the release is saved."""
    with pytest.raises(InputError, match="surrogate"):
        pm.read([[label]])


def test_a_repeated_item_in_the_universe_is_refused() -> None:
    """Every item is listed once."""
    with pytest.raises(InputError, match="more than once"):
        pm.read(SMALL, items=["a", "b", "a"])


# Receipts


def test_the_receipt_states_its_assumptions() -> None:
    """Universe from the data, public N and simulation are each said."""
    text = "\n".join(simulate(n_public=True).receipt.assumptions)
    assert "universe was taken from the data" in text
    assert "number of transactions, 4, is public" in text
    assert "must not be released" in text


def test_public_n_is_exact_and_its_price_is_said() -> None:
    """Frequencies use N itself, and replacing one transaction costs 2ε."""
    release = pm.mine(SMALL, 3, "0.75", n_public=True)
    assert (release.total, release.total_error) == (4, 0)
    assert release.receipt.lines()[0] == "Privacy: pure ε-differential privacy, ε = 1.5"
    assert "replacing it by another" in release.receipt.protects
    assert "adding or removing" not in str(release.receipt)
    words = r"Total: ε = 0.75 in \d charges if one is added or removed; ε = 1.5 if one replaces another"
    assert re.search(words, str(release.receipt))


def test_n_is_private_by_default() -> None:
    """Nothing of a release depends on N but through noise: the total is noisy and its error is stated."""
    release = simulate()
    assert release.total_error > 0
    assert "4, is public" not in str(release.receipt)


def test_the_receipt_names_every_component() -> None:
    """Stage by stage, with parameters and distribution."""
    pipeline = simulate().receipt.pipeline
    assert pipeline["construct_basis"] == "greedy-merge(max_length=12) from privmine"
    assert len(pipeline) == 5


def test_the_receipt_says_what_cannot_be_listed() -> None:
    """Which items and bases there are was chosen under noise, so that frequent itemsets may be missing."""
    baskets = [[f"item {number % 50}", f"item {(number * 7) % 50}"] for number in range(300)]
    notes = simulate(baskets, k=20).receipt.notes
    assert re.fullmatch(
        r"only itemsets made of \d+ of the 50 items, those that were selected,( and within one of the \d+ bases)? "
        "can be listed; others may be as frequent",
        notes[0],
    )
    assert simulate(baskets, k=20, method="tf", max_length=2).receipt.notes == (
        "only the 20 itemsets that were selected can be listed; others may be as frequent",
    )


def test_a_release_that_can_list_everything_does_not_say_otherwise() -> None:
    """One basis of all items has every itemset, and so has a choice of all of them."""
    assert simulate(k=7).receipt.notes == ()
    assert simulate(k=6, method="tf", max_length=2).receipt.notes == ()


# Observers


class Recorder:
    """Watches a run."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []
        self.components: list[tuple[str, object]] = []
        self.charged = Fraction(0)

    @hookimpl
    def stage_started(self, stage, component) -> None:
        self.seen.append(("started", stage))
        self.components.append((stage, component))

    @hookimpl
    def stage_finished(self, stage, component, result, charges) -> None:
        self.seen.append(("finished", type(result).__name__))
        self.components.append((stage, component))
        self.charged += sum(charge.cost.amount for charge in charges)


def test_observers_see_every_stage() -> None:
    """Started and finished, by which component, with the result and what it cost."""
    recorder = Recorder()
    pipeline = pm.Pipeline()
    pipeline.run(SMALL, 3, 1, simulate=True, observers=[recorder])
    parts = [(stage, part.component) for stage, part in pipeline.parts.items()]
    assert recorder.components == [seen for part in parts for seen in (part, part)]
    assert [name for event, name in recorder.seen if event == "finished"] == [
        "BudgetPlan",
        "Estimate",
        "Elements",
        "BasisSet",
        "NoisyCounts",
    ]
    assert recorder.charged == 1


class Saboteur:
    """Tries to change results, then fails."""

    @hookimpl
    def stage_finished(self, result):
        if isinstance(result, NoisyCounts):
            try:
                result.counts[:] = 0
            except ValueError as error:
                raise RuntimeError from error
        return "something else"


def test_an_observer_changes_nothing() -> None:
    """Results are read-only, what an observer returns is dropped, and what it raises is a warning."""
    with pytest.warns(PrivmineWarning, match="stage_finished"):
        watched = pm.Pipeline().run(SMALL, 3, 1, simulate=True, seed=1, observers=[Saboteur()])
    assert watched == simulate()


# Faults in the middle of a run


@frozen
class Failing:
    """Fails after it was charged."""

    @hookimpl
    def select_elements(self, curator) -> Elements:
        from privmine.api import ItemSupports

        curator.choose(ItemSupports(3), 1, PureDP().cost("0.1"))
        raise KeyError("lost")


def test_a_fault_says_what_was_charged() -> None:
    """The stage, the component, the distribution and the sum that stays charged."""
    pipeline = pm.Pipeline(select_elements=Failing(), estimate_lambda=FixedLambda(1))
    with pytest.raises(StageError, match=r"select_elements=Failing .* ε = 0\.1 was charged") as caught:
        pipeline.run(SMALL, 3, 1, simulate=True)
    assert caught.value.charged.amount == Fraction(1, 10)


@frozen
class Outsider:
    """Names an item that does not exist."""

    @hookimpl
    def select_elements(self) -> Elements:
        return Elements([99])


def test_an_item_outside_the_universe_is_refused() -> None:
    """A plugin's answer is checked before it is used."""
    with pytest.raises(ContractError, match="outside the universe of 3 items"):
        pm.Pipeline(select_elements=Outsider()).run(SMALL, 3, 1, simulate=True)


class OddLaw:
    """A law of noise that cannot be used."""

    def half_width(self, level: float) -> float:
        return -level


class FailingLaw:
    """A law of noise that ends the program when it is asked."""

    def half_width(self, level: float) -> float:
        raise SystemExit(level)


@frozen
class OddLaws:
    """Counts as the default does, and says of all noise but that of the first count that it has another law.

    Privacy: that of the default.
    """

    @hookimpl
    def reconstruct_counts(self, basis, curator) -> NoisyCounts:
        found = BasisFrequencies().reconstruct_counts(basis, curator)
        first = found.top(1)[0]
        law_of = [0 if row == first else 1 for row in range(len(found.itemsets))]
        laws = [found.laws[found.law_of[first]], OddLaw()]
        return evolve(found, laws=laws, law_of=law_of, total_law=FailingLaw())


def test_a_release_outlives_laws_that_cannot_be_used(tmp_path) -> None:
    """It is paid for: the counts are kept with normal intervals, and the receipt names the laws and their component."""
    ledger = pm.Ledger(tmp_path / "ledger")
    ledger.init("shop", 1000)
    pipeline = pm.Pipeline(reconstruct_counts=OddLaws())
    release = pipeline.run(SMALL, 3, 100, ledger=ledger, dataset="shop", output=tmp_path / "release.csv")
    assert ledger.budget("shop").remaining_epsilon == 900
    assert [found.law is None for found in release] == [False, True, True]
    assert release.intervals(0.95)[1].high == pytest.approx(release[1].count + 1.959964 * release[1].standard_error)
    assert release.total_interval(0.95).high == pytest.approx(release.total + 1.959964 * release.total_error)
    notes = [note for note in release.receipt.notes if "reconstruct_counts=OddLaws from local code" in note]
    assert ["law OddLaw," in notes[0], "law FailingLaw," in notes[1], len(notes)] == [True, True, 2]
    assert not any(character.isdigit() for note in notes for character in note)
    assert pm.load(tmp_path / "release.csv") == release


@frozen
class Doubled:
    """Implements two stages at once."""

    @hookimpl
    def construct_basis(self, elements): ...

    @hookimpl
    def select_elements(self): ...


def test_a_component_stands_for_one_stage() -> None:
    """A component that would answer for another stage as well is refused before there is any data."""
    with pytest.raises(PluginError, match="must be implemented by the one component"):
        pm.Pipeline(construct_basis=Doubled())


# The algorithm's public numbers


def request(k: int, items: int, max_length: int | None = None) -> Request:
    return Request(k, k, PureDP().cost(1), Public(Universe.of(list(range(items)))), max_length)


@pytest.mark.parametrize(
    ("k", "items", "max_length", "expected"),
    [
        (100, 1000, None, (7, 100)),  # 2^7 − 1 = 127 ≥ 110 > 2^6 − 1
        (100, 50, None, (7, 50)),
        (1, 1000, None, (1, 1)),
        (3, 2, None, (2, 2)),
        (100, 1000, 1, (100, 100)),  # 110 singletons need 110 items; the lower end is clamped to the upper
        (100, 1000, 2, (15, 100)),  # 15 items have 15 + 105 = 120 ≥ 110 itemsets of at most 2
    ],
)
def test_the_range_of_lambda_is_public(k, items, max_length, expected) -> None:
    """From as many items as k₁ itemsets need, to k or all items."""
    from math import ceil

    asked = request(k, items, max_length)
    rank = min(ceil(Fraction(11, 10) * k), asked.public.universe.itemset_count(max_length))
    assert lambda_range(asked, rank) == expected


@pytest.mark.parametrize(
    ("lam", "k", "expected"),
    [
        (38, 100, 52),  # 72 / √(72/38)
        (20, 100, 42),  # 90 / √4.5
        (100, 100, 10),
        (110, 100, 0),
        (150, 100, 0),  # as printed, −40
        (13, 10_000, 78),  # clamped to C(13, 2)
    ],
)
def test_the_number_of_pairs_stays_within_bounds(lam, k, expected) -> None:
    """λ₂ is neither negative nor more than there are pairs."""
    assert pair_target(lam, k, Fraction(11, 10)) == expected


def test_the_default_pipeline_is_privbasis() -> None:
    """What `mine` runs unless told otherwise."""
    parts = [type(part.component) for part in pm.Pipeline().parts.values()]
    assert parts == [FixedShares, RankGapLambda, ItemsAndPairs, GreedyBasis, BasisFrequencies]


def test_a_guess_is_an_assumption_and_strict_mode_refuses_it(tmp_path) -> None:
    """A guess may look at the data, so the receipt says what was guessed, and --strict wants it said."""
    path = tmp_path / "orders.csv"
    path.write_text("order_id,product\n1,a\n1,b\n2,a\n")
    guessed = pm.read(path, items=["a", "b"])
    release = pm.mine(guessed, k=2, epsilon=1)
    assert any("detected (transaction='order_id', item='product')" in line for line in release.receipt.assumptions)
    with pytest.raises(InputError, match="transaction='order_id', item='product'"):
        pm.mine(guessed, k=2, epsilon=1, strict=True)
    said = pm.read(path, items=["a", "b"], transaction="order_id", item="product")
    assert pm.mine(said, k=2, epsilon=1, strict=True).receipt.assumptions == ()


@pytest.mark.parametrize("baskets", [0, -1, 0.001, True, "2"])
def test_a_unit_has_a_whole_number_of_transactions(baskets) -> None:
    """The scale of the noise is a multiple of it."""
    with pytest.raises(InputError, match="whole number of at least 1"):
        pm.api.Unit("customer", baskets)


def test_a_merged_unit_has_one_transaction() -> None:
    """More would be noise for nothing, and say that they were not merged."""
    with pytest.raises(InputError, match="exactly 1 if they are merged"):
        pm.api.Unit("customer", 2, merged=True)


# What a component may not return


@frozen
class Estimates:
    """Returns what it is told to."""

    lam: object = None
    theta: object = None

    @hookimpl
    def estimate_lambda(self) -> Estimate:
        return Estimate(lam=self.lam, theta=self.theta)


@pytest.mark.parametrize(
    "estimate",
    [
        Estimates(lam=True),
        Estimates(lam=1.0),
        Estimates(lam=2, theta=float("nan")),
        Estimates(lam=2, theta=float("inf")),
        Estimates(lam=2, theta=np.float64("nan")),
        Estimates(lam=2, theta=True),
        Estimates(lam=2, theta="3"),
    ],
    ids=str,
)
def test_an_estimate_is_made_of_numbers(estimate) -> None:
    """A truth value is none, and neither is NaN; both would pass for numbers in what follows."""
    with pytest.raises(ContractError, match=r"[λθ] = .* is not a (whole|finite) number"):
        simulate_with(estimate_lambda=estimate)


@pytest.mark.parametrize("theta", [None, 3, 2.5, np.int64(3), np.float32(2.5), Fraction(5, 2), -4.0], ids=repr)
def test_an_estimate_may_be_any_finite_number(theta) -> None:
    """Of Python or numpy."""
    assert simulate_with(estimate_lambda=Estimates(lam=2, theta=theta)).receipt.spent.amount == 1


def simulate_with(**parts):
    return pm.Pipeline(**parts).run(SMALL, 3, 1, simulate=True, seed=1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Elements([True, False]),
        lambda: Elements([0], [[0, True]]),
        lambda: BasisSet([[True]]),
        lambda: BasisSet([[0]], candidates=[[False]]),
        lambda: BasisSet([[0]], notes="one text"),
        lambda: BasisSet([[0]], notes=[1]),
        lambda: NoisyCounts([[0]], [True], [1.0], 5, 1),
        lambda: NoisyCounts([[0]], [1.0], [np.True_], 5, 1),
        lambda: NoisyCounts([[0]], [1.0], [1.0], True, 1),
        lambda: NoisyCounts([[0]], [1.0], [1.0], 5, False),
        lambda: NoisyCounts([[0]], [1.0], [1.0], 5, 1, [NoiseSum(Laplace(1), [(1, 1)])], [0.7]),
        lambda: NoisyCounts([[0]], [1.0], [1.0], 5, 1, [NoiseSum(Laplace(1), [(1, 1)])], [False]),
    ],
)
def test_truth_values_and_fractions_are_not_taken_for_whole_numbers(make) -> None:
    """Nor one text for a list of texts: Python would convert each of them in silence."""
    with pytest.raises(ContractError):
        make()


@pytest.mark.parametrize("share", [True, float("nan"), float("inf"), np.float64("nan"), "nan", np.True_], ids=repr)
def test_a_share_is_a_number(share) -> None:
    """Refused by the plan itself, in words."""
    with pytest.raises(InputError, match="A share of the budget must be"):
        BudgetPlan(estimate_lambda=share)


# What a receipt takes at its word


class BorrowedStore(MemoryStore):
    """Of a class that is not privmine's own."""


def test_a_foreign_store_is_told() -> None:
    """It clips and bounds on its own word, so that the receipt says whose word it is."""
    data = pm.Transactions.from_lists(SMALL, items=["a", "b", "c"])
    assert not pm.mine(data, 3, 1).receipt.assumptions
    borrowed = BorrowedStore.from_rows([0, 2, 3], [0, 1, 2], 3)
    release = pm.mine(evolve(data, store=borrowed), 3, 1)
    [sentence] = release.receipt.assumptions
    assert "the counting store is not privmine's own" in sentence
    assert f"Assumes: {sentence}" in release.receipt.lines()


def test_what_components_leave_of_epsilon_is_itemised(tmp_path) -> None:
    """It was charged all the same; the charges of every receipt sum to its ε, or no file with it could be loaded."""

    @frozen
    class Frugal:
        @hookimpl
        def reconstruct_counts(self, request, basis, curator):
            curator.measure(ItemSupports(len(request.public.universe)), curator.remaining / 2)
            return NoisyCounts([[0]], [1.0], [1.0], 5, 1)

    release = simulate_with(reconstruct_counts=Frugal())
    *_, measured, rest = release.receipt.charges
    assert (rest.mechanism, rest.cost) == (UNSPENT, measured.cost)
    assert release.receipt.spent.amount == 1
    release.save(tmp_path / "release.json")
    assert pm.load(tmp_path / "release.json") == release


def test_the_noise_of_an_audit_is_for_audits(tmp_path) -> None:
    """It says that it is private, but comes from a seed or from a record: no run takes it, nor charges for it."""
    from privmine.audit.recording import RecordingNoise, ReplayingNoise, observed_run
    from privmine.audit.trace import Trace

    ledger = pm.Ledger(tmp_path / "budget.db")
    ledger.init("orders", 1)
    for noise in (RecordingNoise(Trace(), 7), ReplayingNoise(Trace(), Trace())):
        with pytest.raises(InputError, match="belongs to an audit and protects nobody"):
            pm.mine([["a"]] * 50, k=1, epsilon=1, noise=noise, ledger=ledger, dataset="orders")
    assert ledger.budget("orders").spent_epsilon == 0
    trace = Trace()
    observed_run(pm.Pipeline(), [["a"]] * 50, RecordingNoise(Trace(), 7), trace, k=1, epsilon=1)
    assert any("not privmine's own" in sentence for sentence in trace.release.receipt.assumptions)


def test_a_pipeline_is_frozen() -> None:
    """What was checked when it was made cannot change before a run."""
    pipeline = pm.Pipeline()
    with pytest.raises(FrozenInstanceError):
        pipeline.trust = frozenset({"local code"})  # type: ignore[misc]
    assert pipeline.trusting(["Local_Code"]).trust == {"local-code"}
    assert pipeline.trust == frozenset()


def test_a_dry_run_is_a_value() -> None:
    """It has the components, the shares and who is protected, and reads as JSON."""
    planned = pm.Pipeline().dry_run(SMALL, 3, "0.5", simulate=True)
    assert planned.stages == pm.Pipeline().describe()
    assert sum(share.amount for share in planned.shares.values()) == Fraction(1, 2)
    assert planned.protects.startswith("nobody")
    assert json.loads(json.dumps(planned.to_dict()))["guaranteed_epsilon"] == "1/2"
    assert pm.Pipeline().dry_run(SMALL, 3, 1, n_public=True).guarantee.epsilon == 2


def test_a_dry_run_refuses_what_the_run_refuses() -> None:
    """Nothing is drawn for that."""
    with pytest.raises(InputError, match="Strict mode"):
        pm.Pipeline().dry_run(SMALL, 3, 1, strict=True)
