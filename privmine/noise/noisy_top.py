"""The candidates whose scores are largest after Laplace noise, named in order and decided exactly.

The noise is the continuous Laplace distribution, and no noisy score is ever told: all that leaves is
an order. So noise is never rounded. It is known within bounds, from as many random bits as have been
drawn; where bounds of two candidates overlap and the order matters, more bits of the same noise are
drawn and the bounds computed anew.

Of the members of a tail only the largest noises are made, from the gaps between order statistics. Let
E₁, E₂, … be independent exponentials; the j-th largest of T uniform numbers is e^(−s) with
s = E₁/T + E₂/(T−1) + … + E_j/(T−j+1) (Rényi), and its Laplace quantile is the j-th largest noise.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from attrs import define

from privmine.errors import InputError
from privmine.model import FloatArray, IntArray
from privmine.noise.protocol import Tail
from privmine.noise.uniform import FIRST_BITS, RandomBits, Uniform

_INFINITY = Decimal("Infinity")
_ZERO, _HALF, _ONE, _TWO = Decimal(0), Decimal("0.5"), Decimal(1), Decimal(2)
# Below this of 2^64, the first bits tell too little of a noise to bound it from above in floats:
# −ln u is then at least 32·ln 2 > 22. Above it, they leave −ln u uncertain by less than 2^(−31).
_FEW_BITS = 2**32
_FEW_BITS_LOGARITHM = 22.0


class _Bounds(NamedTuple):
    low: Decimal
    high: Decimal


def _minus(number: Decimal) -> Decimal:
    """The negative, as it is: the operator would round it to the digits of the thread's own context."""
    return number.copy_negate()


class _Rounded:
    """Arithmetic on bounds: all that lowers a bound is rounded down, all that raises it up.

    `Context.ln` and `Context.exp` are rounded to the nearest number, whatever the context says, so the
    exact value lies between the neighbours of what they return.
    """

    def __init__(self, digits: int) -> None:
        self._down = Context(prec=digits, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX)
        self._up = Context(prec=digits, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)

    def ratio(self, number: Fraction) -> _Bounds:
        numerator, denominator = Decimal(number.numerator), Decimal(number.denominator)
        return _Bounds(self._down.divide(numerator, denominator), self._up.divide(numerator, denominator))

    def add(self, x: _Bounds, y: _Bounds) -> _Bounds:
        return _Bounds(self._down.add(x.low, y.low), self._up.add(x.high, y.high))

    def scaled(self, factor: _Bounds, x: _Bounds) -> _Bounds:
        """The product with a positive factor."""
        return _Bounds(
            self._down.multiply(factor.low if x.low >= 0 else factor.high, x.low),
            self._up.multiply(factor.high if x.high >= 0 else factor.low, x.high),
        )

    def exponential(self, uniform: Uniform) -> _Bounds:
        """−ln u: an exponential variable."""
        if not uniform.numerator:
            # Nothing but zeros so far: u is below 2^(−bits), and ln 2 > 0.69.
            return _Bounds(self._down.multiply(Decimal("0.69"), Decimal(uniform.bits)), _INFINITY)
        numerator = Decimal(uniform.numerator)
        logarithm = self._down.ln(self._down.divide(numerator, Decimal(1 << uniform.bits)))
        # Up to the next numerator, −ln u falls by less than 1/numerator. Twice that also covers the
        # rounded division, since there are more digits than `bits` bits can tell apart.
        width = self._up.divide(_TWO, numerator)
        low = self._down.subtract(_minus(self._down.next_plus(logarithm)), width)
        return _Bounds(max(_ZERO, low), _minus(self._down.next_minus(logarithm)))

    def laplace_quantile(self, s: _Bounds) -> _Bounds:
        """The Laplace quantile of u = e^(−s): −ln(2·(1−u)) where 1−u ≤ ½, else ln 2 − s.

        Of the two the first is the larger one everywhere, so that it bounds from above, and the
        second one from below, also where it is not certain which of them is meant.
        """
        return _Bounds(self._quantile_low(s.high), self._quantile_high(s.low))

    def _quantile_low(self, s: Decimal) -> Decimal:
        rest = self._up.subtract(_ONE, self._down.next_minus(self._down.exp(_minus(s))))
        if rest <= _HALF:
            return _minus(self._up.next_plus(self._up.ln(self._up.multiply(_TWO, rest))))
        return self._down.subtract(self._down.next_minus(self._down.ln(_TWO)), s)

    def _quantile_high(self, s: Decimal) -> Decimal:
        rest = self._down.subtract(_ONE, self._up.next_plus(self._up.exp(_minus(s))))
        if rest <= 0:
            return _INFINITY
        if rest < _HALF:
            return _minus(self._down.next_minus(self._down.ln(self._down.multiply(_TWO, rest))))
        return self._up.subtract(self._up.next_plus(self._up.ln(_TWO)), s)


@define
class _Listed:
    """A listed candidate with its score, and its noise as a sign and a uniform number."""

    index: int
    score: int
    negative: bool
    uniform: Uniform


