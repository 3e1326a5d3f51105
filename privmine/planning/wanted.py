"""What a user wants to learn from a release, in a sentence, and the ε that it takes."""

from __future__ import annotations

import re
from fractions import Fraction
from statistics import NormalDist
from typing import Final

from attrs import evolve, frozen

from privmine.errors import InputError
from privmine.planning.forecast import SAFELY, Attempt, Simulator

_NUMBER = r"(\d+(?:\.\d+)?)\s*(%|percent|per cent)?"
_TELL = re.compile(rf"\s*tell\s+{_NUMBER}\s+from\s+{_NUMBER}\s*\.?\s*", re.IGNORECASE)
_FIND = re.compile(rf"\s*find\s+(?:everything|all)\s+(?:above|over|from)\s+{_NUMBER}\s*\.?\s*", re.IGNORECASE)
FORMS: Final = '"tell 2 % from 3 %" or "find everything above 2 %" (a number without % is one of transactions)'
#: Two counts are put in the right order in 19 of 20 runs if they differ by this many standard errors of one.
_APART = NormalDist().inv_cdf(0.95) * 2**0.5
#: The ε that are tried, in rising order.
_STEPS = ("1", "1.2", "1.5", "2", "2.5", "3", "4", "5", "6", "8")
LADDER: Final = tuple(Fraction(step) * Fraction(10) ** power for power in range(-3, 2) for step in _STEPS)


@frozen
class Aim:
    """What is to be learnt.

    Attributes:
        sentence: as the user wrote it.
        low: the support to tell from `high`, or to find everything above, in transactions.
        high: the other support; None where everything is to be found.
    """

    sentence: str
    low: float
    high: float | None

    def is_reached(self, simulator: Simulator, attempt: Attempt, runs: int) -> bool:
        """Whether it is learnt in simulations, 19 times out of 20."""
        simulator.forecast(attempt, runs, runs)
        if simulator.share_found(attempt, self.low if self.high is None else self.high) < SAFELY:
            return False
        if self.high is None:
            return True
        # Counts of about these sizes: a method may count what is frequent differently from what is rare.
        error = simulator.error_between(attempt, self.low / 2, 2 * self.high)
        return _APART * error <= self.high - self.low

    def itemsets(self, simulator: Simulator, most: int) -> int:
        """How many itemsets have to be released for it, at least 1; `most` + 1 if there are more than `most`."""
        border = self.low if self.high is None else self.high
        asked = 64
        while True:
            _, supports = simulator.top(asked)
            above = int((supports >= border).sum())
            if above < asked or asked > most:
                return max(min(above, most + 1), 1)
            asked = min(4 * asked, most + 1)


def parse(sentence: str, transactions: int) -> Aim:
    """Read a sentence."""
    if isinstance(sentence, str) and (found := _TELL.fullmatch(sentence)):
        one, other = (_support(number, unit, transactions) for number, unit in (found.group(1, 2), found.group(3, 4)))
        if one == other:
            raise InputError(f"{sentence!r} names the same support twice. Name two different ones.")
        return Aim(sentence.strip(), min(one, other), max(one, other))
    if isinstance(sentence, str) and (found := _FIND.fullmatch(sentence)):
        return Aim(sentence.strip(), _support(found[1], found[2], transactions), None)
    raise InputError(f"wanted= understands {FORMS}, not {sentence!r}.")


def _support(number: str, unit: str | None, transactions: int) -> float:
    value = float(Fraction(number) * transactions / 100) if unit else float(number)
    if not 0 < value <= transactions:
        raise InputError(
            f"{number}{' %' if unit else ''} is not a support: it must be above 0 and at most all "
            f"{transactions:,} transactions."
        )
    return value


def least_epsilon_for(
    wanted: Aim, simulator: Simulator, attempt: Attempt, runs: int, most: Fraction | None = None
) -> Fraction | None:
    """The smallest ε of a ladder of round numbers that gives what is wanted; None if none does, or only above `most`.

    All ε are simulated with the same seeds, so that what a larger ε gives is hardly ever worse.

    Args:
        wanted: what is to be learnt.
        simulator: where it is tried.
        attempt: the method, k and δ; its ε is not used.
        runs: how often each ε is simulated.
        most: the largest ε of interest.
    """
    steps = [step for step in LADDER if most is None or step <= most]

    def reached(step: int) -> bool:
        return wanted.is_reached(simulator, evolve(attempt, epsilon=steps[step]), runs)

    if not steps or not reached(-1):
        return None
    low, high = -1, len(steps) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return steps[high]
