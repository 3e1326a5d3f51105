"""What a run asks of the data and is told: recorded once, then played back on a neighbour.

A pipeline is watched from two sides. Its components are wrapped, so that each gets a curator which
notes the query, and hands over its result; and its source of noise is replaced by one that sees the
exact values, whatever the engine between the two does.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
from attrs import define, evolve, field

from privmine.curator import Curator, Measurement, Meter, Selection, close
from privmine.errors import PrivmineError
from privmine.model import IntArray
from privmine.noise.protocol import NoiseSource, Tail
from privmine.noise.simulated import SimulatedNoise
from privmine.pipeline import Pipeline
from privmine.privacy import Charge, Sensitivity
from privmine.queries import Candidate, Query, Scores
from privmine.release import Release
from privmine.run import Part, stage_manager

Kind: TypeAlias = Literal["measure", "choose", "choose_noisy"]
WatchCurator: TypeAlias = Callable[[Curator], Curator]


class DivergedError(PrivmineError):
    """A replay asked for something else than the recorded run did, so no frozen answer fits."""


@define
class Call:
    """One draw of noise, and the question that it answered.

    Attributes:
        stage: who asked.
        kind: a measurement, or one of the two ways to select.
        size: how many values were measured, or how many candidates there were, the tail included.
        draws: how many candidates were to be chosen; 0 for a measurement.
        factor: the scale of the noise, or the rate of an exponential selection.
        values: the exact values that the noise was drawn for.
        tail: the candidates of a selection that were not listed.
        query: what was asked; None where noise was drawn although nobody had asked the curator.
        sensitivity: what the query declared when the noise was drawn.
        charged: what had been paid for this call by then.
        scores: names the candidates of a selection.
        answer: the noisy values, or the chosen candidates.
    """

    stage: str
    kind: Kind
    size: int
    draws: int
    factor: Fraction
    values: IntArray
    tail: Tail | None = None
    query: Query | None = None
    sensitivity: Sensitivity | None = None
    charged: Fraction = Fraction(0)
    scores: Scores | None = None
    answer: Any = None

    @property
    def shape(self) -> tuple[str, str, int, int]:
        """What must agree before an answer can be played back."""
        return self.stage, self.kind, self.size, self.draws

    def __str__(self) -> str:
        what = f"the query {self.query.name!r}" if self.query else "noise that no query was asked for"
        return f"{self.stage}: {self.kind} {what} ({self.size} values, {self.draws} draws)"


@define
class Question:
    """A call of the curator that is under way."""

    stage: str
    query: Query
    meter: Meter
    paid_before: int
    drawn: bool = False

    def charges(self) -> tuple[Charge, ...]:
        """What has been paid since the question was put."""
        return self.meter.charges[self.paid_before :]


@define
class Result:
    """What a stage returned: the object that the run goes on with, and a copy that nobody else holds (or itself)."""

    stage: str
    value: Any
    copy: Any


@define
class Trace:
    """All that was observed of one run.

    Attributes:
        calls: the draws of noise, in their order.
        results: what the stages returned, in their order.
        epsilon: the budget of the run.
        release: what the run ended with, or
        failure: the error that it ended with.
        diverged: how a replay differed from the recorded run, where it could not go on.
        copies: whether results are copied, to see if somebody changes them later.
    """

    calls: list[Call] = field(factory=list)
    results: list[Result] = field(factory=list)
    epsilon: Fraction = Fraction(0)
    release: Release | None = None
    failure: Exception | None = None
    diverged: str = ""
    copies: bool = True
    _question: Question | None = None

    def result(self, stage: str) -> Any:
        """What a stage returned."""
        return next((result.copy for result in self.results if result.stage == stage), None)

    @contextmanager
    def asking(self, stage: str, query: Query, meter: Meter) -> Iterator[None]:
        """While a curator works on a question, draws of noise are answers to it."""
        self._question = Question(stage, query, meter, len(meter.charges))
        try:
            yield
        finally:
            self._question = None

    def drawn(self, kind: Kind, values: IntArray, draws: int, factor: Fraction, tail: Tail | None = None) -> Call:
        """Note a draw of noise."""
        size = len(values) + (tail.size if tail else 0)
        call = Call("nobody", kind, size, draws, factor, np.array(values), tail)
        question = self._question
        # A second draw for the same question is one that nobody asked or paid for.
        if question is not None and not question.drawn:
            question.drawn = True
            call.stage = question.stage
            call.query = question.query
            call.sensitivity = question.query.sensitivity
            call.charged = sum((charge.epsilon for charge in question.charges()), Fraction(0))
        self.calls.append(call)
        return call


class RecordingNoise:
    """Seeded noise that remembers what it was given and what it answered.

    It says that it is private, and answers in integers, so that a pipeline takes the paths that it
    takes in a release. Nothing that an audit draws is ever released.
    """

    private = True
    name = "recorded noise of an audit, not private"

    def __init__(self, trace: Trace, seed: int) -> None:
        self._trace = trace
        self._source = SimulatedNoise(seed)

    def laplace(self, values: IntArray, scale: Fraction) -> IntArray:
        """Add rounded Laplace noise."""
        call = self._trace.drawn("measure", values, 0, scale)
        noisy = np.rint(self._source.laplace(values, scale)).astype(np.int64)
        call.answer = noisy.copy()
        return noisy

    def select(self, scores: IntArray, n: int, rate: Fraction, tail: Tail | None = None) -> IntArray:
        """Draw candidates; the curator names them."""
        self._trace.drawn("choose", scores, n, rate, tail)
        return self._source.select(scores, n, rate, tail)

    def noisy_top(self, scores: IntArray, n: int, scale: Fraction, tail: Tail | None = None) -> IntArray:
        """Choose the largest after noise; the curator names them."""
        self._trace.drawn("choose_noisy", scores, n, scale, tail)
        return self._source.noisy_top(scores, n, scale, tail)

    def below(self, bound: int) -> int:
        """A uniform integer."""
        return self._source.below(bound)


class ReplayingNoise:
    """Gives the answers of a recorded run, and remembers the exact values that it is given instead."""

    private = True
    name = RecordingNoise.name

    def __init__(self, trace: Trace, recorded: Sequence[Call]) -> None:
        self._trace = trace
        self._recorded = recorded

    def laplace(self, values: IntArray, scale: Fraction) -> IntArray:
        """The frozen noisy values."""
        frozen = self._frozen(self._trace.drawn("measure", values, 0, scale))
        answer: IntArray = frozen.answer.copy()
        return answer

    def select(self, scores: IntArray, n: int, rate: Fraction, tail: Tail | None = None) -> IntArray:
        """Nothing that matters: the watched curator puts the frozen candidates in place of it."""
        self._frozen(self._trace.drawn("choose", scores, n, rate, tail))
        return np.zeros(n, dtype=np.int64)

    def noisy_top(self, scores: IntArray, n: int, scale: Fraction, tail: Tail | None = None) -> IntArray:
        """Likewise."""
        self._frozen(self._trace.drawn("choose_noisy", scores, n, scale, tail))
        return np.zeros(n, dtype=np.int64)

    def below(self, bound: int) -> int:
        """Needed by nobody: frozen candidates are not drawn."""
        return 0

    def _frozen(self, call: Call) -> Call:
        position = len(self._trace.calls) - 1
        recorded = self._recorded[position] if position < len(self._recorded) else None
        if recorded is None or recorded.shape != call.shape:
            self._trace.diverged = (
                f"call {position + 1} was {recorded or 'not made'} on the one database, and {call} on its neighbour"
            )
            raise DivergedError(self._trace.diverged)
        call.answer = recorded.answer
        return recorded


class WatchedCurator(Curator):
    """A curator that notes each question before it answers it as usual."""

    __slots__ = ("_replays", "_trace")

    def __init__(self, curator: Curator, trace: Trace, replays: bool) -> None:
        # It stands in for the curator that the run made, so it needs all that one has.
        super().__init__(curator._desk, curator._stage, curator._component, curator._limit)  # noqa: SLF001
        self._trace = trace
        self._replays = replays

    def measure(self, query: Query, epsilon: Fraction | None = None) -> Measurement:
        """Answer a query with noise; see `Curator.measure`."""
        with self._trace.asking(self._stage, query, self._desk.meter):
            return super().measure(query, epsilon)

    def choose(self, query: Query, n: int = 1, epsilon: Fraction | None = None) -> Selection:
        """Select candidates; see `Curator.choose`."""
        with self._trace.asking(self._stage, query, self._desk.meter):
            return super().choose(query, n, epsilon)

    def choose_noisy(self, query: Query, n: int = 1, epsilon: Fraction | None = None) -> Selection:
        """Select candidates by noise on every score; see `Curator.choose_noisy`."""
        with self._trace.asking(self._stage, query, self._desk.meter):
            return super().choose_noisy(query, n, epsilon)

    def _names(self, query: Query, scores: Scores, drawn: IntArray) -> list[Candidate]:
        call = self._trace.calls[-1]
        call.scores = scores
        if not self._replays:
            call.answer = super()._names(query, scores, drawn)
        # A candidate that is listed on one database may be in the tail on the other, so what is
        # frozen are the candidates themselves, not their positions.
        return list(call.answer)


def unwatched(curator: Curator) -> Curator:
    """Leave a curator as it is: the black box."""
    return curator


def watched_part(part: Part, trace: Trace, watch: WatchCurator = unwatched) -> Part:
    """The part with its component inside a watcher, which the engine takes for the component itself."""
    method: Callable[..., Any] | None = getattr(type(part.component), part.stage, None)
    if method is None:
        return part  # The engine has its own words for this.

    @functools.wraps(method)  # pluggy reads the argument names, and the hook's mark, through this
    def run_stage(_: object, *arguments: Any) -> Any:
        watched = [watch(argument) if isinstance(argument, Curator) else argument for argument in arguments]
        try:
            result = method(part.component, *watched)
        finally:
            for argument in watched:
                if isinstance(argument, Curator):
                    close(argument)
        trace.results.append(Result(part.stage, result, copy.deepcopy(result) if trace.copies else result))
        return result

    # pluggy inspects all that dir() lists, which takes most of the time; a watcher has just the one method to find.
    members = {part.stage: run_stage, "__dir__": lambda _: [part.stage]}
    return evolve(part, component=type("Watcher", (), members)())


def watched_pipeline(pipeline: Pipeline, trace: Trace, watch: WatchCurator = unwatched) -> Pipeline:
    """A copy of the pipeline that hands the results of its stages to a trace; the pipeline itself stays as it is.

    Args:
        pipeline: what to watch.
        trace: where the results go.
        watch: makes of each curator the one that the component gets.
    """
    return with_parts(pipeline, {stage: watched_part(part, trace, watch) for stage, part in pipeline.parts.items()})


def with_parts(pipeline: Pipeline, parts: dict[str, Part]) -> Pipeline:
    """A copy of the pipeline, of whatever class it is, with other parts."""
    changed = copy.copy(pipeline)
    changed.parts = parts
    changed._stages = stage_manager(parts.values())  # noqa: SLF001 - the parts and their manager change together
    return changed


def observed_run(pipeline: Pipeline, database: Any, noise: NoiseSource, trace: Trace, **request: Any) -> Trace:
    """Run a watched pipeline; what it raises is part of what is observed."""
    trace.epsilon = request["epsilon"]
    try:
        trace.release = pipeline.run(database, noise=noise, **request)
    except Exception as error:  # noqa: BLE001 - whatever a component raises is evidence, not an accident
        trace.failure = error
    return trace
