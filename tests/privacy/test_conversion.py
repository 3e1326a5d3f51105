"""What ρ is worth in ε and δ: against OpenDP's map, and against the exact δ of Gaussian noise."""

from __future__ import annotations

from decimal import ROUND_DOWN, Context, Decimal, Inexact, localcontext
from fractions import Fraction
from math import exp

import opendp.prelude as dp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from privmine.privacy.conversion import _best_order, _log, epsilon_of, rho_of, root, rounded

DELTAS = [Fraction(1, 10**power) for power in (2, 6, 12)]
RHOS = [Fraction(text) for text in ("1e-8", "3.21e-4", "0.0243559", "1/3", "1", "40", "5000")]


@pytest.mark.parametrize("delta", DELTAS, ids=str)
@pytest.mark.parametrize("rho", RHOS, ids=str)
def test_it_is_opendps_map(rho: Fraction, delta: Fraction) -> None:
    """Equal within 10^−9, and never below it."""
    dp.enable_features("contrib")
    scale = float(1 / (2 * rho)) ** 0.5
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    gaussian = dp.m.make_gaussian(*space, scale=scale)
    theirs = dp.c.make_zCDP_to_approxDP(gaussian).map(1.0).epsilon(float(delta))
    # OpenDP's own ρ is rounded up a little; the conversion of that one is compared.
    ours = epsilon_of(Fraction(gaussian.map(1.0)), Fraction(float(delta)))
    assert theirs * (1 - 1e-12) <= float(ours) <= theirs * (1 + 1e-9)


@pytest.mark.parametrize("delta", DELTAS, ids=str)
@pytest.mark.parametrize("rho", RHOS[1:], ids=str)
def test_it_covers_what_gaussian_noise_really_does(rho: Fraction, delta: Fraction) -> None:
    """The exact δ of Gaussian noise at the stated ε (Balle and Wang 2018) is at most the stated δ.

    Were ε a fifth less, it would be too little for a small δ: the conversion is no wild overestimate.
    """
    epsilon, shift = float(epsilon_of(rho, delta)), (2 * float(rho)) ** 0.5

    def exact_delta(at: float) -> float:
        return float(norm.cdf(shift / 2 - at / shift) - exp(at + norm.logcdf(-shift / 2 - at / shift)))

    assert exact_delta(epsilon) <= float(delta)
    if delta < Fraction(1, 1000):
        assert exact_delta(0.8 * epsilon) > float(delta)


@pytest.mark.parametrize(("epsilon", "rho"), [("0.1", 0.000321), ("0.25", 0.00180), ("0.5", 0.00664), ("1", 0.02436)])
def test_known_budgets(epsilon: str, rho: float) -> None:
    """The ρ of common ε at δ = 10^−6; the simple bound would give 0.0171 for ε = 1."""
    assert float(rho_of(Fraction(epsilon), Fraction(1, 10**6))) == pytest.approx(rho, rel=3e-3)


@settings(max_examples=40, deadline=None)
@given(
    epsilon=st.fractions(Fraction(1, 10**6), 10**4, max_denominator=10**9),
    delta=st.sampled_from([Fraction(9, 10), *DELTAS, Fraction(1, 10**300)]),
)
def test_a_budget_is_used_up_and_not_exceeded(epsilon: Fraction, delta: Fraction) -> None:
    """The ρ of an ε is worth at most that ε, and a little more ρ would be worth more."""
    rho = rho_of(epsilon, delta)
    assert rho == rounded(rho, 12, up=False) > 0
    assert rounded(epsilon_of(rho, delta), 10, up=True) == epsilon_of(rho, delta) <= epsilon
    assert epsilon_of(rho * (1 + Fraction(1, 10**8)), delta) > epsilon * (1 - Fraction(1, 10**9))


def test_nothing_is_worth_nothing() -> None:
    """Without a ρ there is no ε; with a large δ a small ρ needs none."""
    assert epsilon_of(Fraction(0), Fraction(1, 10**6)) == epsilon_of(Fraction(0), Fraction(1, 10**999)) == 0
    assert epsilon_of(Fraction(1, 10**12), Fraction(99, 100)) == 0


