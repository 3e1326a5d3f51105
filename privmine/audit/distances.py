"""The distance between the exact answers to one query on two databases, in integers, without rounding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import numpy as np

from privmine.audit.trace import Call
from privmine.privacy.sensitivity import ConeSensitivity, Sensitivity
from privmine.queries import Candidate


def differences(one: Call, other: Call) -> Counter[int] | None:
    """For each change of a value, how many values changed by it; 0 is left out.

    The candidates of a selection may be listed in another order, or in the tail, on the other
    database. They are compared by what they are; one that is listed more than once counts so often, and its
    scores are paired by size. None means that a candidate exists on one only.
    """
    if one.candidates is None and other.candidates is None:
        changed = np.flatnonzero(one.values != other.values)
        # As Python integers: a difference of two numbers of 64 bits may need 65.
        return Counter(int(other.values[place]) - int(one.values[place]) for place in changed)
    before, after = _by_candidate(one), _by_candidate(other)
    low, high = _tail_score(one), _tail_score(other)
    moved: Counter[int] = Counter()
    compared = 0
    for candidate in before.keys() | after.keys():
        first, second = before.get(candidate, []), after.get(candidate, [])
        count = max(len(first), len(second))
        first, second = _filled(first, low, count), _filled(second, high, count)
        if len(first) != len(second):
            return None
        moved.update(new - old for old, new in zip(first, second, strict=True))
        compared += count
    if low is not None and high is not None:
        moved[high - low] += max(0, one.size - compared)
    return Counter({step: count for step, count in moved.items() if step and count})


def exceeded_norms(moved: Counter[int], declared: Sensitivity) -> Iterator[tuple[str, int, Fraction]]:
    """The norms in which the values moved further than declared: the norm, the distance, and the declared bound."""
    norms = (
        ("L1", sum(abs(step) * count for step, count in moved.items()), declared.l1),
        ("squared L2", sum(step * step * count for step, count in moved.items()), declared.l2_squared),
        ("L∞", max((abs(step) for step in moved), default=0), declared.linf),
    )
    return (norm for norm in norms if norm[1] > norm[2])


def outside_cone(one: Call, other: Call, declared: ConeSensitivity) -> str:
    """Why the change of an answer is not a sum of the declared number of moment matrices; empty if it is.

    What matters is that it lies in their cone: it has one value on the diagonal, by its form, and no negative
    eigenvalue. That is decided in fractions.
    """
    change = [int(after) - int(before) for before, after in zip(one.values, other.values, strict=True)]
    if abs(change[0]) > declared.elements:
        return f"the diagonal changed by {change[0]}, but at most {declared.elements} is declared"
    sign = -1 if change[0] < 0 else 1
    size = declared.variables
    matrix = [[Fraction(sign * change[0])] * size for _ in range(size)]
    for (row, column), value in zip(combinations(range(size), 2), change[1:], strict=True):
        matrix[row][column] = matrix[column][row] = Fraction(sign * value)
    return "" if _has_no_negative_eigenvalue(matrix) else "the change has a negative eigenvalue"


def _has_no_negative_eigenvalue(matrix: list[list[Fraction]]) -> bool:
    """Gaussian elimination: no pivot may be negative, and if one is 0, its whole row must be 0."""
    rows = [list(row) for row in matrix]
    for place, pivot_row in enumerate(rows):
        pivot = pivot_row[place]
        if pivot < 0 or (pivot == 0 and any(pivot_row[place:])):
            return False
        if pivot:
            for row in rows[place + 1 :]:
                factor = row[place] / pivot
                row[place:] = [
                    value - factor * above for value, above in zip(row[place:], pivot_row[place:], strict=True)
                ]
    return True


def _by_candidate(call: Call) -> dict[Candidate, list[int]]:
    candidates = call.candidates
    if candidates is None:
        assert call.query is not None
        candidates = tuple(map(call.query.candidate, range(len(call.values))))
    scores: dict[Candidate, list[int]] = {}
    for candidate, value in zip(candidates, call.values.tolist(), strict=True):
        scores.setdefault(candidate, []).append(value)
    return scores


def _filled(scores: list[int], tail: int | None, count: int) -> list[int]:
    """So many scores of a candidate, by size; those that are not listed are in the tail, if there is one."""
    unlisted = [] if tail is None else [tail] * (count - len(scores))
    return sorted([*scores, *unlisted])


def _tail_score(call: Call) -> int | None:
    return call.tail.score if call.tail and call.tail.size else None
