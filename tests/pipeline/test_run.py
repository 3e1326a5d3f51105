"""What a run checks of its stages' results, and what each stage is given."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nan

import pytest
from attrs import evolve, frozen

import privmine as pm
from privmine.api import (
    BasisSet,
    BudgetPlan,
    Cost,
    Elements,
    Estimate,
    ItemSupports,
    NoisyCounts,
    Public,
    PureDP,
    Request,
    Universe,
    hookimpl,
)
from privmine.errors import ContractError, PluginError, PrivmineWarning, StageError
from privmine.pipeline.run import LONGEST_BASIS, StageComponent, flaw_of, observer_manager, stage_manager

ITEMS = 30
REQUEST = Request(3, 3, PureDP().cost(1), Public(Universe.of(range(ITEMS))))


def counts(item: int = 0, count: float = 1, error: float = 1, total: float = 1, total_error: float = 1) -> NoisyCounts:
    """One noisy count."""
    return NoisyCounts([(item,)], [count], [error], total, total_error)


@pytest.mark.parametrize(
    ("stage", "result"),
    [
        ("allocate_budget", BudgetPlan()),
        ("estimate_lambda", Estimate()),
        ("estimate_lambda", Estimate(lam=0, theta=-0.5)),
        ("estimate_lambda", Estimate(lam=ITEMS, theta=3)),
        ("select_elements", Elements(())),
        ("select_elements", Elements((0, ITEMS - 1), [(0, ITEMS - 1)])),
        ("construct_basis", BasisSet(bases=[()])),
        ("construct_basis", BasisSet(bases=[tuple(range(LONGEST_BASIS))], candidates=[(0, ITEMS - 1)])),
        ("reconstruct_counts", counts(ITEMS - 1, -5.5, 0, -1, 0)),
        ("reconstruct_counts", NoisyCounts([], [], [], 0, 0)),
    ],
    ids=repr,
)
def test_what_is_right_passes(stage: str, result: object) -> None:
    """The extremes that are allowed: nothing at all, the last item, the longest basis, no error."""
    assert flaw_of(stage, result, REQUEST) == ""


@pytest.mark.parametrize(
    ("stage", "result", "words"),
    [
        ("allocate_budget", Estimate(), "it returned Estimate, not BudgetPlan"),
        ("estimate_lambda", None, "it returned NoneType, not Estimate"),
        ("estimate_lambda", Estimate(lam=-1), "λ = -1"),
        ("estimate_lambda", Estimate(lam=ITEMS + 1), "from 0 to 30"),
        ("select_elements", Elements((ITEMS,)), "outside the universe of 30 items"),
        ("select_elements", Elements((), [(0, ITEMS)]), "outside the universe"),
        ("select_elements", Elements((-1, 0)), "outside the universe"),
        ("construct_basis", BasisSet(bases=[(-1, 0)]), "outside the universe"),
        ("construct_basis", BasisSet(bases=[(0, ITEMS)]), "outside the universe"),
        ("construct_basis", BasisSet(bases=[(0,)], candidates=[(ITEMS,)]), "outside the universe"),
        ("construct_basis", BasisSet(bases=[tuple(range(LONGEST_BASIS + 1))]), "at most 24"),
        ("reconstruct_counts", counts(ITEMS), "outside the universe"),
        ("reconstruct_counts", counts(count=nan), "not a finite number"),
        ("reconstruct_counts", counts(error=inf), "not a finite number"),
        ("reconstruct_counts", evolve(counts(), estimates=[nan]), "not a finite number"),
        ("reconstruct_counts", counts(total=nan), "not a finite number"),
        ("reconstruct_counts", counts(total_error=inf), "not a finite number"),
        ("reconstruct_counts", counts(error=-0.5), "a standard error is negative"),
        ("reconstruct_counts", counts(total_error=-0.5), "a standard error is negative"),
    ],
    ids=repr,
)
def test_what_is_wrong_is_told(stage: str, result: object, words: str) -> None:
    """Each flaw of a result that the release would rest on has its words."""
    assert words in flaw_of(stage, result, REQUEST)


@frozen
class Spender:
    """Spends part of its share, and keeps what it was given."""

    seen: list[object]
    spend: Cost

    @hookimpl
    def select_elements(self, curator, answers) -> Elements:
        self.seen.extend([curator.remaining, answers])
        curator.choose(ItemSupports(ITEMS), 1, self.spend)
        return Elements((0,))


@frozen
class Counter:
    """Measures nothing, and keeps what it was given."""

    seen: list[object]

    @hookimpl
    def reconstruct_counts(self, curator, answers) -> NoisyCounts:
        self.seen.extend([curator.remaining, answers])
        return counts()


def test_each_stage_has_its_share_and_what_was_left() -> None:
    """Selection has its 0.4 and the 0.1 that nobody spent on λ; reconstruction all that remains, and the answers."""
    seen: list[object] = []
    data = pm.Transactions.from_lists([[0], [1]], items=list(range(ITEMS)))
    pipeline = pm.Pipeline(select_elements=Spender(seen, PureDP().cost("1/4")), reconstruct_counts=Counter(seen))
    pipeline.run(data, 1, 2, simulate=True)
    selecting, before, counting, after = seen
    assert (selecting.amount, counting.amount) == (1, Fraction(7, 4))
    assert before == ()
    assert [answer.stage for answer in after] == ["select_elements"]
    # A tuple: a stage cannot add to what later ones are told.
    assert isinstance(after, tuple)


def test_a_curator_is_closed_even_if_its_stage_fails() -> None:
    """Whoever kept it cannot go on with what was left."""
    kept = []

    @frozen
    class Keeper:
        @hookimpl
        def select_elements(self, curator) -> Elements:
            kept.append(curator)
            raise ValueError("told")

    data = pm.Transactions.from_lists([[0], [1]], items=list(range(ITEMS)))
    with pytest.raises(StageError, match=r"ValueError: told\. Nothing was charged"):
        pm.Pipeline(select_elements=Keeper()).run(data, 1, 1, simulate=True)
    with pytest.raises(ContractError, match="after its stage had ended"):
        kept[0].measure(ItemSupports(ITEMS))


def test_a_component_without_its_method_is_told() -> None:
    """Before anything runs, with the stage that it was chosen for."""
    with pytest.raises(PluginError, match="has no method select_elements"):
        stage_manager([StageComponent("select_elements", object(), "none", "nobody")])


def test_a_component_with_a_misspelt_method_is_told_the_right_name() -> None:
    """The method that comes close is named; that of another stage is none."""

    class Misspelt:
        select_element = None
        reconstruct_counts = None

    with pytest.raises(PluginError, match=r"that stage\. Rename select_element to select_elements\.$"):
        stage_manager([StageComponent("select_elements", Misspelt(), "none", "nobody")])
    with pytest.raises(PluginError, match=r"that stage\.$"):
        stage_manager([StageComponent("construct_basis", Misspelt(), "none", "nobody")])


def test_every_stage_needs_its_component() -> None:
    """A run with a stage that nobody stands for does not begin."""
    with pytest.raises(PluginError, match="allocate_budget must be implemented by the one component"):
        stage_manager([])


def test_a_method_that_pluggy_would_call_amiss_is_told() -> None:
    """Of a component that nobody registered too: pluggy would never pass this argument."""

    @frozen
    class Defaulted:
        @hookimpl
        def select_elements(self, curator=None) -> Elements:
            return Elements((0,))

    with pytest.raises(PluginError, match="'curator' with a default"):
        stage_manager([StageComponent("select_elements", Defaulted(), "none", "nobody")])


class Misspelt:
    """Has methods that are almost hooks."""

    @hookimpl
    def select_elements(self, curator) -> Elements:
        return Elements((0,))

    @hookimpl
    def select_element(self, curator) -> Elements:
        return Elements((0,))


class Watching:
    """Notes the stages that begin and end."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []

    @hookimpl
    def stage_started(self, stage) -> None:
        self.seen.append(("started", stage))

    @hookimpl
    def stage_finished(self, stage) -> None:
        self.seen.append(("finished", stage))


