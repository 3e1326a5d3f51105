"""Prices under zCDP: exact Rényi divergences of tiny mechanisms stay below α·ρ, and come near it."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product
from math import exp, log

import numpy as np
import pytest

from privmine.errors import InputError
from privmine.privacy import ZCDP, ConeSensitivity, DiscreteElliptope, DiscreteGaussian, DiscreteLaplace, Sensitivity
from privmine.privacy.definition import definition_from_dict

DEFINITION = ZCDP(Fraction(1, 10**6))
NORMS = Sensitivity(8, 20, 3)
MONOTONE = Sensitivity(8, 20, 3, monotone=True)
ORDERS = (1.01, 1.5, 2.0, 8.0, 64.0)


def divergence(first: np.ndarray, second: np.ndarray, order: float) -> float:
    """The Rényi divergence of two distributions that are given by the logarithms of their probabilities."""
    exponents = order * first + (1 - order) * second
    top = exponents.max()
    return (top + log(np.exp(exponents - top).sum())) / (order - 1)


@pytest.mark.parametrize("rho", ["0.02", "1/3", "2"])
@pytest.mark.parametrize("shift", [1, 2, 7])
def test_gaussian_noise_costs_what_its_divergence_is(shift: int, rho: str) -> None:
    """A value that moves by Δ₂: the divergence of every order is at most α·ρ, and near it for a large σ."""
    cost = DEFINITION.cost(rho)
    noise = DEFINITION.noise_for(Sensitivity(shift, shift**2, shift), cost)
    assert isinstance(noise, DiscreteGaussian)
    scale = float(noise.scale)
    x = np.arange(-int(60 * scale) - 60, int(60 * scale) + 61)
    logs, moved = -(x**2) / (2 * scale**2), -((x - shift) ** 2) / (2 * scale**2)
    logs, moved = (each - log(np.exp(each).sum()) for each in (logs, moved))
    for order in ORDERS[:4]:
        found = divergence(logs, moved, order)
        assert found <= order * float(cost.amount) * (1 + 1e-9)
        if scale > 2:
            assert found >= order * float(cost.amount) * 0.99


def test_measurements_go_by_the_l2_norm() -> None:
    """σ² = Δ₂²/(2ρ), not the L1 norm and not σ for σ²."""
    noise = DEFINITION.noise_for(NORMS, DEFINITION.cost(Fraction(1, 10)))
    assert noise == DiscreteGaussian(10)
    assert DEFINITION.cost_of_noise(NORMS, noise) == DEFINITION.cost(Fraction(1, 10))


def log_probabilities(scores: tuple[int, ...], rate: float, draws: int) -> np.ndarray:
    """Of each ordered outcome of so many draws without replacement."""
    logs = []
    for outcome in permutations(range(len(scores)), draws):
        left, total = list(range(len(scores))), 0.0
        for candidate in outcome:
            total += rate * scores[candidate] - log(sum(exp(rate * scores[other]) for other in left))
            left.remove(candidate)
        logs.append(total)
    return np.array(logs)


@pytest.mark.parametrize("draws", [1, 2, 3])
@pytest.mark.parametrize("monotone", [True, False], ids=["monotone", "both ways"])
def test_draws_cost_what_their_divergence_is(draws: int, monotone: bool) -> None:
    """Over all moves of five scores: at most α·ρ, and more than half of that for the worst."""
    sensitivity = Sensitivity(5, 5, 1, monotone=monotone)
    cost = DEFINITION.cost(Fraction(1, 50))
    rate = float(DEFINITION.rate_for(sensitivity, cost, draws))
    worst = 0.0
    for scores in [(0, 0, 0, 0, 0), (3, 2, 2, 0, 0), (40, 0, 0, 0, 0)]:
        before = log_probabilities(scores, rate, draws)
        for moves in product((0, 1) if monotone else (-1, 0, 1), repeat=5):
            after = log_probabilities(tuple(np.add(scores, moves).tolist()), rate, draws)
            for order, (one, other) in product(ORDERS, [(before, after), (after, before)]):
                share = divergence(one, other, order) / (order * float(cost.amount))
                assert share <= 1 + 1e-9
                worst = max(worst, share)
    assert worst > 0.5


def test_prices_and_noise_agree() -> None:
    """From cost to noise and back never costs more, and less only by the rounding."""
    for cost in map(DEFINITION.cost, ("1e-9", "0.0243559703595", "1/3", "77")):
        for sensitivity in (NORMS, MONOTONE, NORMS.times(5)):
            noise = DEFINITION.noise_for(sensitivity, cost)
            prices = [
                DEFINITION.cost_of_noise(sensitivity, noise),
                DEFINITION.cost_of_noise(sensitivity, noise.continuous),
                DEFINITION.cost_of_draws(sensitivity, DEFINITION.rate_for(sensitivity, cost, 7), 7),
                DEFINITION.cost_of_top(sensitivity, DEFINITION.top_scale_for(sensitivity, cost, 7), 7),
            ]
            assert all(cost * (1 - Fraction(1, 10**10)) <= price <= cost for price in prices)


def test_a_unit_of_several_transactions_counts_with_its_square() -> None:
    """The same noise for m transactions costs m² times as much, in measurements and in draws."""
    noise = DiscreteGaussian(10)
    once = DEFINITION.cost_of_noise(NORMS, noise)
    assert DEFINITION.cost_of_noise(NORMS.times(5), noise) == 25 * once
    assert DEFINITION.cost_of_draws(NORMS.times(5), Fraction(1, 9), 2) == 25 * DEFINITION.cost_of_draws(
        NORMS, Fraction(1, 9), 2
    )


def test_replacing_counts_four_times() -> None:
    """One goes and one comes: a group of two."""
    total = DEFINITION.cost("0.01")
    assert DEFINITION.guarantee(total, replaced=True) == DEFINITION.guarantee(DEFINITION.cost("0.04"))
    assert DEFINITION.guarantee(total).epsilon < DEFINITION.guarantee(total, replaced=True).epsilon


def test_what_a_budget_is_worth() -> None:
    """ε as it was asked for, with δ."""
    assert str(DEFINITION.budget(Fraction(1)).guarantee) == "ε = 1, δ = 1e-06"
    assert DEFINITION.budget(Fraction(1, 3)).guarantee.epsilon <= Fraction(1, 3)


def test_pure_mechanisms_cost_half_their_square() -> None:
    """Laplace noise and naming the largest of noisy scores are ε-differentially private, so ε²/2-zCDP."""
    assert DEFINITION.cost_of_noise(NORMS, DiscreteLaplace(16)) == DEFINITION.cost(Fraction(1, 8))
    assert DEFINITION.cost_of_top(MONOTONE, Fraction(6), 2) == DEFINITION.cost(Fraction(1, 2))


def test_moments_get_gaussian_noise() -> None:
    """It is smaller than noise of the cone at the same price, for every size."""
    for variables in range(2, 32):
        size = 1 + variables * (variables - 1) // 2
        cone = ConeSensitivity(size, size, 1, variables=variables)
        cost = DEFINITION.cost("0.02")
        noise = DEFINITION.noise_for(cone, cost)
        scale = DEFINITION.top_scale_for(Sensitivity(1, 1, 1, monotone=True), cost, 1)
        shaped = DiscreteElliptope(scale, variables)
        assert cost * Fraction(999, 1000) < DEFINITION.cost_of_noise(cone, shaped) <= cost
        assert noise.variance < shaped.variance


@pytest.mark.parametrize("delta", ["0", "1", "2", "-1/2"])
def test_what_is_no_delta_is_refused(delta: str) -> None:
    """A receipt in a file may say anything; with a δ of 1 or more every release would have ε = 0."""
    with pytest.raises(InputError, match="δ must be more than 0 and less than 1"):
        definition_from_dict({"definition": ZCDP.name, "delta": delta})


def test_a_delta_is_what_its_text_means() -> None:
    """As every number from outside."""
    assert ZCDP(1e-6) == ZCDP("1/1000000") == DEFINITION
    with pytest.raises(InputError, match="δ must be a number"):
        ZCDP("x")
    with pytest.raises(InputError, match="delta must be a number"):
        definition_from_dict({"definition": ZCDP.name, "delta": "x"})


def test_it_reads_itself_back() -> None:
    """The δ is part of what a receipt states; another kind of noise has no price."""
    assert definition_from_dict(DEFINITION.to_dict()) == DEFINITION
    with pytest.raises(InputError, match="no proof"):
        DEFINITION.cost_of_noise(NORMS, DiscreteElliptope(3, 5))
