"""The exponential mechanism without replacement, drawn exactly from millions of candidates.

Scores are integers with few distinct values. Candidates of one score form a class; a draw picks a class
with probability proportional to its size × e^(rate·score), then a uniform member, which leaves its class.
That is the peeling exponential mechanism, candidate by candidate.

The class of a draw is where a uniform number u falls among the cumulative weights of the classes, which
are known only within bounds. At first 64 bits of u meet weights in float arithmetic, with a proven bound
on their error; with k classes that leaves about k draws in 10^11 open. Such a draw keeps its u, which
gets more bits and meets weights of more digits, until it is decided. No weight is neglected: what is too
small to compute is part of the bound. `docs/privacy-samplers.md` has the argument in full.
"""

from __future__ import annotations

import secrets
from bisect import bisect_right
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import accumulate
from math import frexp, ldexp
from typing import TypeAlias

import numpy as np
from attrs import frozen

from privmine.errors import InputError
from privmine.model import FloatArray, IntArray
from privmine.noise.exponential import exp_minus, working_context
from privmine.noise.protocol import Tail
from privmine.noise.uniform import FIRST_BITS, RandomBits

#: Gives a uniform integer from 0 up to, and without, its argument.
Below: TypeAlias = Callable[[int], int]

# Constants of the float path, derived in docs/privacy-samplers.md.
FLOAT_EXPONENT = 700  # below e^(−700) of the largest, weights are not computed: they sum to less than 1 unit,
FLOAT_CANDIDATES = 2**512  # as long as there are at most this many candidates
FLOAT_UNITS = 60  # the total is scaled to between 2^59 and 2^60 units
FLOAT_ERROR_SHIFT = 39  # relative errors move a cumulative weight by at most 2^(−39) of the total
FLOAT_RATE = Fraction(2**900)  # at any larger rate a gap of 1 is out of reach as well
RESCALE_BELOW = 2**56  # once so few units are left, the weights are computed anew


@frozen
class Ladder:
    """Cumulative weights of the classes in integer units, with a bound on their error.

    Attributes:
        first: the class of the lowest rung. The classes before it have no rung: their weight is part of
            the error.
        rungs: for each class from `first` on, the weight of all classes up to and with it.
        error: no rung is further than this from its exact value. What the unit is does not matter.
    """

    first: int
    rungs: Sequence[int] | IntArray
    error: int

    def class_at(self, numerator: int, bits: int) -> int | None:
        """The class of all u from numerator/2^bits to (numerator + 1)/2^bits, or None if that is open."""
        total = int(self.rungs[-1])
        rung = bisect_right(self.rungs, numerator * total >> bits)
        start = int(self.rungs[rung - 1]) if rung else 0
        stop = int(self.rungs[rung])
        lowest = numerator * (total - self.error) >> bits
        highest = -(-(numerator + 1) * (total + self.error) >> bits)
        if start + self.error <= lowest and highest <= stop - self.error:
            return self.first + rung
        return None


class FloatWeights:
    """Weights in float arithmetic, truncated to whole units, so that their sums are exact."""

    def __init__(self, first: int, sizes: FloatArray, gaps: FloatArray, rate: Fraction) -> None:
        """Compute the weights size × e^(−rate·gap), of which at least one has a gap of 0."""
        exponents = gaps * float(min(rate, FLOAT_RATE))
        # One more than the exponent of the window, so that rounding does not push out what is in it.
        self._decay = np.where(exponents <= FLOAT_EXPONENT + 1, np.exp(-exponents), 0.0)
        weights = sizes * self._decay
        self._shift = FLOAT_UNITS - frexp(float(weights.sum()))[1]
        rungs = np.cumsum(np.ldexp(weights, self._shift).astype(np.int64))
        self.ladder = Ladder(first, rungs, (int(rungs[-1]) >> FLOAT_ERROR_SHIFT) + len(rungs) + 3)

    @property
    def total(self) -> int:
        """The units of all classes together."""
        return int(self.ladder.rungs[-1])

    def resize(self, number: int, size: int) -> None:
        """Give a class another size; a smaller one, so that the error of the ladder still covers it."""
        rungs = np.asarray(self.ladder.rungs)
        rung = number - self.ladder.first
        if rung >= 0:
            before = rungs[rung] - (rungs[rung - 1] if rung else 0)
            rungs[rung:] += int(ldexp(float(size) * float(self._decay[rung]), self._shift)) - before


