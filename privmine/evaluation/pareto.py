"""What accuracy costs: the ε that is needed to bring a metric down to a value."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import exp, isfinite, log

from attrs import frozen


@frozen
class Point:
    """A measured ε and the mean of a metric there, of which less is better."""

    epsilon: float
    value: float


def best_so_far(points: Sequence[Point]) -> list[Point]:
    """For each measured ε the best value up to it, by rising ε; points without a finite value are left out.

    A larger ε that measured worse by chance would otherwise bend the line back.
    """
    best: list[Point] = []
    for point in sorted(points, key=lambda point: (point.epsilon, point.value)):
        if isfinite(point.value):
            best.append(Point(point.epsilon, min(point.value, best[-1].value) if best else point.value))
    return best


def epsilon_needed(points: Sequence[Point], value: float) -> float | None:
    """The ε at which a metric comes down to a value, between measured ones by log ε; None if it never does.

    Where the smallest measured ε suffices, it is the answer: less was not tried.
    """
    best = best_so_far(points)
    if best and best[0].value <= value:
        return best[0].epsilon
    for left, right in pairwise(best):
        if right.value <= value:
            share = (left.value - value) / (left.value - right.value)
            return exp(log(left.epsilon) + share * (log(right.epsilon) - log(left.epsilon)))
    return None
