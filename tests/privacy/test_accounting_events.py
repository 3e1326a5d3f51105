"""Charges in the names of dp-accounting, which privmine does not need."""

from __future__ import annotations

import json
from math import exp, log

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
        if event["class_name"] == "LaplaceDpEvent":
            total += 1 / event["noise_multiplier"]
        else:
            assert event["class_name"] == "RandomizedResponseDpEvent"
            p = event["noise_parameter"]
            total += log((1 - p / 2) / (p / 2))
    assert 1 <= total < 1 + 1e-12


def test_charges_with_a_delta_add_up_to_rho() -> None:
    """Gaussian noise of multiplier z costs 1/(2z²)."""
    release = pm.mine(pm.read(BASKETS, items=["a", "b", "c"]), k=3, epsilon=1, delta="1e-6")
    rho = 0.0
    for event in release.receipt.accounting_event()["events"]:
        gaussian = event["class_name"] == "GaussianDpEvent"
        rho += 1 / (2 * event["noise_multiplier"] ** 2) if gaussian else event["rho"]
    assert float(release.receipt.cost.amount) <= rho < float(release.receipt.cost.amount) * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", ["0.000001", "10000"])
def test_extremes_are_numbers(epsilon: str) -> None:
    """No event has an infinite or a missing parameter."""
    for event in events(epsilon=epsilon):
        numbers = [value for value in event.values() if isinstance(value, float)]
        assert all(0 < number < exp(700) for number in numbers)
