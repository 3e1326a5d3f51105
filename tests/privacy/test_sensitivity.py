"""How far answers move, as values."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privmine.privacy import ConeSensitivity, Sensitivity

NORMS = Sensitivity(8, 20, 3)
MONOTONE = Sensitivity(8, 20, 3, monotone=True)


def test_norms_of_several_transactions() -> None:
    """m transactions move m times as far, and the squared norm by m²; one direction stays one direction."""
    assert NORMS.times(5) == Sensitivity(40, 500, 15, monotone=False)
    assert MONOTONE.times(5) == Sensitivity(40, 500, 15, monotone=True)


def test_moment_matrices_of_several_transactions() -> None:
    """Their norms grow as all norms do, and m transactions add m times as many matrices of the same size."""
    several = ConeSensitivity(8, 20, 3, monotone=True, variables=4, elements=2).times(5)
    assert several == ConeSensitivity(40, 500, 15, monotone=True, variables=4, elements=10)
    assert not ConeSensitivity(8, 20, 3, variables=4).times(5).monotone


def test_a_sensitivity_claims_no_direction_unless_told() -> None:
    """Monotone is a promise that halves the noise of a selection, so it is made explicitly."""
    assert not Sensitivity(1, 1, 1).monotone


def test_scores_that_go_both_ways_move_twice_as_far() -> None:
    """One candidate may rise while another falls, unless all go one way."""
    assert MONOTONE.score_moves == 3
    assert NORMS.score_moves == 6


def test_norms_are_exact() -> None:
    """Whole numbers become fractions, so that no quotient is a float."""
    norms = Sensitivity(1, 1, 1)
    assert [value / 3 for value in (norms.l1, norms.l2_squared, norms.linf)] == [Fraction(1, 3)] * 3


def test_one_moment_matrix_unless_told() -> None:
    """By name only, so that no norm is taken for it."""
    assert ConeSensitivity(8, 20, 3, variables=4).elements == 1
    with pytest.raises(TypeError):
        ConeSensitivity(8, 20, 3, True, 5, variables=4)
