"""Bases that cover the itemsets that matter, for the case that counting them by bins is the better way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from privmine.api import DEFAULT_LIMIT, Answer, BasisSet, Elements, FloatArray, IntArray, Itemset, Request, hookimpl
from privmine_plus.beliefs import Beliefs, beliefs_of, in_public_order
from privmine_plus.budget import growth, scale_at
from privmine_plus.regime import deviation, doubts, threshold_of

#: More bases, or more itemsets to cover, never pay.
_MOST_BASES, _MOST_ITEMSETS = 120, 1500
#: Bins are counted where they promise errors below this part of θ̂.
PRECISE = 0.2
#: The log-odds at which a candidate may well be among the first k: a chance of one in ten.
_MAY_WELL = -2.2

#: What counts and intervals rest on, for the receipt.
NOTES = (
    "Precise counts are those that were measured; counts of bins are unbiased. The other counts are posterior means. "
    "Where each transaction was counted only in part, intervals are no guarantee: they rest on a prior for counts, and "
    "they assume that what was not counted is spread about evenly over the itemsets. Some itemsets of three and more "
    "items may be guessed from the counts of their subsets; their intervals are wide.",
)


@frozen
class FirstFitBases:
    """Covers the undecided itemsets and the likely first k by bases, first fit by overlap.

    All lengths from 3 to 12 are tried, and the one of least predicted error is taken. Where no cover is
    small enough there is none: `refine` then counts directly. The candidates stay what was selected.

    Privacy: this stage has no curator; it post-processes noisy answers.
    """

    @hookimpl
    def construct_basis(self, request: Request, elements: Elements, answers: tuple[Answer, ...]) -> BasisSet:
        """Cover what matters; see `Stages.construct_basis`."""
        threshold = threshold_of(request, answers)
        found = None if threshold is None else beliefs_of(request, threshold, answers)
        if threshold is None or found is None:
            named = (*((item,) for item in elements.items), *elements.itemsets)
            return BasisSet(
                bases=best_cover(named, power=growth(request)).bases, candidates=tuple(dict.fromkeys(named))
            )
        # The whole budget buys bins of w bases noise of w^power scales; more bases than this are never precise.
        power = growth(request)
        most = int((PRECISE * threshold.theta / deviation(scale_at(request, 1))) ** (1 / power))
        wanted = [found.itemsets[place] for place in worth_counting(found, request.k).tolist()]
        cover = best_cover(wanted, min(most, _MOST_BASES), power)
        return BasisSet(bases=cover.bases, candidates=found.itemsets, notes=NOTES + doubts(threshold))


def worth_counting(found: Beliefs, k: int) -> IntArray:
    """The likely first k, and what may well be among them, by falling counts: each costs all others noise."""
    places = np.union1d(np.flatnonzero(found.odds(k) > _MAY_WELL), found.ranking(k)[:k])
    return places[in_public_order([found.itemsets[place] for place in places.tolist()], found.means()[places])]


@frozen
class Cover:
    """Bases that cover some itemsets.

    Attributes:
        bases: none where too many would be needed.
        variance: the mean error variance of the itemsets, in variances of a bin's noise.
    """

    bases: tuple[Itemset, ...] = ()
    variance: float = np.inf


def best_cover(itemsets: Sequence[Itemset], most: int = _MOST_BASES, power: float = 1.0) -> Cover:
    """The cover of least mean error variance among those of all lengths; none where all have too many bases.

    Args:
        itemsets: what to cover.
        most: how many bases there may be.
        power: of the number of bases, with which their noise grows.
    """
    # The longest first, and of those the first: a basis is opened by what it must be long for.
    wanted = sorted(dict.fromkeys(itemset for itemset in itemsets if itemset), key=len, reverse=True)
    if not wanted or len(wanted) > _MOST_ITEMSETS or most < 1:
        return Cover()
    items = sorted({item for itemset in wanted for item in itemset})
    bit = {item: 1 << place for place, item in enumerate(items)}
    masks = [sum(bit[item] for item in itemset) for itemset in wanted]
    known = Coefficients.of(masks, len(items))
    best: tuple[float, float, list[int]] | None = None
    # Where long bases are too many, shorter ones are so too.
    for limit in range(DEFAULT_LIMIT, min(max(3, len(wanted[0])), DEFAULT_LIMIT) - 1, -1):
        bases = _first_fit([mask for mask in masks if mask.bit_count() <= limit], limit, most)
        if bases is None:
            break
        variance = float(np.mean(known.variances(bases)))
        error = len(bases) ** (2 * power) * variance
        if best is None or error < best[0]:
            best = error, variance, bases
    if best is None:
        return Cover()
    _, variance, bases = best
    return Cover(tuple(tuple(item for item in items if bit[item] & basis) for basis in bases), variance)


def _first_fit(masks: Sequence[int], limit: int, most: int) -> list[int] | None:
    """Put each itemset where it overlaps most, or into a basis of its own; None where that takes too many."""
    bases: list[int] = []
    for mask in masks:
        if any(mask & ~basis == 0 for basis in bases):
            continue
        fits = [
            ((mask & basis).bit_count(), -(mask | basis).bit_count(), -place)
            for place, basis in enumerate(bases)
            if (mask | basis).bit_count() <= limit
        ]
        if fits:
            bases[-max(fits)[2]] |= mask
        elif len(bases) == most:
            return None
        else:
            bases.append(mask)
    return [
        basis
        for place, basis in enumerate(bases)
        if not any(
            basis & ~other == 0 and (basis != other or at < place) for at, other in enumerate(bases) if at != place
        )
    ]


@frozen(eq=False)
class Coefficients:
    """The Walsh coefficients that counts of itemsets are made of: those of all their subsets. Sets are bit masks.

    Attributes:
        items: a row a coefficient, each once, with 1 for each of its items.
        places: for each itemset the places of its subsets among them, one itemset after the other.
        starts: where each itemset begins among the places.
        shares: what each itemset's sum of variances is multiplied by: 4^−|X|.
    """

    items: NDArray[np.float32]
    places: IntArray
    starts: IntArray
    shares: FloatArray

    @classmethod
    def of(cls, itemsets: Sequence[int], width: int) -> Coefficients:
        """Those of itemsets, each a mask of so many bits."""
        number: dict[int, int] = {}
        places: list[int] = []
        starts = []
        for itemset in itemsets:
            starts.append(len(places))
            subset = itemset
            while True:
                places.append(number.setdefault(subset, len(number)))
                if not subset:
                    break
                subset = (subset - 1) & itemset
        lengths = np.array([itemset.bit_count() for itemset in itemsets])
        return cls(_bits(list(number), width), np.array(places), np.array(starts), 0.25**lengths)

    def variances(self, bases: Sequence[int]) -> FloatArray:
        """The error variance of each itemset by least squares, in variances of a bin; infinite where none has it."""
        members = _bits(bases, self.items.shape[1])
        inside = self.items @ (1 - members).T == 0
        with np.errstate(divide="ignore"):
            spreads = 1 / (inside @ 0.5 ** members.sum(axis=1, dtype=np.float64))
        return np.asarray(self.shares * np.add.reduceat(spreads[self.places], self.starts))


def _bits(masks: Sequence[int], width: int) -> NDArray[np.float32]:
    """A row a mask, with 1 for each of its bits, of which there are so many."""
    size = -(-width // 8)
    octets = np.frombuffer(b"".join(mask.to_bytes(size, "little") for mask in masks), dtype=np.uint8)
    bits = np.unpackbits(octets.reshape(len(masks), size), axis=1, count=width, bitorder="little")
    return bits.astype(np.float32)


def cover_variance(itemsets: Sequence[Itemset], bases: Sequence[Itemset]) -> float:
    """The mean error variance of the itemsets, in variances of a bin's noise; infinite where one is not covered."""
    if not bases or not itemsets:
        return np.inf
    bit = {item: 1 << place for place, item in enumerate({item for found in (*itemsets, *bases) for item in found})}
    masks, covers = ([sum(bit[item] for item in found) for found in group] for group in (itemsets, bases))
    return float(np.mean(Coefficients.of(masks, len(bit)).variances(covers)))
