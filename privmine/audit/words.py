"""All that an error says."""

from __future__ import annotations

import traceback


def words_of(error: BaseException | None, seen: frozenset[int] = frozenset()) -> list[str]:
    """What the traceback of an error says in words: its message, its notes, and those of what it holds or came of."""
    if error is None or id(error) in seen:
        return []
    seen |= {id(error)}
    words = [" ".join("".join(traceback.format_exception_only(error)).split())]
    if isinstance(error, BaseExceptionGroup):
        words += [word for member in error.exceptions for word in words_of(member, seen)]
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return words + words_of(cause, seen)
