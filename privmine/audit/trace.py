"""What is observed of one run: each draw of noise with the question that it answered, and each stage's result."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
from attrs import define, field

from privmine.curator import unit_sensitivity
from privmine.model import IntArray, Request
from privmine.noise.protocol import Tail
from privmine.privacy.cost import Charge, Cost, Meter
from privmine.privacy.definition import PureDP
from privmine.privacy.guarantee import Guarantee
from privmine.privacy.noise import Noise
from privmine.privacy.sensitivity import Sensitivity
from privmine.privacy.unit import Unit
from privmine.queries import Candidate, Query
from privmine.release import Release

Kind: TypeAlias = Literal["measure", "choose", "choose_noisy", "choose_set"]


@define
class Call:
    """One draw of noise, and the question that it answered.

    Attributes:
        stage: who asked.
        kind: a measurement, or one of the ways to select.
        size: how many values were measured, or how many candidates there were, the tail included.
        draws: how many candidates were to be chosen; 0 for a measurement.
        factor: the noise of a measurement, the rate of an exponential selection, or the scale of noise on scores.
        values: the exact values that the noise was drawn for.
        tail: the candidates of a selection that were not listed.
        query: what was asked; None where noise was drawn although nobody had asked the curator.
        sensitivity: what the query declared when the noise was drawn, for one unit of protection.
        charged: what had been paid for this call by then.
        candidates: what the places of a selection's values were called when the noise had been drawn; None where
            privmine's own query names them by their place alone.
        tail_names: which members of the tail are named for random numbers that are the same in every run.
        answer: the noisy values, or the chosen candidates.
        misnamed: whether candidates were answered with that were not drawn.
        uneven: whether some candidate of the tail is drawn more often than others.
    """

    stage: str
    kind: Kind
    size: int
    draws: int
    factor: Noise | Fraction
    values: IntArray
    tail: Tail | None = None
    query: Query | None = None
    sensitivity: Sensitivity | None = None
    charged: Cost | int = 0
    candidates: tuple[Candidate, ...] | None = None
    tail_names: tuple[Any, ...] = ()
    answer: Any = None
    misnamed: bool = False
    uneven: bool = False

    @property
    def shape(self) -> tuple[str, str, int, int]:
        """What must agree before an answer can be played back."""
        return self.stage, self.kind, self.size, self.draws

    def __str__(self) -> str:
        what = f"the query {self.query.name!r}" if self.query else "noise without a query"
        draws = f", {self.draws} draws" if self.draws else ""
        return f"{self.kind} {what} of {self.size} values{draws}"


@define
class Question:
    """A call of the curator that has not returned yet."""

    query: Query
    unit: Unit
    meter: Meter
    paid_before: int
    drawn: bool = False

    def charges(self) -> tuple[Charge, ...]:
        """What has been paid since the question was put."""
        return self.meter.charges[self.paid_before :]


@define
class Result:
    """What a stage returned.

    Attributes:
        stage: who returned it.
        value: the object that the run goes on with.
        copy: one that nobody else holds; the object itself where a trace makes no copies.
        shown: its repr when it was returned, likewise.
    """

    stage: str
    value: Any
    copy: Any
    shown: str = ""

    @property
    def shape(self) -> tuple[str, str]:
        """What must agree before two results can be compared."""
        return self.stage, "result"

    def __str__(self) -> str:
        return "the end of the stage"


Event: TypeAlias = Call | Result


@define
class Trace:
    """All that was observed of one run.

    Attributes:
        events: the draws of noise and the results of the stages, in their order.
        stage: the stage that runs, or ran last.
        in_stage: whether it runs.
        request: what the stages were asked for, and told of the data as public.
        meter: what counted the charges, once a stage had a curator.
        budget: what the run may cost.
        asked: what the user asked for; None where nothing was run.
        release: what the run ended with, or
        failure: the error that it ended with.
        messages: what it warned of and logged.
        diverged: whether a replay could not go on, since no frozen answer fitted.
        copies: whether results are copied, to see if somebody changes them later.
    """

    events: list[Event] = field(factory=list)
    stage: str = ""
    in_stage: bool = False
    request: Request | None = None
    meter: Meter | None = None
    budget: Cost = PureDP().cost(0)
    asked: Guarantee | None = None
    release: Release | None = None
    failure: BaseException | None = None
    messages: tuple[str, ...] = ()
    diverged: bool = False
    copies: bool = True
    _question: Question | None = None

    @property
    def calls(self) -> list[Call]:
        """The draws of noise."""
        return [event for event in self.events if isinstance(event, Call)]

    @property
    def results(self) -> list[Result]:
        """What the stages returned, valid or not."""
        return [event for event in self.events if isinstance(event, Result)]

    @property
    def at_work(self) -> bool:
        """Whether a curator is working on a question."""
        return self._question is not None

    @property
    def failed_stage(self) -> str:
        """The stage that ended the run, if one did."""
        return "" if self.failure is None else getattr(self.failure, "stage", self.stage)

    def result(self, stage: str) -> Any:
        """What a stage returned."""
        return next((result.copy for result in self.results if result.stage == stage), None)

    def shown(self, stage: str) -> str:
        """How the result of a stage showed itself when it was returned."""
        return next((result.shown for result in self.results if result.stage == stage), "")

    @contextmanager
    def asking(self, query: Query, unit: Unit, meter: Meter) -> Iterator[None]:
        """While a curator works on a question, draws of noise are answers to it."""
        self._question = Question(query, unit, meter, len(meter.charges))
        try:
            yield
        finally:
            self._question = None

    def drawn(
        self, kind: Kind, values: IntArray, draws: int, factor: Noise | Fraction, tail: Tail | None = None
    ) -> Call:
        """Note a draw of noise."""
        size = len(values) + (tail.size if tail else 0)
        call = Call(self.stage, kind, size, draws, factor, np.array(values), tail)
        question = self._question
        # A second draw for the same question is one that nobody asked or paid for.
        if question is not None and not question.drawn:
            question.drawn = True
            call.query = question.query
            call.sensitivity = unit_sensitivity(question.query, question.unit)
            call.charged = sum(charge.cost for charge in question.charges())
        self.events.append(call)
        return call
