"""The first difference between two runs that got the same noisy answers."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import attrs
import numpy as np

from privmine.audit.distances import differences
from privmine.audit.findings import Finding
from privmine.audit.messages import words_of
from privmine.audit.trace import Call, Event, Result, Trace
from privmine.audit.workers import travels
from privmine.errors import ContractError
from privmine.model import STAGES, Itemsets, NoisyCounts, Public, Universe
from privmine.release.intervals import kept_law


def first_difference(recorded: Trace, replayed: Trace) -> tuple[int, Finding | None]:
    """Compare two runs that got the same noisy answers: how many events agree, and the first difference, if any.

    The databases need not be neighbours: a run may depend on its noisy answers only, whatever the data.
    """
    if recorded.request != replayed.request:
        told = _contrast(recorded.request, replayed.request)
        return 0, Finding("request", "", f"{told}; something looked at the data before the first stage")
    for place, (one, other) in enumerate(zip(recorded.events, replayed.events, strict=False)):
        difference = _difference(one, other)
        if difference is not None:
            return place, difference
    agreed = min(len(recorded.events), len(replayed.events))
    return agreed, _other_ending(recorded, replayed)


def _difference(one: Event, other: Event) -> Finding | None:
    """The difference between two events that should be the same, if any."""
    if one.shape != other.shape:
        # The stage that had not ended on both databases is the one that went another way.
        stage = min(one.stage, other.stage, key=(*STAGES, "").index)
        return Finding("calls", stage, f"{one} on one database, {other} on its neighbour")
    if isinstance(one, Result) or isinstance(other, Result):
        assert isinstance(one, Result)
        assert isinstance(other, Result)
        if same(one.copy, other.copy):
            return None
        told = f"{_contrast(one.copy, other.copy)}; the component looks at the data, or draws its own random numbers"
        return Finding("result", one.stage, told)
    return _other_question(one, other) or _other_candidates(one, other)


def _other_question(one: Call, other: Call) -> Finding | None:
    first, second = one.query, other.query
    if type(first) is not type(second) or (first and second and not _equal_queries(first, second)):
        return Finding("query", one.stage, f"{first!r} was asked on one database, {second!r} on its neighbour")
    for what in ("sensitivity", "charged", "factor"):
        before, after = getattr(one, what), getattr(other, what)
        if before != after:
            return Finding("query", one.stage, f"its {what} is {before} on one database, {after} on its neighbour")
    return None


def _equal_queries(first: Any, second: Any) -> bool:
    """Whether two queries ask the same. Queries without == are compared by name and size."""
    compares = "__eq__" in {name for owner in type(first).__mro__[:-1] for name in vars(owner)}
    if not compares:
        return bool((first.name, first.size) == (second.name, second.size))
    # A function of an object, which a query may hold, is equal to that of another object in no other way.
    return same(first, second) or (travels(first) and pickle.dumps(first) == pickle.dumps(second))


def _other_candidates(one: Call, other: Call) -> Finding | None:
    if one.query is None:
        return None
    name = one.query.name
    if one.tail_names != other.tail_names:
        told = f"{name!r} draws other unlisted candidates for the neighbour, although the random numbers are the same"
        return Finding("candidates", one.stage, told)
    if differences(one, other) is None:
        return Finding("candidates", one.stage, f"{name!r} lists other candidates for the neighbour")
    return None


def _other_ending(recorded: Trace, replayed: Trace) -> Finding | None:
    """The difference between the ends of two runs whose common events agree, if any."""
    one, other = recorded.failure, None if replayed.diverged else replayed.failure
    first, second = words_of(one), words_of(other)
    if first != second:
        stage = recorded.failed_stage if one else replayed.failed_stage
        parts = zip_longest(first, second, fillvalue="no error")
        before, after = next((before, after) for before, after in parts if before != after)
        return Finding("failure", stage, f"{before} on one database, {after} on its neighbour")
    if len(recorded.events) != len(replayed.events):
        longer = max(recorded.events, replayed.events, key=len)
        further = longer[min(len(recorded.events), len(replayed.events))]
        return Finding("calls", further.stage, f"{further} on one database, nothing more on its neighbour")
    if recorded.release != replayed.release:
        return Finding("release", "", "the releases differ, although all stages returned the same")
    return None


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal; arrays are compared by their contents."""
    one, other = comparable(one), comparable(other)
    try:
        return bool(one == other)
    except ValueError:
        return pickle.dumps(one) == pickle.dumps(other)


def comparable(value: Any) -> Any:
    """A result with its laws of noise in the form that a release keeps, because a law may be any object without ==."""
    if not isinstance(value, NoisyCounts):
        return value
    return attrs.evolve(value, laws=[_kept(law) for law in value.laws], total_law=_kept(value.total_law))


def _kept(law: Any) -> Any:
    try:
        return kept_law(law)
    except ContractError as problem:
        return str(problem)  # A release would do without it, and its receipt say so.


def _contrast(one: Any, other: Any) -> str:
    """The fields in which two results differ."""
    one, other = comparable(one), comparable(other)
    if type(one) is not type(other) or not attrs.has(type(one)):
        return f"{_short(one)} on one database, {_short(other)} on its neighbour"
    return ", ".join(
        f"{name} is {first} on one database and {second} on its neighbour"
        if first != second
        else f"{name} differs between the two databases"
        for name, first, second in _differing_fields(one, other)
    )


def _differing_fields(one: Any, other: Any) -> Iterator[tuple[str, str, str]]:
    """The fields that are not equal, and what they hold, in short."""
    for attribute in attrs.fields(type(one)):
        first, second = getattr(one, attribute.name), getattr(other, attribute.name)
        if _equal(first, second):
            continue
        if isinstance(first, Public | Universe) and isinstance(second, type(first)):
            yield from _differing_fields(first, second)
        else:
            yield attribute.name, _short(first), _short(second)


def _equal(one: Any, other: Any) -> bool:
    return bool(np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other)


def _short(value: Any) -> str:
    plain = value.tolist() if isinstance(value, np.ndarray) else list(value) if isinstance(value, Itemsets) else value
    text = repr(plain)
    return text if len(text) <= 80 else f"{text[:77]}…"
