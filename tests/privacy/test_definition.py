"""What mechanisms cost, and what a total is worth."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from attrs import frozen

from privmine.errors import InputError
from privmine.privacy import (
    ConeSensitivity,
    Definition,
    DiscreteElliptope,
    DiscreteLaplace,
    Noise,
    PureDP,
    Sensitivity,
)
from privmine.privacy.definition import DEFINITIONS, definition_from_dict

PURE = PureDP()
NORMS = Sensitivity(8, 20, 3)
MONOTONE = Sensitivity(8, 20, 3, monotone=True)
BOTH = pytest.mark.parametrize(("sensitivity", "factor"), [(MONOTONE, 1), (NORMS, 2)], ids=["monotone", "both ways"])


@BOTH
def test_the_noise_of_pure_privacy(sensitivity: Sensitivity, factor: int) -> None:
    """Measurements go by L1; selections by L∞ and the number of draws, and twice that where scores go both ways."""
    cost = PURE.cost(Fraction(1, 7))
    assert PURE.noise_for(sensitivity, cost) == DiscreteLaplace(56)
    assert PURE.rate_for(sensitivity, cost, 5) == Fraction(1, 7 * 5 * 3 * factor)
    assert PURE.top_scale_for(sensitivity, cost, 5) == 7 * 5 * 3 * factor


@BOTH
def test_a_price_is_what_its_noise_costs(sensitivity: Sensitivity, factor: int) -> None:
    """From cost to noise and back, exactly; a simulation's noise costs the same."""
    cost = PURE.cost(Fraction(3, 11))
    noise = PURE.noise_for(sensitivity, cost)
    assert PURE.cost_of_noise(sensitivity, noise) == PURE.cost_of_noise(sensitivity, noise.continuous) == cost
    assert PURE.cost_of_draws(sensitivity, PURE.rate_for(sensitivity, cost, 4), 4) == cost
    assert PURE.cost_of_top(sensitivity, PURE.top_scale_for(sensitivity, cost, 4), 4) == cost


def test_the_noise_of_moment_matrices() -> None:
    """It goes by how many matrices a unit adds, whatever their norms; from cost to noise and back."""
    cone, cost = ConeSensitivity(8, 20, 3, variables=4, elements=5), PURE.cost(Fraction(3, 7))
    noise = PURE.noise_for(cone, cost)
    assert noise == DiscreteElliptope(Fraction(35, 3), 4)
    assert PURE.cost_of_noise(cone, noise) == PURE.cost_of_noise(cone, noise.continuous) == cost


@pytest.mark.parametrize("sensitivity", [NORMS, ConeSensitivity(8, 20, 3, variables=3)])
def test_noise_of_moment_matrices_has_a_price_for_these_alone(sensitivity: Sensitivity) -> None:
    """For norms, or for matrices of another size, there is no proof; the refusal names the noise."""
    with pytest.raises(InputError, match="no proof that noise of the kind discrete elliptope"):
        PURE.cost_of_noise(sensitivity, DiscreteElliptope(1, 4))


def test_what_pure_privacy_guarantees() -> None:
    """ε; and 2ε where one unit replaces another, since both steps multiply."""
    total = PURE.total([PURE.cost("1/3"), PURE.cost("1/6")])
    assert PURE.guarantee(total).epsilon == total.guarantee.epsilon == Fraction(1, 2)
    assert str(PURE.guarantee(total, replaced=True)) == "ε = 1"
    assert PURE.budget(Fraction(2)) == PURE.cost(2)
    assert PURE.total([]) == 0


@frozen
class Unproven(Definition):
    """A definition for which nothing has been proven."""

    name = "a definition without proofs"
    symbol = "x"


@pytest.mark.parametrize(
    "ask",
    [
        lambda made, cost: made.noise_for(NORMS, cost),
        lambda made, _: made.cost_of_noise(NORMS, DiscreteLaplace(1)),
        lambda made, cost: made.rate_for(NORMS, cost, 1),
        lambda made, _: made.cost_of_draws(NORMS, Fraction(1), 1),
        lambda made, cost: made.top_scale_for(NORMS, cost, 1),
        lambda made, _: made.cost_of_top(NORMS, Fraction(1), 1),
    ],
)
def test_a_mechanism_without_a_proof_is_refused(ask: Callable[..., object]) -> None:
    """A definition has what it implements, and refuses everything else in a sentence."""
    with pytest.raises(InputError, match=r"no proof that .* a definition without proofs, and nothing was charged"):
        ask(Unproven(), Unproven().cost(1))


def test_foreign_noise_has_no_price() -> None:
    """Pure privacy knows what Laplace noise costs, and no other."""

    class Uniform(Noise):
        distribution = "uniform"

    with pytest.raises(InputError, match="no proof that noise of the kind uniform"):
        PURE.cost_of_noise(NORMS, Uniform(1))


@frozen
class WithParameter(PureDP):
    """A definition with a parameter."""

    name = "pure, with a parameter"
    delta: Fraction = Fraction(1, 8)


def test_a_definition_survives_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its name and its parameters; an unknown one is refused."""
    monkeypatch.setitem(DEFINITIONS, WithParameter.name, WithParameter)
    assert definition_from_dict(dict(PURE.to_dict())) == PURE
    plain = WithParameter(Fraction(1, 3)).to_dict()
    assert plain == {"definition": "pure, with a parameter", "delta": "1/3"}
    assert definition_from_dict(dict(plain)) == WithParameter(Fraction(1, 3))
    with pytest.raises(InputError, match="does not know"):
        definition_from_dict({"definition": "another"})
