"""What one transaction adds to a sum is limited, however it is made."""

from collections import UserDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privmine.errors import InputError
from privmine.store.clipping import clip, contribute


def test_what_fits_is_left_as_it_is():
    """Signs and zeros, too."""
    assert clip([2, 0, -3], 3, 5) == {0: 2, 2: -3}
    assert clip([2, 0, -3], 3, 4) == {0: 2, 2: -2}
    assert clip([2, 0, -3], 3, 5, 5) == {0: 2, 2: -1}


def test_what_the_squares_forbid_is_left_for_later_entries():
    """Both limits hold at once: what the second takes off an entry counts towards the first for others."""
    assert clip([9, 9], 2, 10, 30) == {0: 5, 1: 2}
    assert clip([9, 9], 2, 6, 30) == {0: 5, 1: 1}


def test_the_function_gets_the_transaction():
    """And each limit is kept: 4 and 7 are cut by the sum of 10, or by squares that sum to 41."""
    assert contribute(list, (4, 7), 2, 10) == [4, 6]
    assert contribute(list, (4, 7), 2, 10, 41) == [4, 5]


@given(
    values=st.lists(st.integers(-9, 9), max_size=6),
    l1=st.integers(1, 30),
    l2_squared=st.none() | st.integers(1, 60),
    shuffled=st.randoms(use_true_random=False),
)
def test_a_sparse_contribution_is_clipped_as_the_dense_one(values, l1, l2_squared, shuffled):
    """In whatever form and order its entries stand, and whether zeros are left out or not."""
    expected = contribute(lambda _: values, (), len(values), l1, l2_squared)
    entries = [(position, value) for position, value in enumerate(values) if value or position % 2]
    shuffled.shuffle(entries)
    positions, numbers = [position for position, _ in entries], [value for _, value in entries]
    arrays = np.array(positions, dtype=np.int32), np.array(numbers, dtype=np.int64)
    for form in (dict(entries), UserDict(entries), (positions, numbers), arrays):
        assert contribute(lambda _, form=form: form, (), len(values), l1, l2_squared) == expected


@pytest.mark.parametrize(
    "bad",
    [
        ([0, 0], [5, 5]),
        ([0, 1, 0], [5, 5]),
        ([0], [5, 5]),
        ([0, 1], [5]),
        ([-1], [5]),
        ([3], [5]),
        ([0.0], [5]),
        ([0], [5.0]),
        [[0], [5]],
        ([0], [5], [1]),
        {3: 1},
        {-1: 1},
        {0: 0.5},
        {"0": 1},
        {0: None},
    ],
    ids=str,
)
def test_a_sparse_contribution_of_another_form_counts_as_zeros(bad):
    """A position that stands twice would be added twice; the message shows no data."""
    with pytest.raises(InputError, match="contribution") as caught:
        clip(bad, 3, 10)
    assert "5" not in str(caught.value)
    assert contribute(lambda _: bad, (1, 2), 3, 10) == [0, 0, 0]


def test_two_numbers_are_dense():
    """A tuple of two integers is no tuple of positions and entries."""
    assert clip((1, 2), 2, 10) == {0: 1, 1: 2}
    assert clip({}, 2, 10) == clip(([], []), 2, 10) == {}


def test_a_function_that_fails_adds_zeros():
    """In whatever way it fails: the end of the run would tell that such a transaction exists."""
    for error in (ValueError("secret"), SystemExit("secret"), GeneratorExit()):

        def failing(_, error=error):
            raise error

        assert contribute(failing, (1, 2), 2, 1) == [0, 0]
    assert contribute(lambda _: [1], (1, 2), 2, 1) == [0, 0]
    assert contribute(lambda _: [0.5, 0.5], (1, 2), 2, 1) == [0, 0]


def test_an_interrupt_goes_through_without_what_the_function_says():
    """Its text and its traceback may be the function's own, and hold data."""

    def interrupted(transaction):
        raise KeyboardInterrupt(f"secret {transaction}")

    with pytest.raises(KeyboardInterrupt) as caught:
        contribute(interrupted, (1, 2), 2, 1)
    assert caught.value.args == ()
    assert caught.value.__context__ is None
