"""What ε means in odds."""

from __future__ import annotations

from fractions import Fraction
from math import exp, isclose, log

import pytest

from privmine.privacy.guarantee import Guarantee
from privmine.report.odds import belief_after, chance, in_a_hundred, promise


@pytest.mark.parametrize("epsilon", ["1/10", "1", "3"])
@pytest.mark.parametrize("before", [0.01, 0.1, 0.5, 0.9])
def test_the_bounds_are_reached_by_randomised_response(epsilon: str, before: float) -> None:
    """Asked yes or no, a coin that lies with probability 1/(1 + e^ε) is exactly ε-private: no bound can be lower."""
    guarantee = Guarantee(Fraction(epsilon))
    honest = exp(float(guarantee.epsilon)) / (1 + exp(float(guarantee.epsilon)))
    after_yes = before * honest / (before * honest + (1 - before) * (1 - honest))
    after_no = before * (1 - honest) / (before * (1 - honest) + (1 - before) * honest)
    low, high = belief_after(before, guarantee)
    assert isclose(low, after_no)
    assert isclose(high, after_yes)


def test_nothing_is_rounded_to_certainty() -> None:
    """A promise that is practically none says so."""
    assert belief_after(0.5, Guarantee(Fraction(10**9)))[1] == 1
    assert chance(1.0) == "more than 99.9 %"
    assert chance(0.0) == "less than 0.1 %"
    assert chance(0.25) == "25.0 %"
    assert "practically" in in_a_hundred(1.0)
    assert in_a_hundred(0.7311) == "73 in 100"
    assert in_a_hundred(0.9933) == "993 in 1,000"


def test_the_words_carry_the_numbers() -> None:
    """At ε = ln 3 an even chance becomes 75 in 100; δ is told as one in so many."""
    said = " ".join(promise(Guarantee(Fraction(log(3)).limit_denominator(10**9), Fraction(1, 10**6)), "one customer"))
    assert "at most 75 in 100" in said
    assert "1 in 1,000,000" in said
    assert "one customer" in said
    assert "δ" not in " ".join(promise(Guarantee(Fraction(1)), "one customer"))


@pytest.mark.parametrize(("epsilon", "word"), [("1/10", "strong"), ("1", "moderate"), ("2", "limited"), ("3", "weak")])
def test_the_rough_word_follows_epsilon(epsilon: str, word: str) -> None:
    """The guide of docs/epsilon.md: up to 0.1, around 1, from about 3 on."""
    assert f"This is {word}" in " ".join(promise(Guarantee(Fraction(epsilon)), "one customer"))
