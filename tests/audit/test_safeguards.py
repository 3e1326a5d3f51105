"""The audit's own safeguards: what keeps its bounds honest, and what each account is checked for."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from attrs import evolve, frozen

from privmine.api import hookimpl
from privmine.audit import Case, Effort, audit, mechanism_bound, replay
from privmine.audit import statistical as module
from privmine.audit.columns import columns_of
from privmine.audit.samplers import TOLERANCE, SamplerCheck
from privmine.curator import Curator
from privmine.pipeline import Pipeline
from privmine.privacy import Charge, PureDP

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


def test_charges_must_agree_to_12_digits() -> None:
    """The last digits are rounding; more are a mistake."""
    assert TOLERANCE == 1e-12
    for factor, agrees in [(1 + 1e-13, True), (1 - 1e-13, True), (1 + 1e-11, False), (1 - 1e-11, False)]:
        check = SamplerCheck("measure", Fraction(2), 2 * factor, Fraction(1), Fraction(1))
        assert check.agrees == agrees == check.ok


# Accounts


class Bookkeeper(Pipeline):
    """Writes receipts of its own."""

    def __init__(self, changed, **options) -> None:
        super().__init__(**options)
        self._changed = changed

    def _receipt(self, *arguments):
        receipt = super()._receipt(*arguments)
        return evolve(receipt, **self._changed(receipt))


@pytest.mark.parametrize(
    "changed",
    [
        lambda receipt: {"charges": receipt.charges[:-1]},
        lambda receipt: {"charges": (*receipt.charges, Charge("x", "x", "x", "x", Fraction(1, 100)))},
        lambda receipt: {"epsilon": receipt.epsilon + Fraction(1, 100)},
    ],
    ids=["a charge is missing", "more is charged than is claimed", "more is claimed than was given"],
)
def test_a_receipt_that_does_not_add_up_is_found(changed) -> None:
    """What was drawn for, what is listed, what is claimed and what was given."""
    assert rules(Bookkeeper(lambda receipt: {})) == set()
    assert rules(Bookkeeper(changed)) == {"budget"}


@pytest.mark.parametrize(
    ("name", "wrong", "method"),
    [
        (
            "rate",
            lambda self, declared, epsilon, draws: epsilon / (declared.linf * (2 - declared.monotone)),
            "privbasis",
        ),
        ("rate", lambda self, declared, epsilon, draws: epsilon / draws / declared.linf, "privbasis"),
        (
            "top_scale",
            lambda self, declared, epsilon, draws: declared.linf * (2 - declared.monotone) / epsilon,
            "tf-noisy",
        ),
        ("top_scale", lambda self, declared, epsilon, draws: draws * declared.linf / epsilon / 2, "tf-noisy"),
    ],
    ids=["the rate of one draw", "every score monotone", "the scale of one draw", "half the scale of scores"],
)
def test_a_selection_sharper_than_its_price_is_found(monkeypatch, name, wrong, method) -> None:
    """Each draw costs, and scores that move both ways cost twice."""
    monkeypatch.setattr(PureDP, name, wrong)
    report = audit(method, effort=REPLAY)
    assert {finding.rule for finding in report.counterexample.findings} == {"scale"}


def test_a_second_draw_for_one_question_is_not_free(monkeypatch) -> None:
    """Whoever draws twice and shows the better answer has paid for one."""
    right = Curator._guarded

    def twice(self, query, evaluate):
        right(self, query, evaluate)
        return right(self, query, evaluate)

    monkeypatch.setattr(Curator, "_guarded", twice)
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


def test_the_account_of_the_replayed_run_is_checked_as_well() -> None:
    """What goes wrong on the neighbour only is as wrong."""
    assert rules(Pipeline(observers=[LateForger([])])) == {"tampering"}
