"""How far answers move, as values."""

from __future__ import annotations

from privmine.privacy import Sensitivity

NORMS = Sensitivity(8, 20, 3)
MONOTONE = Sensitivity(8, 20, 3, monotone=True)


def test_norms_of_several_transactions() -> None:
    """m transactions move m times as far, and the squared norm by m²; one direction stays one direction."""
    assert NORMS.times(5) == Sensitivity(40, 500, 15, monotone=False)
    assert MONOTONE.times(5) == Sensitivity(40, 500, 15, monotone=True)


def test_a_sensitivity_claims_no_direction_unless_told() -> None:
    """Monotone is a promise that halves the noise of a selection, so it is made explicitly."""
    assert not Sensitivity(1, 1, 1).monotone


def test_scores_that_go_both_ways_move_twice_as_far() -> None:
    """One candidate may rise while another falls, unless all go one way."""
    assert MONOTONE.score_moves == 3
    assert NORMS.score_moves == 6
