"""Where a ledger is kept, behind one small interface: the rules of budgets stand once, whatever keeps the rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from attrs import define, evolve, field, frozen

from privmine.errors import InputError, LedgerError
from privmine.ledger.book import Book
from privmine.ledger.chain import Head, Row

_SCHEMES = ("postgresql://", "postgres://")
_HOST = r"(?:\[[^\]@/?]*\]|[^][:@/?#&=,]*)(?::[0-9]*)?"
#: The parts of an address, as PostgreSQL reads them: a password may have any character but @ and /.
_PARTS = re.compile(
    rf"(?P<scheme>[a-z]+://)(?:(?P<user>[^:@/?#]*)(?::[^@/]*)?(?P<at>@))?(?P<host>{_HOST}(?:,{_HOST})*(?:/[^@/?#&=]*)?)"
    r"(?:\?.*)?",
    re.DOTALL,
)
#: What looks like an address of a database, and is none that is known here.
_ELSEWHERE = re.compile(r"://|\bpassword\s*=", re.IGNORECASE)


class OutcomeUnknownError(LedgerError):
    """The connection was lost while rows were committed: they may be in the ledger or not."""


@define
class Page:
    """The ledger within one transaction: what it says, and where to write the next row.

    Attributes:
        book: what the verified rows add up to.
        head: the end of the chain.
        now: the time by the clock of whoever keeps the ledger.
    """

    book: Book
    head: Head = field(repr=False)
    _write: Callable[[Row, Head], None] = field(repr=False)
    now: datetime = field(factory=lambda: datetime.now(UTC))

    def append(self, row: Row) -> Row:
        """Write a row after the last one, and return it with its number, time and checksum."""
        time = self.now.isoformat(timespec="milliseconds")
        sealed, self.head = self.head.followed_by(evolve(row, sequence=self.head.count + 1, time=time))
        self._write(sealed, self.head)
        return sealed


class Storage(Protocol):
    """What keeps the rows of one ledger.

    A transaction gives the page of a ledger whose chain was verified. What is appended within `writing` is kept as a
    whole when the block ends, and durably; after an error nothing of it is. No two blocks of `writing` overlap, from
    before the rows are read. An error is a `LedgerError`, and tells no password.
    """

    def create(self) -> None:
        """Make a ledger without rows, unless there is something: nothing is ever overwritten."""

    def reading(self, timeout: float) -> AbstractContextManager[Page]:
        """The verified ledger, to look at."""

    def writing(self, timeout: float) -> AbstractContextManager[Page]:
        """The verified ledger, to append to."""


@frozen
class Address:
    """Where a database is; as text it has no password."""

    url: str = field(repr=False)

    def __str__(self) -> str:
        parts = _PARTS.fullmatch(self.url)
        if parts is None:  # where it cannot be told what the password is
            return f"{self.url.partition('://')[0]}://…"
        return f"{parts['scheme']}{parts['user'] or ''}{parts['at'] or ''}{parts['host']}"


def place_of(value: Any) -> Path | Address:
    """A ledger's place: a file, or a database of PostgreSQL by its address."""
    if isinstance(value, Address):
        return value
    if isinstance(value, str) and value.startswith(_SCHEMES):
        return Address(value)
    if isinstance(value, str) and _ELSEWHERE.search(value):
        # As a path it would be in messages, with its password.
        raise InputError(
            "A ledger is named by a path, or by an address such as postgresql://user@host/name. This looks like an "
            "address of another kind. It is not shown, because a password may be in it."
        )
    if not isinstance(value, str | PathLike):
        raise InputError(f"A ledger is named by a path or an address, not by {type(value).__name__}.")
    return Path(value)
