"""Check how a selection draws unlisted candidates: the same for the same numbers, and all equally often."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any, TypeAlias

from privmine.queries import Candidate, Scores

#: The numbers that were drawn, and the probability of just these.
_Way: TypeAlias = tuple[tuple[int, ...], Fraction]

#: So many members of a tail are named with the same random numbers on both databases.
_TRIES = 16
#: So many ways to draw a member are followed; a tail of more is not looked at whole.
_MOST_WAYS = 2_000


def tail_names(scores: Scores) -> tuple[Any, ...]:
    """The unlisted candidates that some random numbers draw, and the range of each number."""
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
    """Whether some candidate is drawn with another probability than the others, as far as the check can see.

    A candidate of the tail may be listed on the neighbour, where its weight is that of its score. In the tail it has
    the same only if every member is drawn equally often.

    Args:
        scores: with the function in question.
        size: how many candidates there are, listed or not.
    """
    if scores.tail_member is None:
        return False
    probabilities: defaultdict[Candidate, Fraction] = defaultdict(Fraction)
    ways: deque[Iterator[_Way]] = deque([iter([((), Fraction(1))])])
    for _ in range(_MOST_WAYS):
        while ways and (way := next(ways[0], None)) is None:
            ways.popleft()
        if not ways:
            return set(probabilities.values()) != {Fraction(1, size)}
        assert way is not None
        ways.rotate(-1)  # In turn, so that endlessly many ways of one kind do not hide the others.
        try:
            probabilities[scores.tail_member(_Script(way[0]))] += way[1]
        except _AsksForMoreError as asked:
            ways.append(_continued(way, asked.bound))
    return any(probability > Fraction(1, size) for probability in probabilities.values())


def _continued(way: _Way, bound: int) -> Iterator[_Way]:
    """A sequence of draws with each possible next number; one by one, since there may be millions."""
    numbers, probability = way
    return (((*numbers, number), probability / bound) for number in range(bound))


class _AsksForMoreError(BaseException):
    """Another number was asked for. It is no Exception, so that no handler of the component catches it."""

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