def test_a_misspelt_hook_is_told() -> None:
    """It would be silent otherwise; with the hooks that there are."""
    with pytest.raises(
        PluginError, match=r"unknown hook 'select_element' .*hooks are allocate_budget.* select_elements\.$"
    ):
        stage_manager([StageComponent("select_elements", Misspelt(), "none", "nobody")])
    with pytest.raises(PluginError, match=r"unknown hook 'select_element.*hooks are stage_finished, stage_started\.$"):
        observer_manager([Watching(), Misspelt()])


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (lambda self, stage: None, "The observer Odd.stage_started is never called. Add the decorator @hookimpl."),
        (hookimpl(lambda self, sage: None), "The observer Odd.stage_started takes 'sage'.* Did you mean 'stage'?"),
    ],
)
def test_an_observer_that_would_not_be_called_is_told(method, words: str) -> None:
    """It would watch in silence, or end the run with an error of pluggy's."""
    with pytest.raises(PluginError, match=words):
        observer_manager([type("Odd", (), {"stage_started": method})()])


def test_an_observer_that_fails_is_named_by_its_class() -> None:
    """A number would tell nobody which it is."""

    class Failing:
        @hookimpl
        def stage_finished(self, stage):
            raise ValueError(stage)

    data = pm.Transactions.from_lists([[0], [1]], items=list(range(ITEMS)))
    with pytest.warns(PrivmineWarning, match=r"The observer Failing failed in stage_finished: ValueError\."):
        pm.Pipeline().run(data, 1, 1, simulate=True, observers=[Failing()])


def test_every_observer_is_told_of_every_stage() -> None:
    """The last one as the first."""
    observers = [Watching(), Watching(), Watching()]
    data = pm.Transactions.from_lists([[0], [1]], items=list(range(ITEMS)))
    pm.Pipeline().run(data, 1, 1, simulate=True, observers=observers)
    stages = ["allocate_budget", "estimate_lambda", "select_elements", "construct_basis", "reconstruct_counts"]
    for observer in observers:
        assert observer.seen == [(event, stage) for stage in stages for event in ("started", "finished")]
