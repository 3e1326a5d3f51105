"""How a selection names the candidates that it does not list: by the same numbers the same, and all alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any

from privmine.queries import Candidate, Scores

#: So many members of a tail are named with the same random numbers on both databases.
_TRIES = 16
#: So many ways to draw a member are followed; a tail of more is not looked at whole.
_MOST_WAYS = 2_000


def tail_names(scores: Scores) -> tuple[Any, ...]:
    """Which members of the tail are named for some random numbers, and of which range each number was."""
    if scores.tail_member is None:
        return ()
    # Members are drawn from all candidates and those that are listed are rejected, so that how many numbers it
    # takes to answer depends on the data; what is named for one number must not.
    numbers = Random(0)  # noqa: S311 - nothing that is drawn here is answered
    bounds: list[int] = []

    def below(bound: int) -> int:
        bounds.append(bound)
        return numbers.randrange(bound)

    names = tuple(scores.tail_member(below) for _ in range(_TRIES))
    return (*names, *bounds)


def is_uneven(scores: Scores, size: int) -> bool:
    """Whether some of all candidates is drawn with another probability than the others, as far as can be told.

    A candidate of the tail may be listed on the neighbour, where its weight is that of its score. In the tail it has
    the same only if every member is drawn equally often.

    Args:
        scores: with the function in question.
        size: how many candidates there are, listed or not.
    """
    if scores.tail_member is None:
        return False
    probabilities: defaultdict[Candidate, Fraction] = defaultdict(Fraction)
    ways: list[tuple[tuple[int, ...], Fraction]] = [((), Fraction(1))]
    for _ in range(_MOST_WAYS):
        if not ways:
            return len(probabilities) != size or set(probabilities.values()) != {Fraction(1, size)}
        numbers, probability = ways.pop()
        try:
            probabilities[scores.tail_member(_Script(numbers))] += probability
        except _AsksForMoreError as asked:
            ways.extend(((*numbers, number), probability / asked.bound) for number in range(asked.bound))
    return any(probability > Fraction(1, size) for probability in probabilities.values())


class _AsksForMoreError(BaseException):
    """A further number was asked for; no Exception, so that nobody takes it for an error of its own."""

    def __init__(self, bound: int) -> None:
        self.bound = bound
        super().__init__(bound)


class _Script:
    """Gives numbers that are settled, and then no more."""

    def __init__(self, numbers: tuple[int, ...]) -> None:
        self._numbers: Iterator[int] = iter(numbers)

    def __call__(self, bound: int) -> int:
        for number in self._numbers:
            return number
        raise _AsksForMoreError(bound)
