"""The tail of rare items: how often each occurs, by a power law that continues where the frequent items end."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np

from privmine.api import IntArray

#: Halvings of the interval of exponents: its width is then far below what one occurrence makes.
_HALVINGS = 28


def tail_supports(items: int, occurrences: int, before: int, ceiling: int) -> IntArray:
    """The supports of rare items by falling support: each at least 1, and below the ceiling.

    The item of rank r among all items has a support proportional to r^(−1/β), joined to the ceiling at
    the rank where the tail begins. β is chosen so that the supports sum to the given number as nearly as
    whole numbers allow.

    Args:
        items: how many rare items there are.
        occurrences: what their supports are to sum to.
        before: how many items are more frequent.
        ceiling: a support that no rare item reaches.
    """
    low, high = Decimal(0), Decimal(8)
    with localcontext() as context:
        context.prec = 20
        logarithms = [(Decimal(ceiling) / support).ln() for support in range(2, ceiling)]
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if sum(_at_least(items, before, logarithms, middle)) > occurrences:
                high = middle
            else:
                low = middle
        reaching = _at_least(items, before, logarithms, low)
    exactly = -np.diff(np.array([*reaching, 0]))
    return np.repeat(np.arange(len(reaching), 0, -1), exactly[::-1])


def _at_least(items: int, before: int, logarithms: list[Decimal], beta: Decimal) -> list[int]:
    """How many rare items have support 1 or more, 2 or more, … up to below the ceiling."""
    begin = max(before, 1)
    return [items, *(min(items, int(begin * (beta * logarithm).exp()) - begin) for logarithm in logarithms)]
