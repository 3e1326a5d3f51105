"""Read-only arrays: what comes in is converted once, at the edge."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from attrs import cmp_using
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of the array through which nobody can write."""
    view = array.view()
    view.flags.writeable = False
    return view


def int_array(values: Any) -> IntArray:
    """A read-only copy as 64-bit integers."""
    return read_only(np.array(values, dtype=np.int64))


def float_array(values: Any) -> FloatArray:
    """A read-only copy as 64-bit floats."""
    return read_only(np.array(values, dtype=np.float64))


same_array = cmp_using(eq=np.array_equal)
