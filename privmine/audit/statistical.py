"""A black-box audit: run a mechanism many times on two neighbours, and bound ε from below.

An event that is e^x times as probable on one database as on its neighbour shows that the mechanism is not
ε-differentially private for any ε < x. If δ is claimed as well, that of the more probable one is first lowered by δ:
(ε, δ) promises p ≤ e^ε·q + δ for every event. Events are sought in one half of the runs and tested on the other, so
that the test does not know what the search has seen. The probabilities are bounded by Clopper–Pearson, all
of them at once with the stated confidence (Bonferroni).

If a bound exceeds the claim, the claim is wrong, except with a probability of at most the error rate. If no
bound does, that proves nothing: perhaps no event was found that tells the databases apart, or the
databases were the wrong ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from fractions import Fraction
from math import inf, log, sqrt
from typing import Any, Protocol

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from privmine.audit.binomial import lower_limit, upper_limit
from privmine.audit.columns import OutcomeColumn, columns_of, of_groups
from privmine.audit.outcomes import Outcome
from privmine.audit.workers import side_by_side
from privmine.exact import amount
from privmine.model import FloatArray
from privmine.privacy.guarantee import equation

#: With this probability at most, audits of sound mechanisms call any of them unsound.
ERROR_RATE = 0.001
#: So many runs a task, so that workers are busy and progress is shown.
_BATCH = 250
#: So many events of each group of features are tested, in each direction; every test costs confidence.
_TESTED = 2


class Sample(Protocol):
    """Runs a mechanism `count` times on the first database (side 0) or the second (side 1)."""

    def __call__(self, side: int, count: int, seed: int, /) -> Sequence[Outcome]:
        """The outcome of each run."""


@frozen
class Bound:
    """What was learned about ε from the outcomes up to some stage.

    Attributes:
        group: the stage, or whatever the mechanism calls the last features that were looked at.
        claim: the ε that the mechanism claims for them.
        lower: ε is at least this.
        confidence: with this probability all bounds from the same pair of databases hold.
        event: what was more probable on one database; empty where nothing was.
        favours: 0 if it was more probable on the first database, 1 if on the second.
        hits: how often it happened on the database that it favours, and on the other one.
        runs: of so many runs on each.
        delta: the δ that is claimed beside the ε; the bound is on the ε at this δ. 0 for pure ε.
    """

    group: str
    claim: Fraction
    lower: float
    confidence: float
    event: str = ""
    favours: int = 0
    hits: tuple[int, int] = (0, 0)
    runs: int = 0
    delta: Fraction = Fraction(0)

    @property
    def violates(self) -> bool:
        """Whether the claim is refuted."""
        return self.lower > self.claim

    def __str__(self) -> str:
        at = f" at {equation('δ', amount(self.delta))}" if self.delta else ""
        text = f"{self.group}: ε ≥ {self.lower:.3f}{at} against a claim of {float(self.claim):.3f}"
        if self.event:
            likely, unlikely = self.hits
            text += f"; {self.event}: {likely} of {self.runs} runs, {unlikely} of {self.runs} on the neighbour"
        return text


@frozen(eq=False)
class Event:
    """Something that happens in a run or not."""

    text: str
    happens: Callable[[int, slice], NDArray[np.bool_]]


def lower_bounds(
    sample: Sample,
    claims: Mapping[str, Fraction],
    *,
    samples: int = 10_000,
    delta: Fraction = Fraction(0),
    error_rate: float = ERROR_RATE,
    seed: int = 0,
    workers: Executor | None = None,
    progress: Callable[[int], None] = lambda done: None,
    seen: Callable[[Sequence[Outcome]], None] = lambda batch: None,
) -> tuple[Bound, ...]:
    """Bound ε from below for each group of features, together with all groups before it.

    Args:
        sample: runs the mechanism.
        claims: the groups in their order, and what the features up to each may reveal.
        samples: how many runs on each database.
        delta: the δ that is claimed beside every ε.
        error_rate: the probability that any of the bounds is wrong, at most.
        seed: makes the runs, where their noise can be seeded.
        workers: runs batches side by side; the sample must be picklable then.
        progress: told how many runs are done, of twice `samples`.
        seen: shown the outcomes of every batch.
    """
    first, second = _all_runs(sample, samples, seed, workers, progress, seen)
    search, check = slice(0, samples // 2), slice(samples // 2, samples)
    columns = columns_of(first, second, search)
    groups = list(claims)
    chosen = {
        (group, favours): _best_events(columns, groups[: place + 1], search, _Search(favours, error_rate, float(delta)))
        for place, group in enumerate(groups)
        for favours in (0, 1)
    }
    tests = sum(len(events) for events in chosen.values())
    confidence = 1 - error_rate
    bounds = []
    for group in groups:
        best = Bound(group, claims[group], 0.0, confidence, delta=delta)
        for favours in (0, 1):
            for event in chosen[group, favours]:
                # Each test bounds two probabilities.
                bound = _tested(event, favours, check, error_rate / (2 * tests), delta)
                if bound[0] > best.lower:
                    best = Bound(group, claims[group], bound[0], confidence, event.text, favours, *bound[1:], delta)
        bounds.append(best)
    return tuple(bounds)


def mechanism_bound(
    mechanism: Callable[[Any, np.random.Generator], Any], first: Any, second: Any, claim: Any, **options: Any
) -> Bound:
    """Bound ε of any function of a database and a source of randomness.

    Args:
        mechanism: returns a number, a category, a tuple of both, or a mapping of names to them.
        first: a database.
        second: its neighbour.
        claim: the ε that the mechanism claims.
        options: as for `lower_bounds`, such as the δ that it claims.
    """
    (bound,) = lower_bounds(_FunctionSample(mechanism, (first, second)), {"output": Fraction(claim)}, **options)
    return bound


@frozen
class _FunctionSample:
    mechanism: Callable[[Any, np.random.Generator], Any]
    databases: tuple[Any, Any]

    def __call__(self, side: int, count: int, seed: int, /) -> list[Outcome]:
        generator = np.random.default_rng(seed)
        database = self.databases[side]
        # One object for equal categories: hundreds of thousands of runs have few different outcomes.
        known: dict[Any, Outcome] = {}
        outcomes: list[Outcome] = []
        for _ in range(count):
            output = self.mechanism(database, generator)
            if not isinstance(output, str | int):
                outcomes.append({"output": _named(output)})
                continue
            if output not in known:
                known[output] = {"output": _named(output)}
            outcomes.append(known[output])
        return outcomes


def _named(output: Any) -> Mapping[str, Any]:
    if isinstance(output, Mapping):
        return {str(name): _plain(value) for name, value in output.items()}
    if isinstance(output, tuple | list | np.ndarray):
        parts = tuple(_plain(value) for value in output)
        return {"whole output": parts, **{f"output {place}": part for place, part in enumerate(parts)}}
    return {"output": _plain(output)}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _all_runs(
    sample: Sample,
    samples: int,
    seed: int,
    workers: Executor | None,
    progress: Callable[[int], None],
    seen: Callable[[Sequence[Outcome]], None],
) -> tuple[list[Outcome], list[Outcome]]:
    tasks = [
        (side, min(_BATCH, samples - start), int(np.random.SeedSequence((seed, side, start)).generate_state(1)[0]))
        for side in (0, 1)
        for start in range(0, samples, _BATCH)
    ]
    outcomes: tuple[list[Outcome], list[Outcome]] = ([], [])
    for (side, _, _), batch in zip(tasks, side_by_side(workers, sample, tasks), strict=True):
        outcomes[side].extend(batch)
        seen(batch)
        progress(len(outcomes[0]) + len(outcomes[1]))
    return outcomes


@frozen
class _Search:
    """What is sought: events that are more probable on one side, and by more than δ.

    Attributes:
        favours: that side.
        error_rate: of the test that an event must pass later.
        delta: what is taken from its probability there.
    """

    favours: int
    error_rate: float
    delta: float

    def promise(self, likely: int, unlikely: int, runs: int) -> float:
        """The logarithm of the ratio of the frequencies, minus some standard deviations of each logarithm."""
        high, low = likely / runs - self.delta, (unlikely + 1) / runs
        if high <= 0:
            return -inf
        errors = sqrt((1 - high) / likely) + sqrt(max(0.0, 1 - low) / (unlikely + 1))
        return log(high / low) - (1 + sqrt(log(1 / self.error_rate))) * errors


def _best_events(columns: list[OutcomeColumn], groups: Sequence[str], rows: slice, search: _Search) -> list[Event]:
    """The events of the last group that promise most, each on another feature."""
    # The score is fitted to one part and its thresholds are chosen on the other, else it would flatter itself.
    middle = (rows.start + rows.stop) // 2
    fit, choose = slice(rows.start, middle), slice(middle, rows.stop)
    candidates = [
        _most_promising(_column_events(column, fit), choose, search) for column in of_groups(columns, groups[-1:])
    ]
    candidates.append(_best_score([*of_groups(columns, groups)], fit, choose, search))
    found = [candidate for candidate in candidates if candidate is not None and candidate[0] > -inf]
    found.sort(key=lambda candidate: -candidate[0])
    return [event for _, event in found[:_TESTED]]


def _column_events(column: OutcomeColumn, fit: slice) -> Iterator[Event]:
    """Each label; or being above, or below, each cut."""
    if column.labels is not None:
        for place, label in enumerate(column.labels):
            yield Event(f"{column.name} = {label}", _equal(column, place))
        return
    for cut in column.cuts(fit).tolist():
        yield Event(f"{column.name} ≥ {cut:.6g}", _at_least(column, cut))
        yield Event(f"{column.name} < {cut:.6g}", _below(column, cut))


def _equal(column: OutcomeColumn, place: int) -> Callable[[int, slice], NDArray[np.bool_]]:
    return lambda side, rows: column.values[side][rows] == place


def _at_least(column: OutcomeColumn, cut: float) -> Callable[[int, slice], NDArray[np.bool_]]:
    return lambda side, rows: column.values[side][rows] >= cut


def _below(column: OutcomeColumn, cut: float) -> Callable[[int, slice], NDArray[np.bool_]]:
    return lambda side, rows: column.values[side][rows] < cut


def _best_score(columns: list[OutcomeColumn], fit: slice, choose: slice, search: _Search) -> tuple[float, Event] | None:
    """A likelihood ratio of all features, as if they were independent, and the threshold that promises most.

    That they are not makes it a worse score, never a wrong test.
    """
    tables = [(column, column.cuts(fit)) for column in columns]
    ratios = [_log_ratios(column, cuts, fit, search.favours) for column, cuts in tables]

    def score(side: int, rows: slice) -> FloatArray:
        total = np.zeros(len(range(*rows.indices(len(columns[0].values[side])))))
        for (column, cuts), ratio in zip(tables, ratios, strict=True):
            total += ratio[column.cells(side, rows, cuts)]
        return total

    if not columns:
        return None
    features = "1 feature" if len(columns) == 1 else f"{len(columns)} features"
    pooled = np.concatenate([score(0, choose), score(1, choose)])
    events = (
        Event(f"likelihood-ratio score of {features} ≥ {cut:.3f}", _scores_at_least(score, cut))
        for cut in np.unique(np.quantile(pooled, np.linspace(0.01, 0.99, 50))).tolist()
    )
    return _most_promising(events, choose, search)


def _scores_at_least(
    score: Callable[[int, slice], FloatArray], cut: float
) -> Callable[[int, slice], NDArray[np.bool_]]:
    return lambda side, rows: score(side, rows) >= cut


def _log_ratios(column: OutcomeColumn, cuts: FloatArray, rows: slice, favours: int) -> FloatArray:
    """For each cell how much more probable it is on the favoured side, smoothed."""
    counts = [
        np.bincount(column.cells(side, rows, cuts), minlength=column.cell_count(cuts)) + 1.0
        for side in (favours, 1 - favours)
    ]
    ratios: FloatArray = np.log(counts[0] / counts[0].sum()) - np.log(counts[1] / counts[1].sum())
    return ratios


def _most_promising(events: Iterator[Event], rows: slice, search: _Search) -> tuple[float, Event] | None:
    """The event for which the largest bound is to be expected, by a rough estimate."""
    best: tuple[float, Event] | None = None
    for event in events:
        likely, unlikely = event.happens(search.favours, rows), event.happens(1 - search.favours, rows)
        promise = search.promise(int(likely.sum()), int(unlikely.sum()), len(likely))
        if best is None or promise > best[0]:
            best = promise, event
    return best


def _tested(
    event: Event, favours: int, rows: slice, error: float, delta: Fraction
) -> tuple[float, tuple[int, int], int]:
    """The bound on ε, at this δ, that an event proves on runs that had no part in choosing it."""
    likely, unlikely = event.happens(favours, rows), event.happens(1 - favours, rows)
    hits, runs = (int(likely.sum()), int(unlikely.sum())), len(likely)
    least, most = lower_limit(hits[0], runs, error), upper_limit(hits[1], runs, error)
    least -= float(delta) * (1 + 1e-9)  # rounded to the side of a smaller bound
    return (log(least / most) if least > 0 else -inf), hits, runs
