"""How far the exact answers to one question lie apart on two databases; in integers, without rounding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from privmine.audit.recording import Call
from privmine.privacy import Sensitivity
from privmine.queries import Candidate


def differences(one: Call, other: Call) -> Counter[int] | None:
    """By how much the values moved, and how many of them by that; those that did not move are left out.

    The candidates of a selection may be listed in another order, or in the tail, on the other
    database. They are compared by what they are. None means that a candidate exists on one only.
    """
    if _in_public_order(one) and _in_public_order(other):
        changed = np.flatnonzero(one.values != other.values)
        # As Python integers: a difference of two numbers of 64 bits may need 65.
        return Counter(int(other.values[place]) - int(one.values[place]) for place in changed)
    before, after = _by_candidate(one), _by_candidate(other)
    listed = before.keys() | after.keys()
    low, high = _tail_score(one), _tail_score(other)
    moved: Counter[int] = Counter()
    for candidate in listed:
        first, second = before.get(candidate, low), after.get(candidate, high)
        if first is None or second is None:
            return None
        moved[second - first] += 1
    if low is not None and high is not None:
        moved[high - low] += max(0, one.size - len(listed))
    return Counter({step: count for step, count in moved.items() if step and count})


def exceeded_norms(moved: Counter[int], declared: Sensitivity) -> Iterator[tuple[str, int, Fraction]]:
    """The norms in which the values moved further than declared: which, how far, and what was declared."""
    norms = (
        ("L1", sum(abs(step) * count for step, count in moved.items()), declared.l1),
        ("squared L2", sum(step * step * count for step, count in moved.items()), declared.l2_squared),
        ("L∞", max((abs(step) for step in moved), default=0), declared.linf),
    )
    return (norm for norm in norms if norm[1] > norm[2])


def _in_public_order(call: Call) -> bool:
    """Whether the place of a candidate says which it is: always, unless a selection lists them its own way."""
    if call.scores is None or call.query is None:
        return True
    return call.tail is None and call.scores.candidate == call.query.candidate


def _by_candidate(call: Call) -> dict[Candidate, int]:
    assert call.scores is not None
    return {call.scores.candidate(place): value for place, value in enumerate(call.values.tolist())}


def _tail_score(call: Call) -> int | None:
    return call.tail.score if call.tail and call.tail.size else None
