"""Clipping what one transaction adds to a sum, so that the sum's sensitivity is enforced, not declared."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt
from operator import index

from privmine.errors import InputError
from privmine.model import Itemset
from privmine.store.protocol import Contribution


def clip(contribution: Sequence[int], dimension: int, l1: int, l2_squared: int | None = None) -> list[int]:
    """Keep the entries in order, each as far as the norms still allow; what fits is left as it is.

    The result is integers again and depends on this one contribution only, so that adding or
    removing a transaction moves the sum by at most the norms.

    Args:
        contribution: the integers that a transaction adds.
        dimension: how many there must be.
        l1: the largest sum of absolute values.
        l2_squared: the largest sum of squares, or None for no such limit.

    Raises:
        InputError: (a ValueError) the contribution is not that many integers. The message carries no data.
    """
    values = _integers(contribution)
    if values is None:
        raise InputError("A contribution to a sum must be a sequence of integers; round it before it is returned.")
    if len(values) != dimension:
        raise InputError(f"A contribution to this sum must have exactly {dimension} entries.")
    left, left_squared = l1, l2_squared
    for position, value in enumerate(values):
        size = min(abs(value), left)
        left -= size
        if left_squared is not None:
            allowed = min(size, isqrt(left_squared))
            left += size - allowed
            size = allowed
            left_squared -= size * size
        values[position] = size if value > 0 else -size
    return values


def contribute(
    contribution: Contribution, transaction: Itemset, dimension: int, l1: int, l2_squared: int | None = None
) -> list[int]:
    """What a transaction adds to a sum, clipped; zeros where the function fails or answers in another form.

    A failure must not end the run: that would tell, unpaid, that such a transaction exists.
    """
    try:
        return clip(contribution(transaction), dimension, l1, l2_squared)
    except KeyboardInterrupt:
        interrupted = True
    except BaseException:  # noqa: BLE001 - a stranger's function: even its way to exit may hold data
        interrupted = False
    if interrupted:
        raise KeyboardInterrupt  # without the text and the traceback of the first, which may be the function's own
    return [0] * dimension


def _integers(contribution: Sequence[int]) -> list[int] | None:
    """The entries as Python integers, or None; raising is left to a place without an exception to chain."""
    try:
        return [index(value) for value in contribution]
    except TypeError:
        return None