class Peeling:
    """Draws classes one after another; each draw removes one member of the class that it hits."""

    def __init__(
        self,
        scores: IntArray,
        sizes: IntArray,
        rate: Fraction,
        tail: Tail,
        random_bits: RandomBits = secrets.randbits,
    ) -> None:
        """Start with full classes.

        Args:
            scores: the distinct scores, ascending.
            sizes: how many candidates have each of them.
            rate: the factor of the scores in the exponent.
            tail: one more class, the last; its number is len(scores).
            random_bits: where u comes from.
        """
        self._scores = scores
        self._sizes = sizes.copy()
        self._rate = rate
        self._tail_score = tail.score
        self._tail_size = tail.size
        self._left = int(sizes.sum()) + tail.size
        self._random_bits = random_bits
        self._highest = len(scores) - 1
        self._floats: FloatWeights | None = None

    def draw(self) -> int:
        """The number of the class that is drawn."""
        bits = FIRST_BITS
        numerator = self._random_bits(bits)
        drawn = self._float_ladder().class_at(numerator, bits) if self._left <= FLOAT_CANDIDATES else None
        while drawn is None:
            # The same u goes on. A new one would favour the classes that are decided easily.
            numerator = numerator << bits | self._random_bits(bits)
            bits *= 2
            drawn = self._decimal_ladder(bits).class_at(numerator, bits)
        self._remove_from(drawn)
        return drawn

    def _remove_from(self, number: int) -> None:
        self._left -= 1
        if number == len(self._scores):
            self._tail_size -= 1
            size = self._tail_size
        else:
            self._sizes[number] -= 1
            size = int(self._sizes[number])
        if self._floats is not None:
            self._floats.resize(number, size)

    def _window(self, exponent: int) -> tuple[int, int]:
        """The highest score left, and the first class whose members weigh at least e^(−exponent) of it."""
        while self._highest >= 0 and not self._sizes[self._highest]:
            self._highest -= 1
        left = [int(self._scores[self._highest])] if self._highest >= 0 else []
        top = max([*left, self._tail_score] if self._tail_size else left)
        if not self._rate:
            return top, 0
        lowest = top - exponent * self._rate.denominator // self._rate.numerator
        if lowest <= np.iinfo(np.int64).min:
            return top, 0
        return top, int(np.searchsorted(self._scores, lowest))

    def _float_ladder(self) -> Ladder:
        if self._floats is None or self._floats.total < RESCALE_BELOW:
            top, first = self._window(FLOAT_EXPONENT)
            # Modulo 2^64 the differences of any two scores are right. Above the top, where they
            # are not, classes are empty.
            gaps = np.uint64(top % 2**64) - self._scores[first:].view(np.uint64)
            self._floats = FloatWeights(
                first,
                np.append(self._sizes[first:].astype(np.float64), float(self._tail_size)),
                np.append(gaps.astype(np.float64), float(max(0, top - self._tail_score))),
                self._rate,
            )
        return self._floats.ladder

    def _decimal_ladder(self, bits: int) -> Ladder:
        """Weights with a total of about 2^bits units, each less than one unit and a bit too small."""
        # e^(−reach) of the largest, times all candidates, is less than half a unit.
        reach = bits + self._left.bit_length() + 1
        top, first = self._window(reach)
        classes = [
            *zip(self._scores[first:].tolist(), self._sizes[first:].tolist(), strict=True),
            (self._tail_score, self._tail_size),
        ]
        digits = bits // 3 + len(str(len(classes))) + 4
        with localcontext(working_context(digits + 4)):
            weights = [
                _decimal(size, bits) * exp_minus(self._rate * (top - score), digits)
                if size and self._rate * (top - score) <= reach
                else Decimal(0)
                for score, size in classes
            ]
            unit = sum(weights) / Decimal(2**bits)
            rungs = list(accumulate(int(weight / unit) for weight in weights))
        return Ladder(first, rungs, len(classes) + 2)


