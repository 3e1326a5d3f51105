"""Sentences on what is wanted."""

from __future__ import annotations

from fractions import Fraction
from statistics import NormalDist

import pytest

from privmine.errors import InputError
from privmine.planning.forecast import Attempt
from privmine.planning.wanted import LADDER, Aim, least_epsilon_for, parse


@pytest.mark.parametrize(
    ("sentence", "low", "high"),
    [
        ("tell 2 % from 3 %", 20, 30),
        ("Tell 3% from 2%.", 20, 30),
        ("tell 20 from 3 percent", 20, 30),
        ("find everything above 2 %", 20, None),
        ("find all above 0.5%", 5, None),
        ("find everything above 7", 7, None),
    ],
)
def test_sentences_are_read(sentence: str, low: float, high: float | None) -> None:
    """Percentages are of the transactions; the order of two supports does not matter."""
    found = parse(sentence, 1000)
    assert (found.low, found.high) == (low, high)


@pytest.mark.parametrize(
    "sentence", ["", "2 %", "find everything", "tell 2 %", "tell two from three", "find above -2 %", 7]
)
def test_other_sentences_are_refused_with_the_forms(sentence) -> None:
    """So that one can be written."""
    with pytest.raises(InputError, match=r"tell 2 % from 3 %.* or .*find everything above 2 %"):
        parse(sentence, 1000)


@pytest.mark.parametrize("sentence", ["tell 2 % from 2 %", "find everything above 101 %", "find everything above 0 %"])
def test_impossible_supports_are_refused(sentence: str) -> None:
    """A sentence each."""
    with pytest.raises(InputError):
        parse(sentence, 1000)


class Certain:
    """In the place of a simulator: all is found, and counts are off by so much."""

    def __init__(self, error: float) -> None:
        self.error_between = lambda *_: error

    def forecast(self, *_) -> None:
        """Nothing to simulate."""

    def share_found(self, *_) -> float:
        """All."""
        return 1.0


@pytest.mark.parametrize("error", [1.0, 4.2, 4.4, 40.0])
def test_counts_are_told_apart_if_noise_swaps_them_once_in_twenty_runs(error: float) -> None:
    """Both have noise, so that their difference is off by √2 times as much."""
    swapped = NormalDist(0, error * 2**0.5).cdf(-10)
    aim = Aim("tell 20 from 30", 20.0, 30.0)
    assert aim.is_reached(Certain(error), Attempt("", 1, Fraction(1)), 1) == (swapped < 0.05)


class FromOn(Aim):
    """Reached from an ε on."""

    def is_reached(self, simulator, attempt, runs) -> bool:
        return attempt.epsilon >= simulator


@pytest.mark.parametrize("start", [Fraction(1, 1000), Fraction(1, 3), Fraction(1), Fraction(80)])
def test_the_least_epsilon_of_the_ladder_is_found(start: Fraction) -> None:
    """By bisection; above a limit nothing is looked for."""
    aim = FromOn("", 1.0, None)
    expected = min(step for step in LADDER if step >= start)
    assert least_epsilon_for(aim, start, Attempt("", 1, Fraction(1)), 1) == expected
    assert least_epsilon_for(aim, start, Attempt("", 1, Fraction(1)), 1, most=expected) == expected
    assert least_epsilon_for(aim, start, Attempt("", 1, Fraction(1)), 1, most=start / 2) is None
    assert least_epsilon_for(aim, Fraction(100), Attempt("", 1, Fraction(1)), 1) is None
