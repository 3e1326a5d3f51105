"""The kit: how it is called, components of every stage, and its audit."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from attrs import frozen
from honest_component import FEW, TELLING, Asks, Honest, NoHook
from hypothesis import given, settings
from slow_cases import slow_after

from privmine.api import (
    BasisSet,
    BinCounts,
    BudgetPlan,
    Curator,
    Estimate,
    IntArray,
    NoiseSum,
    NoisyCounts,
    Query,
    Request,
    Sensitivity,
    Store,
    hookimpl,
)
from privmine.errors import InputError, UnknownNameError
from privmine.testing import (
    FlawedComponentError,
    TrialCase,
    all_components,
    audit_component,
    check_component,
    find_flaws,
    parametrize_components,
    random_case,
)
from privmine.testing.strategies import databases, neighbours


class Understated(Query):
    """All item supports, declared as if a transaction held one item."""

    def __init__(self, items: int) -> None:
        self.size_ = items

    name = property(lambda self: "understated")  # type: ignore[assignment]
    size = property(lambda self: self.size_)  # type: ignore[assignment]
    sensitivity = property(lambda self: Sensitivity(1, 1, 1, monotone=True))  # type: ignore[assignment]

    def evaluate(self, store: Store) -> IntArray:
        """Count."""
        return store.item_supports()


@frozen
class Understates(Asks):
    """Measures with too little noise.

    Privacy: wrong.
    """

    def asked(self, request: Request, curator: Curator) -> list[int]:
        """Measure, and take the largest."""
        return [int(curator.measure(Understated(len(request.public.universe))).values.argmax())]


# --- the other stages ---------------------------------------------------------------------------


@frozen
class Greedy:
    """Shares that depend on the clock."""

    @hookimpl
    def allocate_budget(self) -> BudgetPlan:
        """Give the first stage whatever."""
        return BudgetPlan(Fraction(random.randint(1, 10**6), 10**7), Fraction(4, 10), Fraction(1, 10))  # noqa: S311


@frozen
class TooMuch:
    """Shares that exceed the whole."""

    @hookimpl
    def allocate_budget(self) -> BudgetPlan:
        """Promise more than there is."""
        return BudgetPlan(Fraction(1), Fraction(1), Fraction(1))


@frozen
class LargeLambda:
    """A λ that exceeds the universe.

    Privacy: looks at nothing.
    """

    @hookimpl
    def estimate_lambda(self, request: Request) -> Estimate:
        """Say k, whatever the universe."""
        return Estimate(lam=request.requested)


@frozen
class TooLongBasis:
    """One basis of everything, over and over."""

    @hookimpl
    def construct_basis(self, request: Request) -> BasisSet:
        """Name an item that is not there."""
        return BasisSet([range(len(request.public.universe) + 1)])


@frozen
class Counts:
    """Counts the empty itemset, and reports it as broken mutants would.

    Privacy: one measurement of one bin.
    """

    times: int = 1
    error: float = 1.0

    @hookimpl
    def reconstruct_counts(self, curator: Curator) -> NoisyCounts:
        """Count."""
        total = float(curator.measure(BinCounts([()])).values[0])
        return NoisyCounts([()] * self.times, [total] * self.times, [self.error] * self.times, total, 1.0)


@frozen
class Laws:
    """Counts the empty itemset, and says how its noise is distributed: so many draws, or by a law of its own.

    Privacy: one measurement of one bin.
    """

    draws: int = 1
    widest: float | None = None

    @hookimpl
    def reconstruct_counts(self, curator: Curator) -> NoisyCounts:
        """Count."""
        answer = curator.measure(BinCounts([()]))
        total, error = float(answer.values[0]), math.sqrt(answer.noise.variance)
        law = NoiseSum(answer.noise, [(self.draws, 1.0)]) if self.widest is None else Widest(self.widest)
        return NoisyCounts([()], [total], [error], total, error, [law], [0], law)


@frozen
class Widest:
    """A law of noise that is not privmine's."""

    width: float

    def half_width(self, level: float) -> float:
        """The same for every level."""
        return self.width


@pytest.mark.parametrize(
    ("mutant", "contract", "words"),
    [
        (Greedy(), "deterministic", "the same seed gives another result"),
        (TooMuch(), "total", "The shares of the budget sum to 3"),
        (LargeLambda(), "result", "is not a whole number from 0 to"),
        (TooLongBasis(), "result", "it names an item outside the universe"),
        (Counts(times=2), "result", "it reports an itemset twice"),
        (Counts(error=-1.0), "result", "a standard error is negative"),
        (Counts(error=math.nan), "result", "a count, an estimate or a standard error is not a finite number"),
        (Laws(draws=2), "result", "a standard error does not match its law of noise"),
        (Laws(widest=-1.0), "result", "gives no intervals: half-widths must be finite"),
    ],
)
def test_every_stage_has_contracts(mutant: object, contract: str, words: str) -> None:
    """A broken component of any stage is found."""
    flaws = find_flaws(mutant, cases=TELLING)
    assert [flaw.contract for flaw in flaws] == [contract]
    assert words in flaws[0].sentence