def _decimal(size: int, bits: int) -> Decimal:
    """The size, up to a relative error of 2^(−bits−63): to convert all of an astronomic one is slow."""
    spare = max(0, size.bit_length() - bits - 64)
    return Decimal(size >> spare) * Decimal(2) ** spare


def select(
    scores: IntArray,
    n: int,
    rate: Fraction,
    tail: Tail | None = None,
    *,
    random_bits: RandomBits = secrets.randbits,
    below: Below = secrets.randbelow,
) -> IntArray:
    """Draw n candidates one after another without replacement, each with weight e^(rate·score).

    Args:
        scores: the score of each candidate that is listed.
        n: how many to draw.
        rate: the exact factor of the scores; not negative.
        tail: candidates that are not listed.
        random_bits: where the choice of a class gets its randomness.
        below: where the choice of a member gets its randomness.

    Returns:
        The index of each candidate in the order of the draws; len(scores) for a member of the tail.
    """
    scores = np.ascontiguousarray(scores, dtype=np.int64)
    tail = tail or Tail(0, 0)
    if rate < 0:
        raise InputError(f"The rate of a selection must not be negative, not {rate}.")
    if not 0 <= n <= len(scores) + tail.size:
        raise InputError(f"{n} of the candidates, {len(scores)} and the tail, cannot be selected; lower n.")
    distinct, sizes = score_classes(scores)
    peeling = Peeling(distinct, sizes, rate, tail, random_bits)
    drawn = [peeling.draw() for _ in range(n)]
    answers = np.full(n, len(scores), dtype=np.int64)
    listed = np.flatnonzero(np.array(drawn, dtype=np.int64) < len(distinct))
    numbers = [drawn[position] for position in listed.tolist()]
    answers[listed] = _locate(scores, distinct[numbers], distinct_ranks(numbers, sizes, below))
    return answers


def score_classes(scores: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct scores, ascending, and how many candidates have each."""
    if len(scores):
        low, high = int(scores.min()), int(scores.max())
        # Counting beats sorting where the table of counts is not much longer than the scores.
        if high - low < 4 * len(scores):
            sizes = np.bincount(scores - low)
            present = np.flatnonzero(sizes)
            return present + low, sizes[present]
    return np.unique(scores, return_counts=True)


def distinct_ranks(numbers: Sequence[int], sizes: IntArray, below: Below) -> list[int]:
    """For each draw of a class, which of its members: uniform among those that are left.

    This shuffles each class as Fisher and Yates do, and remembers only the places that moved.
    """
    left: dict[int, int] = {}
    moved: dict[tuple[int, int], int] = {}
    ranks = []
    for number in numbers:
        last = left.get(number, int(sizes[number])) - 1
        place = below(last + 1)
        ranks.append(moved.get((number, place), place))
        moved[number, place] = moved.get((number, last), last)
        left[number] = last
    return ranks


def _locate(scores: IntArray, wanted: IntArray, ranks: Sequence[int]) -> IntArray:
    """The position of the candidate that has that rank among those with the wanted score."""
    positions = np.flatnonzero(np.isin(scores, wanted))
    positions = positions[np.argsort(scores[positions], kind="stable")]
    starts = np.searchsorted(scores[positions], wanted)
    return positions[starts + np.array(ranks, dtype=np.int64)]
