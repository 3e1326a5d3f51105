"""The audit's own safeguards: what keeps its bounds honest, and what each account is checked for."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from attrs import evolve, frozen

from privmine import curator as engine
from privmine.api import (
    Elements,
    ItemSupports,
    NoisyCounts,
    Sensitivity,
    Supports,
    TruncatedSupports,
    hookimpl,
)
from privmine.audit import (
    Case,
    CustomerCase,
    CustomerDatabase,
    Effort,
    Evidence,
    audit,
    audits,
    lower_bounds,
    mechanism_bound,
    replay,
    samplers,
)
from privmine.audit import statistical as module
from privmine.audit.columns import columns_of
from privmine.audit.samplers import TOLERANCE, SamplerCheck
from privmine.noise.simulated import SimulatedNoise
from privmine.pipeline import Pipeline
from privmine.privacy import Charge, DiscreteLaplace, PureDP
from privmine.privacy.unit import Unit
from privmine.queries import Scores

SMALL = Case(items=3, transactions=[(0, 1), (0,)], extra=(1, 2), k=3)
REPLAY = Effort("replay only", pairs=40, examples=0, samples=0, cases=0)


def rules(pipeline, case=SMALL) -> set[str]:
    """The rules that are broken on one pair of neighbours."""
    return {finding.rule for finding in replay(pipeline, case)}


def noisy(value, generator) -> dict[str, float]:
    """Two features, with noise on each."""
    return {"first": value + generator.laplace(), "second": value + generator.laplace()}


# Bounds


def test_every_limit_has_its_part_of_the_error_rate(monkeypatch) -> None:
    """Each test bounds two probabilities, and all of them hold together (Bonferroni)."""
    errors = []
    for name in ("lower_limit", "upper_limit"):
        right = getattr(module, name)
        monkeypatch.setattr(
            module,
            name,
            lambda hits, runs, error, right=right: (errors.append(error), right(hits, runs, error))[1],
        )
    mechanism_bound(noisy, 0.0, 2.0, 1, samples=400, error_rate=0.01)
    assert len(errors) > 2
    assert sum(errors) == pytest.approx(0.01)
    assert len(set(errors)) == 1


def test_fitting_choosing_and_testing_have_runs_of_their_own(monkeypatch) -> None:
    """A score that is judged by the runs that it was fitted to flatters itself, and so does an event."""
    used: dict[str, set[int]] = {"fitted": set(), "chosen": set(), "tested": set()}

    def note(name: str, what: str, place: int) -> None:
        right = getattr(module, name)

        def noted(*arguments):
            used[what].update(range(*arguments[place].indices(400)))
            return right(*arguments)

        monkeypatch.setattr(module, name, noted)

    note("_log_ratios", "fitted", 2)
    note("_most_promising", "chosen", 1)
    note("_tested", "tested", 2)
    mechanism_bound(noisy, 0.0, 2.0, 1, samples=400)
    assert set.union(*used.values()) == set(range(400))
    for one, other in combinations(used.values(), 2):
        assert not one & other


def test_labels_and_features_are_those_of_the_runs_for_the_search() -> None:
    """What only the other runs show is not known when events are chosen."""
    early, late = {"stage": {"kind": "a"}}, {"stage": {"kind": "b", "more": 1.0}}
    runs = [early, early, late, late]
    (column,) = columns_of(runs, runs, slice(0, 2))
    assert column.labels == ("a",)
    assert np.isnan(column.values[0]).tolist() == [False, False, True, True]


def test_features_are_chosen_by_the_runs_for_the_search(monkeypatch) -> None:
    """Which features there are must not be known from the runs that test them."""
    asked = []
    monkeypatch.setattr(
        module, "columns_of", lambda first, second, rows: (asked.append(rows), columns_of(first, second, rows))[1]
    )
    mechanism_bound(noisy, 0.0, 2.0, 1, samples=400)
    assert asked == [slice(0, 200)]


def own_noise(seed: int) -> SimulatedNoise:
    """A source of one's own, and a right one."""
    return SimulatedNoise(seed)


@pytest.mark.statistics
def test_the_error_rate_is_divided_between_a_source_and_the_runs_with_it(monkeypatch) -> None:
    """All bounds of a report hold together: half of it for the pairs, half for the ways to draw."""
    rates = []

    def noted(*arguments, error_rate, **options):
        rates.append(error_rate)
        return lower_bounds(*arguments, error_rate=error_rate, **options)

    monkeypatch.setattr(audits, "lower_bounds", noted)
    monkeypatch.setattr(samplers, "lower_bounds", noted)
    effort = Effort("tiny", pairs=0, examples=0, samples=40, cases=2)
    audit("privbasis", effort=effort, noise=own_noise, error_rate=0.01)
    assert len(rates) == 6 + 2
    assert sum(rates) == pytest.approx(0.01)
    rates.clear()
    audit("privbasis", effort=effort, error_rate=0.01)
    assert sum(rates) == pytest.approx(0.01)


