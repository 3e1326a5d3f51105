"""Clipping what one transaction adds to a sum, so that the sum's sensitivity is enforced, not declared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isqrt
from operator import index
from typing import Any

from privmine.errors import InputError
from privmine.model import Itemset
from privmine.store.abstract import Contribution


def clip(contribution: Any, dimension: int, l1: int, l2_squared: int | None = None) -> dict[int, int]:
    """Keep the entries in order of their positions, each as far as the norms still allow; what fits stays as it is.

    The result is integers again and depends on this one contribution only, so that adding or
    removing a transaction moves the sum by at most the norms. A sparse contribution is clipped as the dense one
    with the same entries.

    Args:
        contribution: the integers that a transaction adds: all of them, a mapping from positions to entries that
            are not 0, or a tuple of positions and entries.
        dimension: how many there must be.
        l1: the largest sum of absolute values.
        l2_squared: the largest sum of squares, or None for no such limit.

    Returns:
        By position the entries that are not 0.

    Raises:
        InputError: (a ValueError) the contribution is not that many integers. The message carries no data.
    """
    left, left_squared = l1, l2_squared
    clipped = {}
    for position, value in sorted(_entries(contribution, dimension).items()):
        size = min(abs(value), left)
        left -= size
        if left_squared is not None:
            allowed = min(size, isqrt(left_squared))
            left += size - allowed
            size = allowed
            left_squared -= size * size
        if size:
            clipped[position] = size if value > 0 else -size
    return clipped


def contribute(
    contribution: Contribution, transaction: Itemset, dimension: int, l1: int, l2_squared: int | None = None
) -> list[int]:
    """What a transaction adds to a sum, clipped; zeros where the function fails or answers in another form."""
    clipped = contributed_entries(contribution, transaction, dimension, l1, l2_squared)
    return [clipped.get(position, 0) for position in range(dimension)]


def contributed_entries(
    contribution: Contribution, transaction: Itemset, dimension: int, l1: int, l2_squared: int | None = None
) -> dict[int, int]:
    """What a transaction adds to a sum, clipped, by position; nothing where the function fails or its form is wrong.

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
    return {}


def _entries(contribution: Any, dimension: int) -> dict[int, int]:
    """The entries of a contribution in any form by their positions, checked."""
    dense = _integers(contribution) if not isinstance(contribution, Mapping) else None
    if dense is not None:
        if len(dense) != dimension:
            raise InputError(f"A contribution to this sum must have exactly {dimension} entries.")
        return dict(enumerate(dense))
    positions, values = _columns(contribution)
    if positions is None or values is None:
        raise InputError(
            "A contribution to a sum must be a sequence of integers, a mapping from positions to integers, or a tuple "
            "of positions and integers. Round it before it is returned."
        )
    # A position that stood twice would be clipped once and added twice.
    entries = dict(zip(positions, values, strict=False))
    inside = all(0 <= position < dimension for position in positions)
    if not len(entries) == len(positions) == len(values) or not inside:
        raise InputError(
            f"The positions of a sparse contribution to this sum must be different, from 0 to {dimension - 1}, and "
            "each must have one entry."
        )
    return entries


def _columns(contribution: Any) -> tuple[list[int] | None, list[int] | None]:
    """The positions and the entries of a sparse contribution; None for what is neither."""
    if isinstance(contribution, Mapping):
        pairs = list(contribution.items())
        return _integers(position for position, _ in pairs), _integers(value for _, value in pairs)
    if isinstance(contribution, tuple) and len(contribution) == 2:
        return _integers(contribution[0]), _integers(contribution[1])
    return None, None


def _integers(values: Iterable[Any]) -> list[int] | None:
    """The values as Python integers, or None; raising is left to a place without an exception to chain."""
    try:
        return [index(value) for value in values]
    except TypeError:
        return None
