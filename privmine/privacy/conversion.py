"""What ρ of zero-concentrated differential privacy is worth in ε and δ.

A mechanism that is ρ-zCDP has Rényi divergences of at most α·ρ for every order α > 1. Canonne, Kamath and Steinke
(2020, Proposition 12) show that it is then (ε, δ)-differentially private for every α > 1 with

    δ = e^((α−1)·(α·ρ−ε)) / (α−1) · (1 − 1/α)^α,

which, solved for ε, is

    ε(α) = α·ρ + (ln(1/δ) − ln α)/(α−1) + ln(1 − 1/α).

Every α gives a bound that holds, so that the best one may be searched for in floating point. What counts is that ε(α)
is then computed without an error to the wrong side: in decimals of many digits, and rounded up. Its derivative is
ρ − (ln(1/δ) − ln α)/(α−1)², which changes its sign once.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache, reduce
from math import inf, isqrt, log, log1p, nextafter

#: The digits of an ε that is stated, and of a ρ or a scale that is derived: to the safe side from there on.
_EPSILON_DIGITS = 10
_DERIVED_DIGITS = 12
_EXACT = Context(prec=60)
# Each of the handful of operations is rounded to 60 digits; this is far more than they can be off together, relative to
# the terms that are added up. The rounding of δ itself is divided by α − 1.
_ERROR = Decimal("1e-50")


@lru_cache(maxsize=4096)
def epsilon_of(rho: Fraction, delta: Fraction) -> Fraction:
    """The ε that ρ is worth at this δ, rounded up to ten digits; never below 0."""
    if rho == 0:
        return Fraction(0)
    order = Fraction(_best_order(_float(rho), -_log(delta)))
    alpha = _decimal(order)
    beyond = _decimal(order - 1)
    terms = (
        _EXACT.multiply(alpha, _decimal(rho)),
        _EXACT.divide(_EXACT.minus(_EXACT.ln(_decimal(delta))), beyond),
        _EXACT.divide(_EXACT.minus(_EXACT.ln(alpha)), beyond),
        _EXACT.ln(_EXACT.divide(beyond, alpha)),
    )
    # Not with `sum`, which adds to fewer digits.
    total = reduce(_EXACT.add, terms)
    sizes = (*map(Decimal.copy_abs, terms), _EXACT.divide(Decimal(1), beyond))
    above = _EXACT.add(total, _EXACT.multiply(_ERROR, reduce(_EXACT.add, sizes, Decimal(1))))
    return max(Fraction(0), rounded(Fraction(above), _EPSILON_DIGITS, up=True))


@lru_cache(maxsize=4096)
def rho_of(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest ρ of twelve digits that is worth at most this ε at this δ."""
    low, high = 0.0, 1.0
    while epsilon_of(Fraction(high), delta) <= epsilon:
        high *= 2
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if epsilon_of(Fraction(middle), delta) <= epsilon else (low, middle)
    return rounded(Fraction(low), _DERIVED_DIGITS, up=False)


def largest_epsilon_of(rho: Fraction, delta: Fraction) -> Fraction:
    """An ε of nine digits for which `rho_of` gives no more than this ρ, and nearly as much."""
    worth = epsilon_of(rho, delta)
    if worth == 0:
        return worth
    below = rounded(worth, _EPSILON_DIGITS - 1, up=False)
    # What is worth less than ρ is has less than this ρ; only where nothing was rounded off may it have more.
    if below < worth or rho_of(below, delta) <= rho:
        return below
    return rounded(below * (1 - Fraction(1, 10 ** (_EPSILON_DIGITS - 1))), _EPSILON_DIGITS - 1, up=False)


def root(value: Fraction, *, up: bool) -> Fraction:
    """The square root of a positive number, to twelve digits, rounded up or down."""
    # √(a/b) = √(a·b)/b, with 64 binary places more than the whole part of √(a·b) has, which is more than enough.
    widen = 1 << 64
    product = value.numerator * value.denominator * widen**2
    whole = isqrt(product - 1) + 1 if up else isqrt(product)
    return rounded(Fraction(whole, widen * value.denominator), _DERIVED_DIGITS, up=up)


def rounded(value: Fraction, digits: int, *, up: bool) -> Fraction:
    """A number to so many significant decimal digits, rounded up or down."""
    direction = ROUND_CEILING if up else ROUND_FLOOR
    # The division is rounded in the same direction, so that the result never passes the number.
    fine = Context(prec=digits, rounding=direction)
    return Fraction(fine.divide(Decimal(value.numerator), Decimal(value.denominator)))


def _best_order(rho: float, log_inverse_delta: float) -> float:
    """An α near which ε(α) is least, by bisection for the zero of its derivative."""
    low, high = 0.0, 1.0
    while rho * high * high < log_inverse_delta - log1p(high):
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        is_below = rho * middle * middle < log_inverse_delta - log1p(middle)
        low, high = (middle, high) if is_below else (low, middle)
    # An order must be above 1 as a float too.
    return max(1 + (low + high) / 2, nextafter(1.0, inf))


def _log(value: Fraction) -> float:
    """The logarithm of a fraction that may be too small for a float."""
    return log(value.numerator) - log(value.denominator)


def _float(value: Fraction) -> float:
    """A float near a positive number; where there is none, the smallest or infinity, which will do for a search."""
    try:
        return max(float(value), nextafter(0.0, inf))
    except OverflowError:
        return inf


def _decimal(value: Fraction) -> Decimal:
    return _EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))
