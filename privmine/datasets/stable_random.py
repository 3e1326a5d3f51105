"""Random numbers that are the same everywhere and for good.

Generated data must not change with numpy: its bit streams are stable, the methods of its generators
are not. So only the raw 64-bit words of PCG64 are used, with arithmetic that rounds alike on every
platform: integers, the four operations, square roots, running sums from first to last, and logarithms
by `decimal`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext

import numpy as np

from privmine.errors import InputError
from privmine.model import FloatArray, IntArray

#: More digits than a float has, so that the last one is settled.
_DIGITS = 24
_BLOCK = 1 << 12


class StableRandom:
    """A stream of random numbers made of the raw words of one bit stream."""

    def __init__(self, seed: int) -> None:
        if seed < 0:
            raise InputError(f"A seed must not be negative, not {seed}.")
        self._bits = np.random.PCG64(seed)

    def uniform(self, count: int) -> FloatArray:
        """So many numbers from 0 to 1, 1 excluded."""
        raw = np.asarray(self._bits.random_raw(count), dtype=np.uint64)
        return (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def below(self, bound: int, count: int) -> IntArray:
        """So many whole numbers from 0 to bound − 1; the bias of at most bound/2³² does not matter here."""
        high = np.asarray(self._bits.random_raw(count), dtype=np.uint64) >> np.uint64(32)
        return ((high * np.uint64(bound)) >> np.uint64(32)).astype(np.int64)

    def stream(self) -> Iterator[float]:
        """Numbers from 0 to 1 one by one, without end; they come from the stream in blocks."""
        while True:
            yield from self.uniform(_BLOCK).tolist()

    def by_weight(self, running: FloatArray, count: int) -> IntArray:
        """So many positions, each with a chance proportional to its weight.

        Args:
            running: the running sums of the weights.
            count: how many positions.
        """
        drawn = np.searchsorted(running, self.uniform(count) * running[-1], side="right")
        return np.asarray(np.minimum(drawn, len(running) - 1), dtype=np.int64)

    def from_table(self, quantiles: FloatArray, count: int) -> FloatArray:
        """So many values of a distribution that is given by its quantiles at equal distances."""
        return quantiles[self.below(len(quantiles), count)]


def total(values: FloatArray) -> float:
    """The sum from first to last; numpy's own sum takes an order that depends on the processor."""
    return float(np.cumsum(values)[-1]) if len(values) else 0.0


def exponential_table(size: int) -> FloatArray:
    """The quantiles of the exponential distribution of mean 1, at `size` equal distances."""
    return _table(size, lambda rank: -((Decimal(2 * rank + 1) / (2 * size)).ln()))


def power_table(size: int, exponent: float) -> FloatArray:
    """The powers 1, 2^−exponent, 3^−exponent, …: the weights of Zipf's law."""
    power = -Decimal(str(exponent))
    return _table(size, lambda rank: Decimal(rank + 1) ** power)


def poisson_table(mean: float, size: int = 4096) -> FloatArray:
    """The quantiles of the Poisson distribution, at `size` equal distances."""
    with localcontext() as context:
        context.prec = _DIGITS
        chance = (-Decimal(str(mean))).exp()
        value, reached = 0, chance
        quantiles = []
        for rank in range(size):
            while reached < Decimal(2 * rank + 1) / (2 * size):
                value += 1
                chance = chance * Decimal(str(mean)) / value
                reached += chance
            quantiles.append(float(value))
    return np.array(quantiles)


def _table(size: int, entry: Callable[[int], Decimal]) -> FloatArray:
    with localcontext() as context:
        context.prec = _DIGITS
        return np.array([float(entry(rank)) for rank in range(size)])