def test_a_small_budget_is_sampled_by_every_effort() -> None:
    """A leak that does not grow with ε stays below a large claim; whatever a quick audit finds, the others try too."""
    effort = Effort("tiny", pairs=0, examples=0, samples=40, cases=1, epsilon=4)
    report = audit("privbasis", effort=effort)
    assert report.epsilons == (4, 1)
    assert [sampled.case.extra for sampled in report.sampled] == [(0, 1, 2, 3)] * 2
    assert audit("privbasis", effort=evolve(effort, epsilon=1)).epsilons == (1,)


def test_evidence_for_one_unit_is_none_for_another() -> None:
    """A forgotten unit is found although the same pipeline held with it before."""
    evidence, effort = Evidence(), Effort("tiny", pairs=20, examples=0, samples=0, cases=0)
    unit = Unit("customer", baskets=2)
    assert audit("privbasis", effort=effort, unit=unit, evidence=evidence).ok
    forgotten = audit("privbasis", effort=effort, unit=unit, database=CustomerDatabase(), evidence=evidence)
    assert forgotten.verdict == "violates"
    assert audit("privbasis", effort=effort, evidence=evidence).differ_by == "one transaction"


def test_transactions_of_customers_are_shuffled() -> None:
    """Another order on each side: what depends on the order of rows shows."""
    case = CustomerCase(items=3, customers=[[(0,), (1,), (2,)]] * 4, extra=[(0, 1)], shuffled=True, seed=1)
    smaller, larger = case.databases
    plain = evolve(case, shuffled=False).databases
    assert smaller != plain[0]
    assert larger != plain[1]
    assert [sorted(rows) for rows in case.databases] == [sorted(rows) for rows in plain]
    assert [row for row in larger if row[0] < 4] != list(smaller)


def test_charges_must_agree_to_12_digits() -> None:
    """The last digits are rounding; more are a mistake."""
    assert TOLERANCE == 1e-12
    for factor, agrees in [(1 + 1e-13, True), (1 - 1e-13, True), (1 + 1e-11, False), (1 - 1e-11, False)]:
        check = SamplerCheck("measure", Fraction(2), 2 * factor, Fraction(1), Fraction(1))
        assert check.agrees == agrees == check.ok


#: What the next query declares.
DECLARED = [1]


class Counts(ItemSupports):
    """Supports that declare what they were told to."""

    @property
    def sensitivity(self) -> Sensitivity:
        return Sensitivity(3 + DECLARED[0], 3 + DECLARED[0], 1, monotone=True)


@frozen
class Sharper:
    """Asks once, with a sensitivity or a scale that depends on the data."""

    what: str

    @hookimpl
    def select_elements(self, curator) -> Elements:
        DECLARED[0] = count = curator._access.store.count()
        if self.what == "sensitivity":
            # It is chosen by the largest change of one score only, so that the noise is the same.
            curator.choose(Counts(3), 1, curator.remaining / 10)
        else:
            curator._access.noise.add(np.zeros(1, dtype=np.int64), DiscreteLaplace(count))
        return Elements(())


@pytest.mark.parametrize("what", ["sensitivity", "factor"])
def test_declarations_and_scales_that_depend_on_the_data_are_found(what) -> None:
    """The noise tells what it was scaled by, and so does a declaration."""
    findings = replay(Pipeline(select_elements=Sharper(what), trust="local code"), SMALL)
    assert f"its {what} is " in " ".join(finding.message for finding in findings if finding.rule == "query")


@frozen
class AsksTwice:
    """Draws once more at the end of a run, if there are many transactions."""

    @hookimpl
    def reconstruct_counts(self, curator) -> NoisyCounts:
        curator.measure(Supports([()]), curator.remaining / 2)
        if curator._access.store.count() > 2:
            curator.measure(Supports([()]))
        return NoisyCounts([()], [0.0], [1.0], 0.0, 1.0)


def test_a_run_that_goes_on_is_another_one() -> None:
    """The replay has no answer left for it."""
    (finding,) = replay(Pipeline(reconstruct_counts=AsksTwice()), SMALL)
    assert (finding.rule, finding.stage) == ("calls", "reconstruct_counts")


class Skewed(TruncatedSupports):
    """Draws one member of its tail more often than the others."""

    def scores(self, store) -> Scores:
        favourite = self.candidate(self.size - 1)
        return evolve(
            super().scores(store),
            tail_member=lambda below: favourite if below(4) else self.candidate(below(self.size)),
        )


class Rejecting(TruncatedSupports):
    """Draws numbers until one fits; all members are equally likely, in endlessly many ways."""

    def scores(self, store) -> Scores:
        def member(below):
            while (number := below(2 ** self.size.bit_length())) >= self.size:
                pass
            return self.candidate(number)

        return evolve(super().scores(store), tail_member=member)


