"""Charges in the names of dp-accounting, which privmine does not need."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import e, exp
from statistics import NormalDist

import pytest

import privmine as pm

BASKETS = [["a", "b"], ["a"], ["b", "c"]] * 200


def events(**options: object) -> list[dict]:
    """The events of a release, through JSON."""
    release = pm.mine(pm.read(BASKETS, items=["a", "b", "c"]), k=3, **options)
    told = json.loads(json.dumps(release.receipt.accounting_event()))
    assert told["class_name"] == "ComposedDpEvent"
    assert all(event["module_name"] == "dp_accounting.dp_event" for event in told["events"])
    return told["events"]


def test_pure_charges_add_up_to_epsilon() -> None:
    """Each event alone is as private as its charge says, and never more so."""
    total = 0.0
    for event in events(epsilon=1):
        assert (event["class_name"], event["sensitivity"]) == ("DiscreteLaplaceDpEvent", 1)
        total += event["noise_parameter"]
    assert 1 <= total < 1 + 1e-12


def test_charges_with_a_delta_add_up_to_rho() -> None:
    """Whatever the mechanism, what is known of it is its ρ."""
    release = pm.mine(pm.read(BASKETS, items=["a", "b", "c"]), k=3, epsilon=1, delta="1e-6")
    told = release.receipt.accounting_event()["events"]
    assert {event["class_name"] for event in told} == {"ZCDpEvent"}
    rho = float(release.receipt.cost.amount)
    assert rho <= sum(event["rho"] for event in told) < rho * (1 + 1e-12)


def exceeding(weights: Callable[[int], float], epsilon: float) -> float:
    """The δ at ε of whole numbers with these weights against the same numbers moved by 1."""
    total = sum(weights(x) for x in range(-200, 201))
    return sum(max(weights(x) - exp(epsilon) * weights(x - 1), 0.0) for x in range(-200, 201)) / total


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.9])
def test_discrete_laplace_noise_is_the_worst_of_all_that_is_private(epsilon: float) -> None:
    """Scale 1, as an event of that class with ε = 1 has it: δ is that of two answers, and above that of a density."""
    drawn = exceeding(lambda x: exp(-abs(x)), epsilon)
    assert drawn == pytest.approx((e - exp(epsilon)) / (e + 1), abs=1e-12)
    assert drawn > 1 - exp((epsilon - 1) / 2)


def test_discrete_gaussian_noise_may_be_worse_than_continuous_noise() -> None:
    """σ = 1 and ε = 1: no event for continuous noise would do, though ρ is the same."""
    drawn = exceeding(lambda x: exp(-x * x / 2), 1.0)
    assert drawn > NormalDist().cdf(-0.5) - e * NormalDist().cdf(-1.5)


@pytest.mark.parametrize("epsilon", ["0.000001", "10000"])
def test_extremes_are_numbers(epsilon: str) -> None:
    """No event has an infinite or a missing parameter."""
    for event in events(epsilon=epsilon):
        numbers = [value for value in event.values() if isinstance(value, float)]
        assert all(0 < number < exp(700) for number in numbers)
