"""One draw of the exponential mechanism among all sets of n candidates, exactly.

A set is as bad as its gap: the largest score outside less the smallest inside. So many transactions would have to be
added before it holds the n largest. That is canonical Lipschitz selection (Shekelyan and Loukides 2022, arXiv
2201.13376), with a gap below 0 where the set does hold them.

Sets are far too many to list, but the gap depends on two groups of equal scores only: the best one that is not whole
inside, and the worst one that is not whole outside. All sets with the same two groups are a class, whose size is a
difference of binomial coefficients. A class is drawn, then a uniform member of it.
"""

from __future__ import annotations

import secrets
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import accumulate, chain
from math import comb
from typing import NamedTuple

import numpy as np

from privmine.errors import InputError
from privmine.model import IntArray
from privmine.noise.protocol import Tail
from privmine.noise.selection import Below, Peeling, score_classes
from privmine.noise.uniform import RandomBits

#: Scores beyond this are taken for it: no two of them move apart by that, and gaps stay within 64 bits.
_LARGEST_SCORE = 2**61
#: For more members than this, a binomial coefficient is computed anew.
_FEW = 8


class SetClass(NamedTuple):
    """All sets whose gap is that between two groups. Groups are numbered from the largest score on.

    Attributes:
        open: the first group that is not whole inside.
        last: the last group that has a member inside. It is the one before `open` where groups are whole or outside.
        gap: the score of `open` less that of `last`.
        size: how many sets there are.
    """

    open: int
    last: int
    gap: int
    size: int


def set_classes(scores: Sequence[int], sizes: Sequence[int], n: int) -> Iterator[SetClass]:
    """All classes of the sets of n candidates; n is at least 1 and less than the number of candidates.

    Args:
        scores: of the groups, falling; two groups may have the same.
        sizes: of the groups.
        n: the size of a set.
    """
    before = 0
    for first, size in enumerate(sizes):
        # Every group before this one is whole, and this one is not.
        missing = n - before
        if not missing:
            yield SetClass(first, first - 1, scores[first] - scores[first - 1], 1)
            return
        # Of the sets that reach no further than a group, those in which this one is whole do not count.
        seen, reach = 0, 0
        every = whole = 0
        for last in range(first, len(sizes)):
            every = _grown(every, reach, sizes[last], missing)
            if last > first and missing >= size:
                whole = _grown(whole, reach - size, sizes[last], missing - size)
            elif missing == size:
                whole = 1
            reach += sizes[last]
            if every - whole > seen:
                yield SetClass(first, last, scores[first] - scores[last], every - whole - seen)
            seen = every - whole
        before += size
        if before > n:
            return


def _grown(number: int, size: int, more: int, chosen: int) -> int:
    """How many sets of `chosen` there are of size + more, given how many there are of size."""
    if not number or more > _FEW:
        return comb(size + more, chosen)
    for larger in range(size + 1, size + more + 1):
        number = number * larger // (larger - chosen)
    return number