def noisy_top(
    scores: IntArray,
    n: int,
    scale: Fraction,
    tail: Tail | None = None,
    *,
    random_bits: RandomBits = secrets.randbits,
) -> IntArray:
    """Name the n candidates whose scores are largest after Laplace noise, largest first.

    Args:
        scores: the score of each candidate that is listed.
        n: how many to name.
        scale: the exact scale of the noise; positive.
        tail: candidates that are not listed.
        random_bits: where the noise comes from.

    Returns:
        The index of each; len(scores) for a member of the tail.
    """
    scores = np.ascontiguousarray(scores, dtype=np.int64)
    tail = tail or Tail(0, 0)
    if scale <= 0:
        raise InputError(f"The scale of noise must be above 0, not {scale}.")
    if not 0 <= n <= len(scores) + tail.size:
        raise InputError(f"There are fewer than {n} candidates, so {n} of them cannot be selected; lower n.")
    listed = _contenders(scores, n, scale, random_bits)
    gaps = [Uniform(random_bits(FIRST_BITS)) for _ in range(min(n, tail.size))]
    bits = FIRST_BITS
    while True:
        arithmetic = _Rounded(bits // 3 + tail.size.bit_length() // 3 + 20)
        factor = arithmetic.ratio(scale)
        noisy = [
            (_noisy(arithmetic, factor, candidate.score, _laplace(arithmetic, candidate)), candidate.index)
            for candidate in listed
        ]
        noisy += [
            (_noisy(arithmetic, factor, tail.score, noise), len(scores))
            for noise in _largest(arithmetic, gaps, tail.size)
        ]
        noisy.sort(key=lambda candidate: candidate[0].low, reverse=True)
        if _decided([bounds for bounds, _ in noisy], n):
            return np.array([index for _, index in noisy[:n]], dtype=np.int64)
        for uniform in [*(candidate.uniform for candidate in listed), *gaps]:
            uniform.extend(random_bits)
        bits *= 2


def _contenders(scores: IntArray, n: int, scale: Fraction, random_bits: RandomBits) -> list[_Listed]:
    """The listed candidates that may be among the n largest, as far as floats can tell from 64 bits each."""
    count = len(scores)
    if not n or not count:
        return []
    words = np.frombuffer(random_bits(FIRST_BITS * count).to_bytes(8 * count, "little"), dtype="<u8")
    signs = np.frombuffer(random_bits(8 * count).to_bytes(count, "little"), dtype=np.uint8) & 1 == 1
    low, high = _float_bounds(scores, words, signs, float(scale))
    reach = np.partition(low, count - n)[count - n] if n < count else -np.inf
    return [
        _Listed(index, int(scores[index]), bool(signs[index]), Uniform(int(words[index])))
        for index in np.flatnonzero(high >= reach).tolist()
    ]


def _float_bounds(
    scores: IntArray, words: np.ndarray[tuple[int, ...], np.dtype[np.uint64]], negative: np.ndarray, scale: float
) -> tuple[FloatArray, FloatArray]:
    """Bounds on the noisy scores, far wider than all that floats and 64 bits can be wrong by."""
    enough = words >= _FEW_BITS
    logarithm = 64 * np.log(2.0) - np.log(np.maximum(words, _FEW_BITS).astype(np.float64))
    least = np.where(enough, logarithm - 2.0**-29, _FEW_BITS_LOGARITHM)
    most = np.where(enough, logarithm + 2.0**-29, np.inf)
    exact = scores.astype(np.float64)
    low = exact + scale * np.where(negative, -most, least)
    high = exact + scale * np.where(negative, -least, most)
    slack = 2.0**-45 * (np.abs(exact) + scale * (logarithm + 1))
    return low - slack, high + slack


def _laplace(arithmetic: _Rounded, candidate: _Listed) -> _Bounds:
    size = arithmetic.exponential(candidate.uniform)
    return _Bounds(_minus(size.high), _minus(size.low)) if candidate.negative else size


def _largest(arithmetic: _Rounded, gaps: list[Uniform], size: int) -> Iterator[_Bounds]:
    """The largest of `size` Laplace noises, falling."""
    s = _Bounds(_ZERO, _ZERO)
    for taken, uniform in enumerate(gaps):
        part = arithmetic.ratio(Fraction(1, size - taken))
        s = arithmetic.add(s, arithmetic.scaled(part, arithmetic.exponential(uniform)))
        yield arithmetic.laplace_quantile(s)


def _noisy(arithmetic: _Rounded, factor: _Bounds, score: int, noise: _Bounds) -> _Bounds:
    return arithmetic.add(_Bounds(Decimal(score), Decimal(score)), arithmetic.scaled(factor, noise))


def _decided(falling: list[_Bounds], n: int) -> bool:
    """Whether each of the first n lies above all that follow it."""
    highest = -_INFINITY
    for position in range(len(falling) - 1, -1, -1):
        if position < n and falling[position].low <= highest:
            return False
        highest = max(highest, falling[position].high)
    return True