def test_right_counts_pass() -> None:
    """What the mutants above are made from is right."""
    for right in (Counts(), Laws(), Laws(widest=3.0)):
        check_component(right, cases=TELLING)


def test_draw_before_its_charge_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A curator that forgot to charge would be noticed at the draw."""
    monkeypatch.setattr(Curator, "_charge", lambda *_: None)
    assert any("was drawn before it was charged" in flaw.sentence for flaw in find_flaws(Honest(), cases=FEW))


def test_failure_of_another_stage_is_not_the_components(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an earlier stage fails, the message says that the component could not be tried."""
    monkeypatch.setattr("privmine.defaults.estimate.lambda_range", lambda *_: 1 / 0)
    (flaw,) = find_flaws(Honest(), cases=FEW[1:])
    assert flaw.contract == "total"
    assert "it could not be tried, since estimate_lambda failed before it" in flaw.sentence
    assert "check_component(…, method=NAME)" in flaw.sentence


def test_later_stages_do_not_matter() -> None:
    """A λ estimate without λ is right, although the default selection cannot use it."""

    @frozen
    class NoLambda:
        """Has no λ.

        Privacy: looks at nothing.
        """

        @hookimpl
        def estimate_lambda(self) -> Estimate:
            """Return no λ."""
            return Estimate()

    assert {flaw.contract for flaw in find_flaws(NoLambda(), cases=FEW)} == {"pickle"}  # it is defined in a function


@pytest.mark.parametrize(
    "component", slow_after(1, [Honest(), all_components("privmine")[0]]), ids=["object", "registered"]
)
def test_right_component_passes_its_audit(component: Any) -> None:
    """The kit runs the quick audit."""
    audit_component(component)


def test_audit_catches_what_contracts_cannot() -> None:
    """A query that declares too small a sensitivity keeps all contracts, but not its audit."""
    check_component(Understates(), cases=FEW)
    with pytest.raises(FlawedComponentError, match=r"(?s)select_elements=Understates .*audit: .*VIOLATES"):
        audit_component(Understates())


# --- how it is called ---------------------------------------------------------------------------


@frozen
class TwoStages(Honest):
    """Implements two stages.

    Privacy: as usual.
    """

    @hookimpl
    def estimate_lambda(self) -> Estimate:
        """Say 0."""
        return Estimate(lam=0)


def test_stage_is_asked_for_where_it_is_not_clear() -> None:
    """A class with two stages, or none, must be checked for a named stage."""
    with pytest.raises(InputError, match=r"TwoStages implements estimate_lambda, select_elements\. Name the stage"):
        check_component(TwoStages())
    with pytest.raises(InputError, match=r"NoHook implements no stage with @hookimpl\. Name the stage"):
        check_component(NoHook())
    with pytest.raises(InputError, match="There is no stage 'selection'"):
        check_component(Honest(), "selection")


def test_unknown_method_is_a_flaw() -> None:
    """A method that is not there is told like any other flaw."""
    (flaw,) = find_flaws(Honest(), method="privbases")
    assert "Did you mean 'privbasis'?" in flaw.sentence


def test_all_components_by_distribution() -> None:
    """The components of one distribution; a distribution without any is refused."""
    assert [found.name for found in all_components("privmine")][:2] == ["fixed-shares", "rank-gap"]
    assert len(all_components()) >= len(all_components("privmine")) >= 5
    with pytest.raises(UnknownNameError, match="Is it installed"):
        all_components("privmine-nowhere")


def test_parametrisation_has_readable_ids() -> None:
    """Test ids say stage and name."""
    mark = parametrize_components("privmine")
    assert "select_elements=items-and-pairs" in [parameter.id for parameter in mark.args[1]]  # type: ignore[attr-defined]


@settings(max_examples=10, deadline=None)
@given(databases())
def test_generated_databases_can_be_tried(case: TrialCase) -> None:
    """The strategy makes cases that a right component passes."""
    check_component(Honest(), cases=[case])


@settings(max_examples=30, deadline=None)
@given(neighbours(max_items=4))
def test_neighbours_differ_by_one_transaction(pair: tuple[TrialCase, TrialCase]) -> None:
    """The larger database has one transaction more, and the same question."""
    smaller, larger = pair
    rest = list(larger.baskets)
    for basket in smaller.baskets:
        rest.remove(basket)
    assert len(rest) == 1
    assert (smaller.items, smaller.k, smaller.epsilon) == (larger.items, larger.k, larger.epsilon)


def test_kit_needs_neither_pytest_nor_hypothesis() -> None:
    """Importing the kit imports no test tool, so that it ships without dependencies."""
    import subprocess
    import sys

    code = "import sys, privmine.testing; sys.exit(bool({'pytest', 'hypothesis'} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_random_cases_are_the_same_for_the_same_seed() -> None:
    """A failure can be tried again."""
    make = partial(random_case, items=5, transactions=9)
    assert make(7) == make(7)
    assert make(7).baskets != make(8).baskets
