"""How the noise in a count is distributed."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite, sqrt
from typing import Any

from attrs import field, frozen

from privmine.errors import InputError
from privmine.noise.quantiles import Parts, Terms, half_width
from privmine.privacy.noise import DiscreteElliptope, Noise, noise_from_dict

# What a file calls a sum of noises of different scales.
_SUM = "sum"


def _terms(values: Iterable[tuple[int, float]]) -> Terms:
    """Sorted; terms of equal weight are one term, and what adds nothing is left out."""
    draws_of: dict[float, int] = {}
    for draws, weight in values:
        if draws < 0 or not isfinite(weight):
            raise InputError(f"A term of noise is a number of draws and a weight, not {draws!r} and {weight!r}.")
        # The distributions are symmetric, so the sign of a weight makes no difference.
        draws_of[abs(float(weight))] = draws_of.get(abs(float(weight)), 0) + int(draws)
    return tuple(sorted((draws, weight) for weight, draws in draws_of.items() if draws and weight))


def _parts(values: Iterable[tuple[Noise, Iterable[tuple[int, float]]]]) -> Parts:
    """Sorted by scale; each noise once, and none without terms unless there is no other."""
    terms_of: dict[Noise, Terms] = {}
    for noise, terms in values:
        terms_of[noise] = _terms((*terms_of.get(noise, ()), *terms))
    if len({noise.is_discrete for noise in terms_of}) > 1:
        raise InputError("Discrete noise and noise in floating point do not add up. Use the answers of one run.")
    if any(isinstance(noise, DiscreteElliptope) for noise in terms_of):
        raise InputError(
            "The values of a moment matrix have no independent noise, so sums of them have noise of another kind. "
            "State the standard deviation of a count that was made of them instead."
        )
    some = [(noise, terms) for noise, terms in terms_of.items() if terms] or list(terms_of.items())[:1]
    return tuple(sorted(some, key=lambda part: (part[0].scale, part[0].distribution)))


@frozen(init=False)
class NoiseSum:
    """The noise of a count that is a weighted sum of measured numbers, each with noise of its own.

    `NoiseSum(noise, terms)` is a sum of draws of one noise, where `terms` are pairs (draws, weight): the sum of
    so many independent draws, times the weight; all added up. `first + second` is the sum of independent noises,
    which may have different scales, as a count from two measurements has.

    Attributes:
        parts: pairs (noise, terms): the distribution of one draw, and the terms that it is drawn for.
    """

    parts: Parts = field(converter=_parts)

    def __init__(self, noise: Noise, terms: Iterable[tuple[int, float]]) -> None:
        self.__attrs_init__([(noise, terms)])

    def __add__(self, other: object) -> NoiseSum:
        """The sum with noise that is independent of this one."""
        return self._of((*self.parts, *other.parts)) if isinstance(other, NoiseSum) else NotImplemented

    @classmethod
    def _of(cls, parts: Iterable[tuple[Noise, Iterable[tuple[int, float]]]]) -> NoiseSum:
        law = cls.__new__(cls)
        law.__attrs_init__(parts)
        return law

    @property
    def is_discrete(self) -> bool:
        """Whether each draw is a whole number, as in a private release."""
        return all(noise.is_discrete for noise, _ in self.parts)

    @property
    def standard_error(self) -> float:
        """The standard deviation."""
        squares = ((noise, sum(draws * weight * weight for draws, weight in terms)) for noise, terms in self.parts)
        return sqrt(sum(noise.variance * square for noise, square in squares))

    def half_width(self, level: float) -> float:
        """The least h such that the noise lies within ±h with a probability of at least `level`.

        Of discrete noise on a lattice whose step is no power of two, a thousandth of a step more: a count
        is rounded to a float, and an interval must not lose the point on its border to that. Of discrete
        noise whose weights have no simple common step, the half-width of Laplace noise plus the sum of the
        weights, which is never less.
        """
        return half_width(self.parts, check_level(level))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; a scale becomes text, so that nothing is rounded."""
        parts = [{**noise.to_dict(), "terms": [list(term) for term in terms]} for noise, terms in self.parts]
        return {"distribution": _SUM, "parts": parts} if len(parts) > 1 else parts[0]

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> NoiseSum:
        """Read what `to_dict` wrote, and nothing else: a file may come from anybody."""
        parts = values["parts"] if values["distribution"] == _SUM else [values]
        if not parts or not all(
            type(draws) is int and type(weight) in (int, float) for part in parts for draws, weight in part["terms"]
        ):
            raise InputError("A term of noise is a number of draws and a weight.")
        return cls._of((noise_from_dict(part), part["terms"]) for part in parts)


def check_level(level: float) -> float:
    """Refuse a level that is no probability."""
    if isinstance(level, bool) or not isinstance(level, float) or not 0 < level < 1:
        raise InputError(f"The level of an interval must lie between 0 and 1, for instance 0.95, not {level!r}.")
    return float(level)