@pytest.mark.parametrize("rho", ["1e-999", "1e-300", "1e300", "1e999"])
@pytest.mark.parametrize("delta", ["1e-999", "1e-6", "0.999999"])
def test_no_rho_of_a_file_is_too_small_or_too_large(rho: str, delta: str) -> None:
    """Far beyond floats ε is still a bound: not below that of Gaussian noise, and near ρ where ρ is all that counts."""
    found = epsilon_of(Fraction(rho), Fraction(delta))
    if Fraction(rho) > 1:
        assert Fraction(rho) <= found * (1 + Fraction(1, 10**9)) <= Fraction(rho) * (1 + Fraction(3, 10**9))
    else:
        assert found < Fraction(1, 10**40)


def decimal_epsilon(order: Fraction, rho: Fraction, delta: Fraction) -> Fraction:
    """ε(α) to 300 digits, by the formula as it stands in the paper, solved for ε."""
    with localcontext(Context(prec=300)):
        alpha, rest = Decimal(order.numerator) / order.denominator, Decimal(delta.numerator) / delta.denominator
        beyond = alpha - 1
        without = (-rest.ln() - beyond.ln() + alpha * (1 - 1 / alpha).ln()) / beyond
        return order * rho + Fraction(without)


@pytest.mark.parametrize(
    ("delta", "size", "hair"),
    [
        (Fraction(1, 10**6), Fraction(1), Fraction(1, 10**54)),
        (Fraction(1, 10**30), Fraction(1, 10**26), Fraction(1, 10**62)),
        (1 - Fraction(4, 10**61), Fraction(1), Fraction(1, 10**46)),
    ],
    ids=["common", "tiny", "near 1"],
)
def test_a_hair_above_a_number_of_ten_digits_is_rounded_past_it(
    delta: Fraction, size: Fraction, hair: Fraction
) -> None:
    """The errors of the decimals are on the safe side: no ε is stated that is too small by the last of sixty digits."""

    def stated_order() -> Fraction:
        return Fraction(_best_order(float(rho), -_log(delta)))

    for thousandths in range(1100, 1120):
        border = size * Fraction(thousandths, 1000)
        # Find a ρ with which ε is the border and a hair; close to it the best order hardly moves.
        rho = rho_of(border, delta)
        for _ in range(3):
            rho += (border + hair - decimal_epsilon(stated_order(), rho, delta)) / stated_order()
        assert border < decimal_epsilon(stated_order(), rho, delta) < border + 2 * hair
        assert epsilon_of(rho, delta) > border


def test_it_does_not_depend_on_the_decimals_of_the_caller() -> None:
    """A program may count in two digits, and forbid rounding."""
    rho, delta = Fraction(123, 1000), Fraction(1, 12345)
    expected = epsilon_of(rho, delta)
    epsilon_of.cache_clear()
    with localcontext(Context(prec=2, rounding=ROUND_DOWN, traps=[Inexact])):
        assert epsilon_of(rho, delta) == expected


@given(value=st.fractions(Fraction(1, 10**30), 10**30))
def test_roots_are_rounded_to_the_side_that_is_asked_for(value: Fraction) -> None:
    """Twelve digits, at or above the root, or at or below it."""
    above, below = root(value, up=True), root(value, up=False)
    assert below**2 <= value <= above**2
    assert [rounded(side, 12, up=True) for side in (above, below)] == [above, below]
    assert above <= below * (1 + Fraction(3, 10**11))


@pytest.mark.parametrize(
    "scale", [Fraction(1, 10**200), Fraction(7, 2), Fraction(10**200)], ids=["tiny", "7/2", "huge"]
)
def test_whole_roots_are_exact_and_a_hair_more_is_not(scale: Fraction) -> None:
    """Nothing is lost where nothing needs rounding; the least bit more or less is rounded to the side asked for."""
    square, hair, step = scale**2, 1 + Fraction(1, 10**90), Fraction(1, 10**10)
    assert root(square, up=True) == root(square, up=False) == scale
    assert root(square * hair, up=False) == scale < root(square * hair, up=True) < scale * (1 + step)
    assert root(square / hair, up=True) == scale > root(square / hair, up=False) > scale * (1 - step)
    for near in (Fraction(10**50 + 1), Fraction(10**50 - 1)):
        assert root(near, up=False) ** 2 < near < root(near, up=True) ** 2
