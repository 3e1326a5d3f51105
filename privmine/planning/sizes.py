"""The errors of counts by the size of their itemsets: of one basis set, and over all that a run may build."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import sqrt

import numpy as np
from attrs import frozen

from privmine.model import FloatArray, NoisyCounts
from privmine.noise.laws import NoiseSum
from privmine.planning.rehearsal import LEVEL
from privmine.privacy.noise import DiscreteLaplace, Laplace
from privmine.release.intervals import KeptLaw, NormalLaw, kept_law

#: From this scale on it makes no difference to an interval that noise is of whole numbers.
WIDE = 20


@frozen
class SizeErrors:
    """The standard errors of the counts of all itemsets of one size, for one basis set.

    Attributes:
        size: how many items an itemset has.
        itemsets: how many itemsets of that size are counted.
        least: the smallest standard error among them.
        typical: the root of their mean error variance.
        most: the largest standard error among them.
        told: the count from which on a 95 % interval excludes 0, typical in the same way.
    """

    size: int
    itemsets: int
    least: float
    typical: float
    most: float
    told: float


@frozen
class SizeRange:
    """What the errors of one size may be, over all basis sets that were tried.

    Attributes:
        size: how many items an itemset has.
        low: the typical standard error for the best basis set.
        high: the typical standard error for the worst basis set.
        most: the largest standard error of any itemset, for any basis set.
        told_low: the smallest count that is clearly above 0, for the best basis set.
        told_high: the same for the worst.
    """

    size: int
    low: float
    high: float
    most: float
    told_low: float
    told_high: float


def size_errors(counts: NoisyCounts, longest: int | None = None, *, exactly: bool = False) -> tuple[SizeErrors, ...]:
    """Group what a reconstruction states by itemset size, the empty itemset left out.

    Args:
        counts: what it states.
        longest: the longest itemset to tell of.
        exactly: compute each half-width of wide discrete noise to the last transaction, which takes long.
    """
    lengths = counts.itemsets.lengths
    widths = _half_widths(counts, exactly)
    rows = []
    for size in np.unique(lengths[lengths > 0]).tolist():
        if longest is None or size <= longest:
            errors, reach = counts.standard_errors[lengths == size], widths[lengths == size]
            least, most = float(errors.min()), float(errors.max())
            rows.append(SizeErrors(size, len(errors), least, _root_mean_square(errors), most, _root_mean_square(reach)))
    return tuple(rows)


def scaled(errors: Sequence[SizeErrors], factor: float) -> tuple[SizeErrors, ...]:
    """The errors for noise that is so many times as large."""
    return tuple(
        SizeErrors(
            found.size, found.itemsets, factor * found.least, factor * found.typical, factor * found.most,
            factor * found.told,
        )
        for found in errors
    )  # fmt: skip


def one_scale(counts: NoisyCounts) -> Fraction | None:
    """The scale of the noise of all counts, where it is one and so wide that only its scale matters; else None."""
    scales = set()
    for law in (counts.laws[number] for number in np.unique(counts.law_of).tolist()):
        if not isinstance(law, NoiseSum) or len(law.parts) != 1 or not isinstance(law.parts[0][0], DiscreteLaplace):
            return None
        scales.add(law.parts[0][0].scale)
    return scales.pop() if len(scales) == 1 and min(scales) >= WIDE else None


def ranges(shapes: Iterable[Sequence[SizeErrors]]) -> tuple[SizeRange, ...]:
    """The ranges over several basis sets; one that counts no itemset of a size does not enter there."""
    by_size: dict[int, list[SizeErrors]] = {}
    for errors in shapes:
        for found in errors:
            by_size.setdefault(found.size, []).append(found)
    return tuple(
        SizeRange(
            size,
            low=min(found.typical for found in group),
            high=max(found.typical for found in group),
            most=max(found.most for found in group),
            told_low=min(found.told for found in group),
            told_high=max(found.told for found in group),
        )
        for size, group in sorted(by_size.items())
    )


def _half_widths(counts: NoisyCounts, exactly: bool) -> FloatArray:
    """Half the width of the interval of each count."""
    if not len(counts.law_of):
        return counts.standard_errors * NormalLaw(1.0).half_width(LEVEL)
    used = np.unique(counts.law_of)
    widths = np.zeros(len(counts.laws))
    # As a release would keep them: a law that gives no half-widths is told in words.
    kept = [kept_law(counts.laws[law]) for law in used.tolist()]
    widths[used] = [law.half_width(LEVEL) if exactly else _half_width(law) for law in kept if law is not None]
    return widths[counts.law_of]


def _half_width(law: KeptLaw) -> float:
    """Half the width of an interval; of wide discrete noise as that of Laplace noise, up to half a transaction.

    That is the same for all scales but for a factor, so that it is computed once for many ε and bases.
    """
    if isinstance(law, NoiseSum) and len(law.parts) == 1:
        noise, terms = law.parts[0]
        if isinstance(noise, DiscreteLaplace) and noise.scale >= WIDE:
            return float(noise.scale) * NoiseSum(Laplace(1), terms).half_width(LEVEL)
    return law.half_width(LEVEL)


def _root_mean_square(values: FloatArray) -> float:
    # A mean of equal squares is rounded; their root must still not leave the range of the values.
    return float(np.clip(sqrt(float(np.mean(values**2))), values.min(), values.max()))
