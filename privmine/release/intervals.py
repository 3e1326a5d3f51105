"""Intervals for released counts, and the laws of noise as a release keeps them."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from math import inf, isfinite
from statistics import NormalDist
from typing import Any, NamedTuple, TypeAlias

from attrs import field, frozen

from privmine.errors import ContractError, InputError
from privmine.model import NoiseLaw
from privmine.noise.laws import NoiseSum, check_level

# What scales, weights and half-widths may be; all that mechanisms need lies far inside.
_SMALLEST, _LARGEST = 1e-50, 1e50
_MOST_DRAWS = 1 << 62
_TABULATED = (*(percent / 100 for percent in range(1, 100)), 0.995, 0.999, 0.9999)


@frozen
class NormalLaw:
    """Noise of which only the standard deviation is known, taken to be normal."""

    standard_error: float

    def half_width(self, level: float) -> float:
        """The half-width of a normal interval."""
        return self.standard_error * NormalDist().inv_cdf((1 + check_level(level)) / 2)


def _floats(values: Any) -> tuple[float, ...]:
    return tuple(map(float, values))


@frozen
class TabulatedLaw:
    """Noise that is known by the half-widths of a few intervals, so that it can be saved.

    Attributes:
        levels: those of the intervals, rising.
        widths: the half-width at each level.
    """

    levels: tuple[float, ...] = field(converter=_floats, repr=False)
    widths: tuple[float, ...] = field(converter=_floats)

    @classmethod
    def of(cls, law: NoiseLaw) -> TabulatedLaw:
        """Ask any law for its half-widths, all at once by a method `half_widths(levels)` if it has one."""
        try:
            many = getattr(law, "half_widths", None)
            widths = [law.half_width(level) for level in _TABULATED] if many is None else many(_TABULATED)
            found = cls(_TABULATED, widths)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # A law that exits would take a release along that is paid for.
            raise ContractError(f"The law {type(law).__name__} of a count's noise gives no half-widths.") from error
        if len(found.widths) != len(_TABULATED):
            raise ContractError(f"The law {type(law).__name__} of a count's noise gives no half-widths.")
        return found

    @cached_property
    def is_usable(self) -> bool:
        """Whether it gives intervals. Each release has many tables, and each table is asked twice."""
        levels, widths = list(self.levels), list(self.widths)
        return (
            (self.levels == _TABULATED or levels == sorted({level for level in levels if 0 < level < 1}))
            and max(levels, default=0) >= _TABULATED[-1]
            and len(levels) == len(widths)
            and isfinite(sum(widths))
            and widths == sorted(widths)
            and widths[0] >= 0
            and widths[-1] <= _LARGEST
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "distribution": "tabulated",
            "widths": [list(pair) for pair in zip(self.levels, self.widths, strict=True)],
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TabulatedLaw:
        """Read what `to_dict` wrote."""
        pairs = sorted((float(level), float(width)) for level, width in values["widths"])
        return cls([level for level, _ in pairs], [width for _, width in pairs])

    def half_width(self, level: float) -> float:
        """The half-width at the next higher level that is in the table."""
        place = bisect_left(self.levels, check_level(level))
        if place == len(self.levels):
            raise InputError(f"Intervals of this release are known up to a level of {self.levels[-1]:g} only.")
        return self.widths[place]


#: For the receipt of a release that shows estimates.
ESTIMATED = (
    "itemsets are ranked and shown by estimates, which may be biased; intervals are those of the unbiased counts, so "
    "that an estimate may lie outside its interval"
)

#: The laws that can be written to a file and read again.
KeptLaw: TypeAlias = NoiseSum | TabulatedLaw


def kept_law(law: NoiseLaw | None) -> KeptLaw | None:
    """A law as a release keeps it: privmine's own laws stay as they are, any other becomes a table.

    Raises:
        ContractError: no intervals can be computed from it.
    """
    if law is None:
        return None
    kept = law if isinstance(law, NoiseSum | TabulatedLaw) else TabulatedLaw.of(law)
    if not (_is_usable_sum(kept) if isinstance(kept, NoiseSum) else kept.is_usable):
        raise ContractError(
            f"The law {type(law).__name__} of a count's noise gives no intervals: half-widths must be finite and grow "
            f"with the level, from 0 on; scales and weights must lie between {_SMALLEST:g} and {_LARGEST:g}."
        )
    return kept


def law_from_dict(values: dict[str, Any]) -> KeptLaw | None:
    """Read what the `to_dict` of a kept law wrote."""
    return kept_law((TabulatedLaw if values["distribution"] == "tabulated" else NoiseSum).from_dict(values))


def _is_usable_sum(law: NoiseSum) -> bool:
    """Whether quantiles can be computed: beyond these bounds squares leave the range of floats."""
    return all(
        _SMALLEST <= noise.scale <= _LARGEST
        and all(draws <= _MOST_DRAWS and _SMALLEST <= weight <= _LARGEST for draws, weight in terms)
        for noise, terms in law.parts
    )


class Interval(NamedTuple):
    """From where to where, both ends included."""

    low: float
    high: float


def interval(value: float, law: NoiseLaw, level: float, most: float = inf) -> Interval:
    """An interval for a count around its noisy value.

    No count is below 0 or above `most`, so that an interval ends there. One that lies wholly outside becomes
    the nearest possible count: cutting off what cannot be never loses the truth.
    """
    reach = law.half_width(level)
    return Interval(*(min(max(end, 0.0), most) for end in (value - reach, value + reach)))
