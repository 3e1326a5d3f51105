"""What a total of costs is worth to those who are protected."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from attrs import frozen

from privmine.exact import amount


@frozen
class Guarantee:
    """A promise in the terms that people compare: ε, and δ where the definition has one.

    Attributes:
        epsilon: by how much the logarithm of a probability can change.
        delta: the probability with which it may change more; None where it never does.
    """

    epsilon: Fraction
    delta: Fraction | None = None

    def __str__(self) -> str:
        delta = "" if self.delta is None else f", {equation('δ', amount(self.delta))}"
        return at_epsilon(amount(self.epsilon)) + delta


def at_epsilon(*values: Any) -> str:
    """One ε or several, as words: "ε = 0.1 / 0.5"."""
    return equation("ε", " / ".join(map(str, values)))


def equation(symbol: str, value: str) -> str:
    """A number that is only near says so itself: "ε ≈ 0.999974"."""
    return f"{symbol} {value}" if value.startswith("≈") else f"{symbol} = {value}"
