"""The ε that a wanted error costs."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from privmine.errors import InputError
from privmine.pipeline.request import LARGEST_EPSILON, SMALLEST_EPSILON
from privmine.privacy import amount

#: How many numbers of three digits there are in a decade: 1.00, 1.01, …, 9.99.
_DECADE = 900


def least_epsilon(reaches: Callable[[Fraction], bool]) -> Fraction:
    """The smallest ε of three significant digits that reaches a goal, such as an error.

    Args:
        reaches: whether an ε does. If one does, all larger ones must.
    """
    numbers = range(_DECADE * _decades() + 1)
    if not reaches(_number(numbers[-1])):
        raise InputError(
            f"No ε up to {amount(LARGEST_EPSILON)} reaches that error. Allow a larger error, or plan "
            "with fewer itemsets."
        )
    low, high = -1, numbers[-1]  # `high` reaches it, and `low` does not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(_number(middle)) else (middle, high)
    return _number(high)


def _decades() -> int:
    decades, end = 0, SMALLEST_EPSILON
    while end < LARGEST_EPSILON:
        decades, end = decades + 1, end * 10
    return decades


def _number(index: int) -> Fraction:
    decade, place = divmod(index, _DECADE)
    return SMALLEST_EPSILON * Fraction(10**decade * (100 + place), 100)
