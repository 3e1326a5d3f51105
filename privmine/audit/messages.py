"""What a run says besides its result: warnings, the records of logs, and the words of errors."""

from __future__ import annotations

import logging
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import zip_longest
from typing import TypeAlias

from privmine.audit.findings import Finding

#: What a run said, one message each, with `_ANY` for words that vary; None where that cannot be told.
Said: TypeAlias = tuple[str, ...] | None

#: Stands for a word that is another one every time, such as a duration.
_ANY = "…"


@contextmanager
def captured_messages() -> Iterator[list[str]]:
    """Collect warnings and the log records that reach the root logger, and show them nowhere else."""
    said: list[str] = []
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        root.handlers = [_Records(said)]
        root.setLevel(logging.NOTSET + 1)
        try:
            yield said
        finally:
            root.handlers = handlers
            root.setLevel(level)
            said.extend(f"{warning.category.__name__}: {warning.message}" for warning in caught)


class _Records(logging.Handler):
    """Keeps what is logged, without the time."""

    def __init__(self, said: list[str]) -> None:
        super().__init__()
        self._said = said

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record, with all that a handler would show of it."""
        try:
            message = record.getMessage()
        except Exception:  # noqa: BLE001 - a handler must not end the run that logs
            message = f"{record.msg} {record.args}"
        error = record.exc_info[1] if record.exc_info else None
        self._said.append(" ".join([record.levelname, "of", f"{record.name}:", message, *words_of(error)]))


def steady(run: Callable[[], tuple[str, ...]]) -> Said:
    """What every run on the same data says. It runs twice more, because some messages appear once in a process."""
    one, two = run(), run()
    if len(one) != len(two):
        return None
    return tuple(
        " ".join(word if word == other else _ANY for word, other in _words(first, second))
        for first, second in zip(one, two, strict=True)
    )


def told_apart(one: Said, other: Said) -> Finding | None:
    """The first message that differs between two databases, if any."""
    if one is None or other is None:
        return None
    for first, second in zip_longest(one, other, fillvalue="nothing"):
        if any(word != answer and _ANY not in (word, answer) for word, answer in _words(first, second)):
            return Finding("warning", "", f"{first!r} on one database, {second!r} on its neighbour")
    return None


def _words(one: str, other: str) -> Iterator[tuple[str, str]]:
    return zip_longest(one.split(), other.split(), fillvalue="")


def words_of(error: BaseException | None, seen: frozenset[int] = frozenset()) -> list[str]:
    """The words of an error's traceback: its message and notes, and those of its causes and members."""
    if error is None or id(error) in seen:
        return []
    seen |= {id(error)}
    words = [" ".join("".join(traceback.format_exception_only(error)).split())]
    if isinstance(error, BaseExceptionGroup):
        words += [word for member in error.exceptions for word in words_of(member, seen)]
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return words + words_of(cause, seen)