def select_set(
    scores: IntArray,
    n: int,
    rate: Fraction,
    tail: Tail | None = None,
    *,
    random_bits: RandomBits = secrets.randbits,
    below: Below = secrets.randbelow,
) -> IntArray:
    """Draw a set of n candidates with weight e^(−rate·gap).

    Args:
        scores: the score of each candidate that is listed.
        n: the size of the set.
        rate: the exact factor of the gap; not negative.
        tail: candidates that are not listed.
        random_bits: where the choice of a gap gets its randomness.
        below: where the choice among sets of one gap gets its randomness.

    Returns:
        The members by their index, rising, so that their order tells nothing; len(scores) for each member of the tail.
    """
    scores = np.clip(np.ascontiguousarray(scores, dtype=np.int64), -_LARGEST_SCORE, _LARGEST_SCORE)
    tail = tail or Tail(0, 0)
    if rate < 0:
        raise InputError(f"The rate of a selection must not be negative, not {rate}.")
    if not 0 <= n <= len(scores) + tail.size:
        raise InputError(f"{n} of the candidates, {len(scores)} and the tail, cannot be selected; lower n.")
    distinct, counts = score_classes(scores)
    values, sizes = distinct[::-1].tolist(), counts[::-1].tolist()
    # The tail is a group of its own. Where others have its score, either may come first.
    unlisted = sum(value >= tail.score for value in values)
    if tail.size:
        values.insert(unlisted, max(-_LARGEST_SCORE, min(tail.score, _LARGEST_SCORE)))
        sizes.insert(unlisted, tail.size)
    starts = [0, *accumulate(sizes)]
    if 0 < n < starts[-1]:
        drawn = _drawn_class(partial(set_classes, values, sizes, n), rate, random_bits, below)
        places = _members(drawn, starts, n, below)
    else:
        places = list(range(n))
    by_score = np.argsort(-scores, kind="stable")
    first, behind = starts[unlisted], starts[unlisted] + tail.size
    listed = [place if place < first else place - tail.size for place in places if not first <= place < behind]
    chosen = np.full(n, len(scores), dtype=np.int64)
    chosen[: len(listed)] = np.sort(by_score[np.array(listed, dtype=np.int64)])
    return chosen


def _drawn_class(
    classes: Callable[[], Iterable[SetClass]], rate: Fraction, random_bits: RandomBits, below: Below
) -> SetClass:
    """Draw a gap by the weight of all sets that have it, then one of its classes by its size."""
    numbers: defaultdict[int, int] = defaultdict(int)
    for found in classes():
        numbers[found.gap] += found.size
    gaps = sorted(numbers, reverse=True)
    # As Python's integers: numbers of sets do not fit in 64 bits.
    sizes = np.array([numbers[gap] for gap in gaps], dtype=object)
    drawn = gaps[Peeling(-np.array(gaps, dtype=np.int64), sizes, rate, Tail(0, 0), random_bits).draw()]
    among = [found for found in classes() if found.gap == drawn]
    return among[_weighted([found.size for found in among], below)]


def _members(drawn: SetClass, starts: Sequence[int], n: int, below: Below) -> list[int]:
    """A uniform set of the class, as places among the candidates by falling score.

    Args:
        drawn: the class.
        starts: the first place of each group.
        n: the size of a set.
        below: where randomness comes from.
    """
    whole = starts[drawn.open]
    missing = n - whole
    # The places of the first group that is not whole, of those between, and of the last that has a member inside.
    blocks = [(whole, starts[drawn.open + 1])]
    counts = [missing]
    if drawn.last > drawn.open:
        blocks += [(blocks[0][1], starts[drawn.last]), (starts[drawn.last], starts[drawn.last + 1])]
        first, between, last = (stop - start for start, stop in blocks)
        counts = _division(first, between, last, missing, below)
    parts = (_some(*block, count, below) for block, count in zip(blocks, counts, strict=True))
    return [*range(whole), *chain.from_iterable(parts)]


def _division(first: int, between: int, last: int, missing: int, below: Below) -> list[int]:
    """How many come from three blocks of these sizes: not all of the first one, and at least one of the last."""
    ways = [
        (of_first, missing - of_first - of_last, of_last)
        for of_last in range(1, min(last, missing) + 1)
        for of_first in range(min(first - 1, missing - of_last) + 1)
        if missing - of_first - of_last <= between
    ]
    numbers = [
        comb(first, of_first) * comb(between, of_between) * comb(last, of_last)
        for of_first, of_between, of_last in ways
    ]
    return list(ways[_weighted(numbers, below)])


def _weighted(sizes: Sequence[int], below: Below) -> int:
    """A number, drawn in proportion to these sizes."""
    sums = list(accumulate(sizes))
    return bisect_right(sums, below(sums[-1]))


def _some(start: int, stop: int, count: int, below: Below) -> Iterator[int]:
    """So many of the places from start to before stop, uniformly: the beginning of a shuffle."""
    moved: dict[int, int] = {}
    for last in range(stop - 1, stop - 1 - count, -1):
        place = start + below(last + 1 - start)
        yield moved.get(place, place)
        moved[place] = moved.get(last, last)
