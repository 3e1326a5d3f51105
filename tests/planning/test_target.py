from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privmine.errors import InputError
from privmine.pipeline.request import LARGEST_EPSILON, SMALLEST_EPSILON
from privmine.planning.target import least_epsilon


@given(st.fractions(SMALLEST_EPSILON, LARGEST_EPSILON))
def test_the_least_number_of_three_digits_is_found(border: Fraction) -> None:
    """It reaches the goal, and it is at most a hundredth above it."""
    found = least_epsilon(lambda epsilon: epsilon >= border)
    assert border <= found <= border * Fraction(101, 100)
    assert Fraction(f"{float(found):.3g}") == found


def test_ends_of_the_scale() -> None:
    """The smallest ε may do, and none may."""
    assert least_epsilon(lambda _: True) == SMALLEST_EPSILON
    with pytest.raises(InputError, match="No ε up to 10000 reaches that error"):
        least_epsilon(lambda _: False)
