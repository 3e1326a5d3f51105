"""Every exception that privmine raises on purpose.

Each one subclasses the nearest builtin, so that code which knows nothing of privmine still
catches it sensibly. A message says what was asked, what was there and what to do next; it never
carries a transaction, an exact count or a line of the input.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


class PrivmineError(Exception):
    """Base of all errors of this package."""


class InputError(PrivmineError, ValueError):
    """A parameter or an option is not usable as given."""


class DataError(PrivmineError, ValueError):
    """A data source cannot be read; the message names the place, never the content."""


class UnknownNameError(PrivmineError, LookupError):
    """A component, method, stage or parameter of that name does not exist."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, hint: str = "") -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(sorted(known))
        close = get_close_matches(name, self.known, n=3)
        parts = [f"There is no {kind} named {name!r}."]
        if close:
            parts.append(f"Did you mean {' or '.join(repr(match) for match in close)}?")
        parts.append(f"Known: {', '.join(self.known)}." if self.known else "None is known.")
        if hint:
            parts.append(hint)
        super().__init__(" ".join(parts))


class DuplicateNameError(PrivmineError, ValueError):
    """Two distributions register the same name."""


class PluginError(PrivmineError, RuntimeError):
    """A plugin cannot be used: it failed to load, or its hooks do not fit."""


class BudgetError(PrivmineError, ValueError):
    """A charge would exceed what is left of a budget."""

    def __init__(self, message: str, *, requested: Any, remaining: Any) -> None:
        self.requested = requested
        self.remaining = remaining
        super().__init__(message)


class LedgerError(PrivmineError, RuntimeError):
    """The ledger file cannot be used as it is."""


class ContractError(PrivmineError, TypeError):
    """A component broke the contract of its stage: a wrong type, or an item outside the universe.

    Attributes:
        flaw: what is wrong, without the words on what was charged.
    """

    def __init__(self, message: str, *, flaw: str = "") -> None:
        self.flaw = flaw or message
        super().__init__(message)


class QueryError(PrivmineError, RuntimeError):
    """A query failed while it was evaluated; the message carries the query's name and nothing else."""


class StageError(PrivmineError, RuntimeError):
    """A component failed in the middle of a run; what was charged until then stays charged."""

    def __init__(self, message: str, *, stage: str, component: str, distribution: str, charged: Any) -> None:
        self.stage = stage
        self.component = component
        self.distribution = distribution
        self.charged = charged
        super().__init__(message)


class UnsavedReleaseError(PrivmineError, OSError):
    """A release was made and paid for, but could not be saved; it is in `release`, so that it is not lost."""

    def __init__(self, message: str, release: Any) -> None:
        self.release = release
        super().__init__(message)


class RunInterrupted(KeyboardInterrupt):
    """A run was interrupted; what was charged until then stays charged.

    Attributes:
        charged: how much that is.
        certain: False where the interrupt fell into the charge itself; the ledger's log tells.
    """

    def __init__(self, charged: Any, *, certain: bool = True) -> None:
        self.charged = charged
        self.certain = certain
        super().__init__(f"Interrupted: {self.fate}.")

    @property
    def fate(self) -> str:
        """What became of the budget, as part of a sentence."""
        if not self.certain:
            return f"{self.charged} may have been charged: see `privmine budget log`"
        return f"{self.charged} was charged and stays charged" if self.charged else "nothing was charged"


class PrivmineWarning(UserWarning):
    """Something that a user should know and that does not stop the work."""
