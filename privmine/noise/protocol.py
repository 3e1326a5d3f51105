"""What the curator asks of a source of noise."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from attrs import frozen
from numpy.typing import NDArray

from privmine.model import IntArray
from privmine.privacy.noise import Noise


@frozen
class Tail:
    """A class of candidates that all have the same score and are too many to list.

    Attributes:
        score: their common score.
        size: how many they are; an integer of any size.
    """

    score: int
    size: int


class NoiseSource(Protocol):
    """Randomness as the curator needs it.

    Attributes:
        name: for the receipt, with the version of what samples.
        private: whether an answer drawn from this source may be released.
    """

    @property
    def name(self) -> str: ...

    @property
    def private(self) -> bool: ...

    def draws(self, noise: Noise) -> Noise:
        """The noise that this source adds when it is asked for that one: the same, or its like in floating point."""

    def add(self, values: IntArray, noise: Noise) -> NDArray[Any]:
        """Add to each value an independent draw of this noise, which `draws` gave; never less than that.

        Values that get discrete noise stay whole numbers.
        """

    def select(self, scores: IntArray, n: int, rate: Fraction, tail: Tail | None = None) -> IntArray:
        """Draw n candidates one after another without replacement, each with weight e^(rate·score).

        Candidate i of `scores` is answered as i. The members of the tail are not told apart here:
        each draw from the tail is answered as len(scores), and shrinks it by one. n never exceeds
        the number of candidates, tail included.
        """

    def below(self, bound: int) -> int:
        """A uniform integer from 0 to bound − 1."""


@runtime_checkable
class NoisyTopSource(Protocol):
    """A source of noise that can also select by Laplace noise on every score."""

    def noisy_top(self, scores: IntArray, n: int, scale: Fraction, tail: Tail | None = None) -> IntArray:
        """Name the n candidates whose scores are largest after Laplace noise of this scale, in that order.

        Answers are those of `NoiseSource.select`: a member of the tail is answered as len(scores).
        """


@runtime_checkable
class SetSource(Protocol):
    """A source of noise that can also draw a whole set at once."""

    def select_set(self, scores: IntArray, n: int, rate: Fraction, tail: Tail | None = None) -> IntArray:
        """Draw a set of n candidates with weight e^(−rate·gap), the gap being that of `noise/sets.py`.

        The members are answered by their index, rising, and those of the tail as len(scores).
        """
