"""Watch a run: record its questions and answers, or give it the answers of a recorded run.

A pipeline is watched from two sides. Its components are wrapped, so that each gets a curator which
notes the query, and hands over its result; and its source of noise is replaced by one that sees the
exact values, whatever the engine between the two does.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from contextvars import ContextVar
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from privmine.audit.messages import captured_messages
from privmine.audit.trace import Call, Result, Trace
from privmine.audit.unlisted_candidates import is_uneven, tail_names
from privmine.curator import Curator, Measurement, Selection, close
from privmine.errors import PrivmineError
from privmine.model import IntArray, Request
from privmine.noise.protocol import NoiseSource, Tail
from privmine.noise.simulated import SimulatedNoise
from privmine.pipeline import Pipeline
from privmine.pipeline.request import definition_at
from privmine.pipeline.run import RESULTS, StageComponent, engine_watch
from privmine.privacy.cost import Cost
from privmine.privacy.guarantee import Guarantee
from privmine.privacy.noise import Noise
from privmine.queries import VERIFIED, Candidate, Query, Scores

WatchCurator: TypeAlias = Callable[[Curator], Curator]

#: Whether an audit runs a pipeline just now.
_auditing: ContextVar[bool] = ContextVar("_auditing", default=False)


class DivergedError(PrivmineError):
    """A replay asked another question than the recorded run, so no recorded answer fits."""


class AuditNoise:
    """Noise that protects nobody, whatever it claims. `Pipeline.run` accepts it only in an audit."""

    name = "recorded noise of an audit, not private"

    @property
    def outside_audit(self) -> bool:
        """Whether no audit is running, so that a run must refuse this noise."""
        return not _auditing.get()


class RecordingNoise(AuditNoise):
    """Seeded noise that records its inputs and answers.

    Unless told otherwise it says that it is private, and answers in integers, so that a pipeline takes
    the paths that it takes in a release. Nothing that an audit draws is ever released.
    """

    def __init__(self, trace: Trace, seed: int, private: bool = True) -> None:
        self.private = private
        self._trace = trace
        self._source = SimulatedNoise(seed)

    def draws(self, noise: Noise) -> Noise:
        """That of a release, or of a simulation."""
        return noise if self.private else self._source.draws(noise)

    def add(self, values: IntArray, noise: Noise) -> NDArray[Any]:
        """Add noise, rounded where it stands for that of a release."""
        call = self._trace.drawn("measure", values, 0, noise)
        noisy: NDArray[Any] = self._source.add(values, noise)
        if noise.is_discrete:
            noisy = np.rint(noisy).astype(np.int64)
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

    def select_set(self, scores: IntArray, n: int, rate: Fraction, tail: Tail | None = None) -> IntArray:
        """Draw a set; the curator names its members."""
        self._trace.drawn("choose_set", scores, n, rate, tail)
        return self._source.select_set(scores, n, rate, tail)

    def below(self, bound: int) -> int:
        """A uniform integer."""
        return self._source.below(bound)


class ReplayingNoise(AuditNoise):
    """Gives the answers of a recorded run, and records the exact values that it is given."""

    private = True

    def __init__(self, trace: Trace, recorded: Trace) -> None:
        self._trace = trace
        self._recorded = iter(recorded.calls)

    def draws(self, noise: Noise) -> Noise:
        """That of a release."""
        return noise

    def add(self, values: IntArray, noise: Noise) -> IntArray:
        """The frozen noisy values."""
        frozen = self._frozen(self._trace.drawn("measure", values, 0, noise))
        answer: IntArray = frozen.answer.copy()
        return answer

    def select(self, scores: IntArray, n: int, rate: Fraction, tail: Tail | None = None) -> IntArray:
        """A placeholder: the watched curator replaces it by the recorded candidates."""
        self._frozen(self._trace.drawn("choose", scores, n, rate, tail))
        return np.zeros(n, dtype=np.int64)

    def noisy_top(self, scores: IntArray, n: int, scale: Fraction, tail: Tail | None = None) -> IntArray:
        """Likewise."""
        self._frozen(self._trace.drawn("choose_noisy", scores, n, scale, tail))
        return np.zeros(n, dtype=np.int64)

    def select_set(self, scores: IntArray, n: int, rate: Fraction, tail: Tail | None = None) -> IntArray:
        """Likewise."""
        self._frozen(self._trace.drawn("choose_set", scores, n, rate, tail))
        return np.zeros(n, dtype=np.int64)

    def below(self, bound: int) -> int:
        """Never used: recorded candidates are not drawn."""
        return 0

    def _frozen(self, call: Call) -> Call:
        recorded = next(self._recorded, None)
        if recorded is None or recorded.shape != call.shape:
            self._trace.diverged = True
            raise DivergedError("The replay asked for something other than the recorded run.")
        call.answer = recorded.answer
        return recorded


class WatchedCurator(Curator):
    """A curator that records each question, then answers it as usual."""

    __slots__ = ("_replays", "_trace")

    def __init__(self, curator: Curator, trace: Trace, replays: bool) -> None:
        # It stands in for the curator that the run made, so it needs all that one has.
        super().__init__(curator._access, curator._stage, curator._component, curator._limit)  # noqa: SLF001
        self._trace = trace
        self._replays = replays
        trace.meter = self._access.meter

    def measure(self, query: Query, cost: Cost | None = None) -> Measurement:
        """Answer a query with noise; see `Curator.measure`."""
        with self._trace.asking(query, self.public.unit, self._access.meter):
            return super().measure(query, cost)

    def choose(self, query: Query, n: int = 1, cost: Cost | None = None) -> Selection:
        """Select candidates; see `Curator.choose`."""
        with self._trace.asking(query, self.public.unit, self._access.meter):
            return super().choose(query, n, cost)

    def choose_noisy(self, query: Query, n: int = 1, cost: Cost | None = None) -> Selection:
        """Select candidates by noise on every score; see `Curator.choose_noisy`."""
        with self._trace.asking(query, self.public.unit, self._access.meter):
            return super().choose_noisy(query, n, cost)

    def choose_set(self, query: Query, n: int = 1, cost: Cost | None = None) -> Selection:
        """Select a set in one draw; see `Curator.choose_set`."""
        with self._trace.asking(query, self.public.unit, self._access.meter):
            return super().choose_set(query, n, cost)

    def _names(self, query: Query, scores: Scores, drawn: IntArray) -> list[Candidate]:
        call = self._trace.events[-1]
        assert isinstance(call, Call)
        call.candidates = _candidates(query, scores)
        call.tail_names = tail_names(scores)
        call.uneven = type(query) not in VERIFIED and is_uneven(scores, query.size)
        if not self._replays:
            call.answer = super()._names(query, scores, drawn)
            call.misnamed = not _are_named(scores, drawn, call.answer)
        # A candidate that is listed on one database may be in the tail on the other, so what is
        # frozen are the candidates themselves, not their positions.
        return list(call.answer)


def _candidates(query: Query, scores: Scores) -> tuple[Candidate, ...] | None:
    """What is listed, place by place, unless the place alone says it.

    A query of somebody else may remember what it saw when it was evaluated, and name a place after that.
    """
    if type(query) in VERIFIED and scores.tail is None and scores.candidate == query.candidate:
        return None
    return tuple(scores.candidate(place) for place in range(len(scores.values)))


def _are_named(scores: Scores, drawn: IntArray, names: list[Candidate]) -> bool:
    """Whether the candidates are those that were drawn, in that order; members of the tail may be any."""
    listed = len(scores.values)
    return len(names) == len(drawn) and all(
        index >= listed or name == scores.candidate(index) for index, name in zip(drawn.tolist(), names, strict=True)
    )


def unwatched(curator: Curator) -> Curator:
    """Leave a curator as it is: the black box."""
    return curator


def watched_part(part: StageComponent, trace: Trace, watch: WatchCurator = unwatched) -> StageComponent:
    """The part with its component wrapped in a watcher, which the engine treats as the component."""
    method: Callable[..., Any] | None = getattr(type(part.component), part.stage, None)
    if method is None:
        return part  # The engine has its own words for this.

    @functools.wraps(method)  # pluggy reads the argument names, and the hook's mark, through this
    def run_stage(_: object, *arguments: Any) -> Any:
        trace.stage, trace.in_stage = part.stage, True
        trace.request = next((argument for argument in arguments if isinstance(argument, Request)), trace.request)
        watched = [watch(argument) if isinstance(argument, Curator) else argument for argument in arguments]
        try:
            result = method(part.component, *watched)
        finally:
            trace.in_stage = False
            for argument in watched:
                if isinstance(argument, Curator):
                    close(argument)
        # What is no result of this stage will be refused; it may be anything, also something without a copy.
        copies = trace.copies and isinstance(result, RESULTS[part.stage])
        kept = (copy.deepcopy(result), repr(result)) if copies else (result, "")
        trace.events.append(Result(part.stage, result, *kept))
        return result

    # pluggy inspects all that dir() lists, which takes most of the time; a watcher has just the one method to find.
    members = {part.stage: run_stage, "__dir__": lambda _: [part.stage]}
    return evolve(part, component=type("Watcher", (), members)())


def watched_pipeline(pipeline: Pipeline, trace: Trace, watch: WatchCurator = unwatched) -> Pipeline:
    """A copy of the pipeline that records the results of its stages in a trace.

    Args:
        pipeline: what to watch.
        trace: where the results go.
        watch: makes of each curator the one that the component gets.
    """
    return pipeline.with_parts({stage: watched_part(part, trace, watch) for stage, part in pipeline.parts.items()})


def observed_run(
    pipeline: Pipeline,
    database: Any,
    noise: NoiseSource,
    trace: Trace,
    *,
    watch: WatchCurator = unwatched,
    **request: Any,
) -> Trace:
    """Run a watched pipeline, and observe its errors, warnings and logs as well.

    It is `run` that is called, as users call it: a class of pipelines may have one of its own, which may leak.

    Args:
        pipeline: what to run.
        database: the data.
        noise: the source of noise.
        trace: where everything goes.
        watch: makes of the engine's own curator the one that it uses.
        request: the other arguments of `Pipeline.run`.
    """

    def watched(curator: Curator) -> Curator:
        trace.stage = curator._stage  # noqa: SLF001 - no component tells which one it is
        return watch(curator)

    trace.budget = definition_at(request.get("delta")).budget(Fraction(request["epsilon"]))
    trace.asked = Guarantee(Fraction(request["epsilon"]), request.get("delta"))
    before, unwatched_engine = _auditing.set(True), engine_watch.set(watched)
    with captured_messages() as said:
        try:
            trace.release = pipeline.run(database, noise=noise, **request)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a component raises is evidence, not an accident
            trace.failure = error
        finally:
            _auditing.reset(before)
            engine_watch.reset(unwatched_engine)
    trace.messages = tuple(said)
    return trace
