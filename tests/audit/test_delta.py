"""Audits of what is claimed with a δ: bounds on ε at δ, and the mutations that they must find."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest
from attrs import evolve

from privmine.audit import mechanism_bound
from privmine.audit.audits import QUICK, audit
from privmine.audit.cases import Case
from privmine.audit.customers import CustomerDatabase, as_customers
from privmine.audit.replay import replay
from privmine.cli.commands import cli
from privmine.pipeline import Pipeline
from privmine.privacy import conversion, definition
from privmine.privacy.cost import Cost
from privmine.privacy.definition import ZCDP
from privmine.privacy.guarantee import Guarantee
from privmine.privacy.noise import DiscreteGaussian
from privmine.privacy.sensitivity import Sensitivity
from privmine.privacy.unit import Unit

DELTA = Fraction(1, 100)
#: Of an audit of a sound mechanism: the probability that this file sounds a false alarm is below 10⁻⁶.
ERROR_RATE = 1e-7


def gaussian(scale: float):
    """A count of 0 or 1 with Gaussian noise."""
    return lambda database, generator: float(database + generator.normal(0, scale))


def scale_for(epsilon: str) -> float:
    """The noise of a count at this ε and δ."""
    claimed = ZCDP(DELTA)
    return float(claimed.noise_for(Sensitivity(1, 1, 1), claimed.budget(Fraction(epsilon))).scale)


def bound(mechanism, epsilon: str, samples: int = 20_000):
    """The bound on ε at δ."""
    options = {"delta": DELTA, "samples": samples, "error_rate": ERROR_RATE}
    return mechanism_bound(mechanism, 0, 1, Fraction(epsilon), **options)


def test_an_event_of_probability_delta_is_no_violation() -> None:
    """What tells all, with a probability of δ, violates any pure ε and no (ε, δ)."""
    delta = Fraction(1, 20)

    def name(database: int, generator: np.random.Generator) -> str:
        return "one" if database and generator.random() < float(delta) else "nothing"

    options = {"samples": 100_000, "error_rate": ERROR_RATE}
    assert not mechanism_bound(name, 0, 1, Fraction("0.1"), delta=delta, **options).violates
    assert mechanism_bound(name, 0, 1, 1, **options).violates


def test_five_times_that_probability_is_one() -> None:
    """The event is found, and lowered by δ it still has no like on the other database."""

    def name(database: int, generator: np.random.Generator) -> str:
        return "one" if database and generator.random() < 5 * float(DELTA) else "nothing"

    found = bound(name, "1", 100_000)
    assert found.violates
    assert "at δ = 0.01" in str(found)
    assert "= one" in found.event


@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_sound_noise_is_not_flagged(epsilon: str) -> None:
    """Gaussian noise at its claim."""
    assert not bound(gaussian(scale_for(epsilon)), epsilon).violates


@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_a_third_of_the_noise_is_flagged(epsilon: str) -> None:
    """As σ² for σ, or the L1 norm for the L2 norm of many values, would be."""
    assert bound(gaussian(scale_for(epsilon) / 3), epsilon).violates


def test_the_bound_is_that_of_the_frequencies() -> None:
    """Randomised response: 80 % against 20 %. At δ the bound is near ln((0.8 − δ)/0.2), and below it."""

    def answer(database: int, generator: np.random.Generator) -> int:
        return int(database if generator.random() < 0.8 else 1 - database)

    found = bound(answer, "9", 100_000)
    truth = log((0.8 - float(DELTA)) / 0.2)
    assert truth - 0.1 < found.lower < truth
    assert found.lower < log(4)


# Mutations of the engine, by replays: L2 norms, bounded range, units, conversion

CASE = Case(items=4, transactions=[(0, 1), (1, 2, 3), (0,)], extra=(0, 1, 2, 3), k=6, delta=Fraction("1e-6"))


def broken_rules(case: Case = CASE) -> set[str]:
    """The rules that PrivBasis breaks on a pair of neighbours."""
    return {finding.rule for finding in replay(Pipeline(), case)}


def test_the_engine_breaks_no_rule() -> None:
    """The ruler for the mutations below."""
    assert broken_rules() == set()


def test_too_little_gaussian_noise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """σ that is divided by 4 costs sixteen times what is charged."""
    original = ZCDP.noise_for

    def sharper(self: ZCDP, sensitivity: Sensitivity, cost: object) -> DiscreteGaussian:
        return DiscreteGaussian(original(self, sensitivity, cost).scale / 4)  # type: ignore[arg-type]

    monkeypatch.setattr(ZCDP, "noise_for", sharper)
    assert broken_rules()


def test_draws_at_twice_the_rate_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The price of monotone scores for scores that are not, at the full rate."""
    original = ZCDP.rate_for
    monkeypatch.setattr(ZCDP, "rate_for", lambda self, *arguments: 2 * original(self, *arguments))
    assert broken_rules()


def test_an_optimistic_conversion_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A budget of ρ that is worth more than ε: the receipt's guarantee exceeds what was asked for."""
    monkeypatch.setattr(definition, "rho_of", lambda epsilon, delta: 4 * conversion.rho_of(epsilon, delta))
    assert broken_rules()


def test_a_delta_that_is_spent_twice_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for the noise, and once more for something else: the guarantee then states twice the δ."""
    original = ZCDP.guarantee

    def doubled(self: ZCDP, total: Cost, *, replaced: bool = False) -> Guarantee:
        return evolve(original(self, total, replaced=replaced), delta=2 * self.delta)

    monkeypatch.setattr(ZCDP, "guarantee", doubled)
    assert broken_rules() == {"budget"}


def test_a_unit_without_the_square_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three transactions of a customer move Gaussian answers by three times as much: nine times ρ."""
    unit = Unit("customer", baskets=3)
    case = as_customers(CASE, unit)
    assert {finding.rule for finding in replay(Pipeline(), case, CustomerDatabase(unit))} == set()
    original = Sensitivity.times

    def linear(self: Sensitivity, transactions: int) -> Sensitivity:
        moved = original(self, transactions)
        return evolve(moved, l2_squared=self.l2_squared * transactions)

    monkeypatch.setattr(Sensitivity, "times", linear)
    assert {finding.rule for finding in replay(Pipeline(), case, CustomerDatabase(unit))}


def test_whole_audits_take_a_delta() -> None:
    """Replays and samples claim what (ε, δ) is worth after each stage."""
    report = audit(Pipeline(), effort=evolve(QUICK, pairs=20, samples=200), delta="1e-6")
    assert report.verdict == "holds", str(report)
    claims = [bound.claim for bound in report.bounds]
    assert claims == sorted(claims)
    assert claims[-1] == 1
    assert all(bound.delta == Fraction("1e-6") for bound in report.bounds)
    (sampled,) = report.to_dict()["sampled"]
    assert sampled["delta"] == "1/1000000"
    assert exp(float(claims[0])) >= 1


def test_the_command_takes_a_delta() -> None:
    """And refuses what is none."""
    from click.testing import CliRunner

    told = CliRunner().invoke(cli, ["audit", "privbasis", "--quick", "--delta", "2", "--workers", "1"])
    assert told.exit_code != 0
    assert "δ" in str(told.exception)
