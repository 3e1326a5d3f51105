"""How far an experiment is, and how long the rest may take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import perf_counter
from typing import Any, TypeAlias

from attrs import frozen

from privmine.evaluation.seeds import Cell


@frozen
class Report:
    """What a progress line can say.

    Attributes:
        what: what is being done.
        done: how many runs are done, those of earlier experiments included.
        total: how many there are.
        seconds: how long this experiment has been running.
        seconds_left: an estimate, None before there is anything to base it on.
    """

    what: str
    done: int
    total: int
    seconds: float
    seconds_left: float | None


Progress: TypeAlias = Callable[[Report], None]


def nobody(report: Report) -> None:
    """Tell nobody."""


class Clock:
    """Estimates the rest by what runs of the same kind took: the kinds differ by a factor of a hundred."""

    def __init__(self, cells: Sequence[Cell], done: int, workers: int, progress: Progress) -> None:
        self._left = Counter((cell.data, cell.pipeline, cell.k) for cell in cells)
        self._times: dict[tuple[str, str, int], tuple[int, float]] = {}
        self._done, self._total = done, done + len(cells)
        self._workers = workers
        self._progress = progress
        self._what = ""
        self._started = perf_counter()

    def say(self, what: str) -> None:
        """Tell what is being done now."""
        self._what = what
        self._progress(Report(what, self._done, self._total, perf_counter() - self._started, self._estimate()))

    def count(self, rows: Iterable[Mapping[str, Any]], failed: Iterable[Cell] = ()) -> None:
        """Note runs that have ended."""
        for row in rows:
            kind = (row["data"], row["pipeline"], row["k"])
            runs, seconds = self._times.get(kind, (0, 0.0))
            self._times[kind] = runs + 1, seconds + (row["seconds"] or 0.0)
            self._left[kind] -= 1
            self._done += 1
        for cell in failed:
            self._left[cell.data, cell.pipeline, cell.k] -= 1
            self._done += 1
        self.say(self._what)

    def _estimate(self) -> float | None:
        runs = sum(count for count, _ in self._times.values())
        if not runs:
            return None
        average = sum(seconds for _, seconds in self._times.values()) / runs
        means = {kind: seconds / count for kind, (count, seconds) in self._times.items()}
        return sum(left * means.get(kind, average) for kind, left in self._left.items()) / self._workers
