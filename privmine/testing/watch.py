"""Stand-ins that see every look at the data: a store, a noise source and a curator under watch.

The store and the noise answer only while a curator is at work on a query, so that whoever reaches
around the curator is noticed. The curator keeps a tape of its answers. Given the tape of an earlier
run it answers from that one, whatever the data: what a component does then can only depend on the
noisy answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import define, evolve, field, frozen
from numpy.typing import NDArray

from privmine.curator import Answer, Curator, Desk, Measurement, Meter, Selection
from privmine.errors import ContractError
from privmine.hookspecs import hookimpl
from privmine.model import IntArray
from privmine.noise.protocol import Tail
from privmine.noise.simulated import SimulatedNoise
from privmine.queries import Query
from privmine.store.protocol import Store


@frozen
class Breach:
    """Something that a stage did although it must not."""

    stage: str
    contract: str
    sentence: str


@define
class Watch:
    """Knows which stage runs and whether a curator is at work, and notes breaches.

    Attributes:
        script: the tape of an earlier run to answer from, if any.
    """

    script: tuple[Answer, ...] | None = None
    stage: str = ""
    at_work: bool = False
    breaches: list[Breach] = field(factory=list)
    tape: list[Answer] = field(factory=list)
    results: dict[str, object] = field(factory=dict)
    reprs: dict[str, str] = field(factory=dict)

    @hookimpl
    def stage_started(self, stage: str) -> None:
        """Note whose turn it is."""
        self.stage = stage

    @hookimpl
    def stage_finished(self, stage: str, result: object) -> None:
        """Keep the result, and what it shows now: it may show something else later."""
        self.results[stage] = result
        self.reprs[stage] = repr(result)

    @contextmanager
    def curator_at_work(self) -> Iterator[None]:
        """The time in which the store and the noise may be used."""
        before, self.at_work = self.at_work, True
        try:
            yield
        finally:
            self.at_work = before

    def note(self, contract: str, sentence: str) -> ContractError:
        """Note a breach. The error to raise is only a way to stop: a component might swallow it."""
        self.breaches.append(Breach(self.stage, contract, sentence))
        return ContractError(sentence)

    def settled(self, answer: Answer) -> Answer:
        """The answer that a component gets: that of the script where there is one."""
        if self.script is not None:
            position = len(self.tape)
            frozen_answer = self.script[position] if position < len(self.script) else None
            if frozen_answer is None or not same_question(frozen_answer, answer):
                asked = f"{answer.query.name!r}" if frozen_answer is None else _difference(frozen_answer, answer)
                raise self.note(
                    "data",
                    f"it asks other questions of other data although all noisy answers so far are the same ({asked}); "
                    "decide by noisy answers only.",
                )
            answer = with_values_of(frozen_answer, answer)
        self.tape.append(answer)
        return answer


class WatchedStore:
    """Stands for a store, and answers only while a curator is at work."""

    def __init__(self, store: Store, watch: Watch) -> None:
        self.__store = store
        self.__watch = watch

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self.__require_work(name)
        value = getattr(self.__store, name)
        if not callable(value):
            return value

        def call(*arguments: Any, **options: Any) -> Any:
            self.__require_work(name)  # The method may have been kept from when it was allowed.
            return value(*arguments, **options)

        return call

    def __require_work(self, name: str) -> None:
        if not self.__watch.at_work:
            raise self.__watch.note(
                "data",
                f"it reads the data outside the curator (store.{name}); ask the curator, which charges for the look.",
            )


class WatchedNoise:
    """Stands for a noise source, and draws only what was charged before."""

    def __init__(self, source: SimulatedNoise, meter: Meter, watch: Watch) -> None:
        self._source = source
        self._meter = meter
        self._watch = watch
        self._draws = 0

    @property
    def name(self) -> str:
        """The name of the source that draws."""
        return self._source.name

    @property
    def private(self) -> bool:
        """What the source says."""
        return self._source.private

    def laplace(self, values: IntArray, scale: Fraction) -> NDArray[Any]:
        """Add noise to the values."""
        self._require_charge()
        return self._source.laplace(values, scale)

    def select(self, scores: IntArray, n: int, rate: Fraction, tail: Tail | None = None) -> IntArray:
        """Draw candidates."""
        self._require_charge()
        return self._source.select(scores, n, rate, tail)

    def noisy_top(self, scores: IntArray, n: int, scale: Fraction, tail: Tail | None = None) -> IntArray:
        """Draw the candidates that are largest after noise."""
        self._require_charge()
        return self._source.noisy_top(scores, n, scale, tail)

    def below(self, bound: int) -> int:
        """Draw a uniform integer; only ever a part of a selection that was paid for."""
        self._require_work()
        return self._source.below(bound)

    def _require_work(self) -> None:
        if not self._watch.at_work:
            raise self._watch.note(
                "charges", "it draws noise on its own, outside the curator; ask the curator, which charges first."
            )

    def _require_charge(self) -> None:
        self._require_work()
        self._draws += 1
        if len(self._meter.charges) < self._draws:
            raise self._watch.note("charges", "noise is drawn before it is charged; a charge precedes its draw.")


class WatchedCurator(Curator):
    """A curator that opens the store and the noise while it works, and keeps a tape of its answers."""

    __slots__ = ("_watch",)

    def __init__(self, desk: Desk, stage: str, component: str, limit: Fraction, watch: Watch) -> None:
        super().__init__(desk, stage, component, limit)
        self._watch = watch

    def measure(self, query: Query, epsilon: Fraction | None = None) -> Measurement:
        """Measure as usual; the answer may come from the script."""
        with self._watch.curator_at_work():
            answer = super().measure(query, epsilon)
        settled = self._settle(answer)
        assert isinstance(settled, Measurement)
        return settled

    def choose(self, query: Query, n: int = 1, epsilon: Fraction | None = None) -> Selection:
        """Choose as usual; the answer may come from the script."""
        with self._watch.curator_at_work():
            answer = super().choose(query, n, epsilon)
        return self._settle_selection(answer)

    def choose_noisy(self, query: Query, n: int = 1, epsilon: Fraction | None = None) -> Selection:
        """Choose as usual; the answer may come from the script."""
        with self._watch.curator_at_work():
            answer = super().choose_noisy(query, n, epsilon)
        return self._settle_selection(answer)

    def _settle_selection(self, answer: Selection) -> Selection:
        if not answer.chosen:
            return answer  # Choosing nothing is free and leaves no trace.
        settled = self._settle(answer)
        assert isinstance(settled, Selection)
        return settled

    def _settle(self, answer: Answer) -> Answer:
        settled = self._watch.settled(answer)
        self._desk.answers[-1] = settled
        return settled


class WholeNumberNoise(SimulatedNoise):
    """Seeded noise in whole numbers, as a release has them, so that a component meets what it will meet.

    Privacy: none; it says otherwise only so that answers are labelled as in a release.
    """

    private = True

    def laplace(self, values: IntArray, scale: Fraction) -> NDArray[Any]:
        """Add Laplace noise, rounded."""
        return np.rint(super().laplace(values, scale)).astype(np.int64)


def same_question(one: Answer, other: Answer) -> bool:
    """Whether two answers are to the same question of the same stage, at the same price."""
    if type(one) is not type(other) or one.stage != other.stage or not same_query(one.query, other.query):
        return False
    if isinstance(one, Measurement) and isinstance(other, Measurement):
        return one.noise == other.noise and len(one.values) == len(other.values)
    assert isinstance(one, Selection)
    assert isinstance(other, Selection)
    return len(one.chosen) == len(other.chosen)


def same_query(one: Query, other: Query) -> bool:
    """Whether two queries ask for the same; a query that compares by identity is judged by what it declares."""
    if type(one) is not type(other) or (one.name, one.size) != (other.name, other.size):
        return False
    if one.sensitivity != other.sensitivity:
        return False
    if type(one).__eq__ is object.__eq__:
        return True
    try:
        return bool(one == other)
    except ValueError:  # An array field without an `eq` of its own has no truth value.
        return True


def with_values_of(script: Answer, answer: Answer) -> Answer:
    """The answer with the outcome that the script has."""
    if isinstance(answer, Measurement) and isinstance(script, Measurement):
        return evolve(answer, values=script.values)
    assert isinstance(answer, Selection)
    assert isinstance(script, Selection)
    return evolve(answer, chosen=script.chosen)


def _difference(one: Answer, other: Answer) -> str:
    if one.query.name != other.query.name:
        return f"{one.query.name!r} on one, {other.query.name!r} on the other"
    return f"{one.query.name!r} with other parameters or another ε"
