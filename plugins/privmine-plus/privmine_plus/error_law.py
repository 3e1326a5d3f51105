"""The law of an error of which only the standard deviation is known."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from statistics import NormalDist

from attrs import frozen

#: Tails are a little heavier than normal ones: intervals are stretched by so much.
_STRETCH = 1.05


@cache
def _normal_width(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)


@cache
def _normal_widths(levels: tuple[float, ...]) -> list[float]:
    return [_normal_width(level) for level in levels]


@frozen
class ErrorLaw:
    """An error of which the standard deviation is known, about normal.

    Attributes:
        deviation: the standard deviation.
    """

    deviation: float

    def half_width(self, level: float) -> float:
        """The half-width of a normal interval, stretched."""
        return _STRETCH * self.deviation * _normal_width(level)

    def half_widths(self, levels: Sequence[float]) -> list[float]:
        """The half-widths of several intervals."""
        deviation = _STRETCH * self.deviation
        return [deviation * width for width in _normal_widths(tuple(levels))]