class WideAndSkewed(TruncatedSupports):
    """Likewise, where the others are drawn from so many numbers that nobody can follow them all."""

    def scores(self, store) -> Scores:
        favourite = self.candidate(self.size - 1)
        return evolve(
            super().scores(store),
            tail_member=lambda below: favourite if below(4) else self.candidate(below(2**80) % self.size),
        )


@frozen
class ChoosesFromTheTail:
    """Chooses an itemset, seldom one that is listed."""

    query: type[TruncatedSupports]

    @hookimpl
    def select_elements(self, request, curator) -> Elements:
        query = self.query(k=1, max_length=2, item_count=len(request.public.universe), gamma=100)
        return Elements((), curator.choose(query).chosen)


@pytest.mark.parametrize(
    ("query", "found"),
    [(Skewed, {"candidates"}), (WideAndSkewed, {"candidates"}), (TruncatedSupports, set()), (Rejecting, set())],
)
def test_a_tail_must_be_drawn_from_equally(query, found) -> None:
    """What is listed on the neighbour has the weight of its score there, and must have the same in the tail."""
    assert rules(Pipeline(select_elements=ChoosesFromTheTail(query), trust="local code")) == found


# Accounts


def bookkeeper(changed) -> Pipeline:
    """A pipeline that writes receipts of its own."""

    class Bookkeeper(Pipeline):
        def run(self, *arguments, **options):
            release = super().run(*arguments, **options)
            return evolve(release, receipt=evolve(release.receipt, **changed(release.receipt)))

    return Bookkeeper()


@pytest.mark.parametrize(
    "changed",
    [
        lambda receipt: {"charges": receipt.charges[:-1]},
        lambda receipt: {"charges": (*receipt.charges, Charge("x", "x", "x", "x", PureDP().cost("1/100")))},
        lambda receipt: {"cost": receipt.cost * Fraction(101, 100)},
    ],
    ids=["a charge is missing", "more is charged than is claimed", "more is claimed than was given"],
)
def test_a_receipt_that_does_not_add_up_is_found(changed) -> None:
    """What was drawn for, what is listed, what is claimed and what was given."""
    assert rules(bookkeeper(lambda receipt: {})) == set()
    assert rules(bookkeeper(changed)) == {"budget"}


@frozen
class Sets:
    """Selects two items as a set."""

    @hookimpl
    def select_elements(self, request, curator) -> Elements:
        chosen = curator.choose_set(ItemSupports(len(request.public.universe)), 2).chosen
        return Elements(item for (item,) in chosen)


@pytest.mark.parametrize(
    ("name", "wrong", "method"),
    [
        (
            "rate_for",
            lambda self, declared, cost, draws: cost.amount / (declared.linf * (2 - declared.monotone)),
            "privbasis",
        ),
        ("rate_for", lambda self, declared, cost, draws: cost.amount / draws / declared.linf, "privbasis"),
        (
            "rate_for",
            lambda self, declared, cost, draws: cost.amount / draws / declared.linf,
            Pipeline(estimate_lambda="none", select_elements=Sets()),
        ),
        (
            "top_scale_for",
            lambda self, declared, cost, chosen: declared.linf * (2 - declared.monotone) / cost.amount,
            "tf-noisy",
        ),
        ("top_scale_for", lambda self, declared, cost, chosen: chosen * declared.linf / cost.amount / 2, "tf-noisy"),
    ],
    ids=[
        "the rate of one draw",
        "every score monotone",
        "the gap of a set monotone",
        "the scale of one draw",
        "half the scale of scores",
    ],
)
def test_a_selection_sharper_than_its_price_is_found(monkeypatch, name, wrong, method) -> None:
    """Each draw costs, and scores that move both ways cost twice."""
    monkeypatch.setattr(PureDP, name, wrong)
    report = audit(method, effort=REPLAY)
    assert {finding.rule for finding in report.counterexample.findings} == {"scale"}


def test_a_second_draw_for_one_question_is_not_free(monkeypatch) -> None:
    """Whoever draws twice and shows the better answer has paid for one."""
    right = engine.guarded

    def twice(query, evaluate, *options):
        right(query, evaluate, *options)
        return right(query, evaluate, *options)

    monkeypatch.setattr(engine, "guarded", twice)
    assert "unpaid" in rules(Pipeline())


@frozen
class LateForger:
    """Changes a result in every second run: that of the neighbour."""

    runs: list

    @hookimpl
    def stage_finished(self, stage, result) -> None:
        if stage == "estimate_lambda":
            self.runs.append(stage)
            if len(self.runs) % 2 == 0:
                object.__setattr__(result, "theta", 12345.0)


def test_the_account_of_the_replayed_run_is_checked_as_well(observed) -> None:
    """What goes wrong on the neighbour only is as wrong."""
    assert rules(observed(LateForger([]))) == {"tampering"}
