"""The chain of checksums: each row vouches for its own content and for all rows before it.

It notices accidents and edits by hand. It is no signature: whoever rewrites a row, all checksums after
it and the head is not noticed, since everything that the checksums are computed from is in the file.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from json import dumps
from types import NoneType
from typing import Any

from attrs import astuple, evolve, field, fields, frozen


class AlteredError(Exception):
    """The content of a ledger is not what privmine wrote; the message says where."""


@frozen
class Row:
    """One row as it is stored; amounts are text, and a row is never updated."""

    sequence: int
    time: str
    event: str
    dataset: str
    charge: int | None
    epsilon: str | None
    delta: str | None
    note: str
    fingerprint: str | None = field(default=None, repr=False)
    checksum: str = field(default="", repr=False)
    # The last columns, because ledgers of formats 1 and 2 do not have them.
    unit: str | None = None
    details: str | None = None


_TYPES = (
    (int,),
    (str,),
    (str,),
    (str,),
    (int, NoneType),
    (str, NoneType),
    (str, NoneType),
    (str,),
    (str, NoneType),
    (str,),
    (str, NoneType),
    (str, NoneType),
)
#: What every checksum is of: all columns but the checksum itself, and those that older rows do not have.
_SEALED = tuple(column.name for column in fields(Row) if column.name not in ("checksum", "unit", "details"))


@frozen
class Head:
    """The number and checksum of the last row, stored separately so that missing rows are noticed.

    Attributes:
        key: the secret of the fingerprints; the chain starts from it, so that it cannot change either.
        count: the number of rows.
        checksum: the checksum of the last row, or of the key alone where there is none.
    """

    key: bytes = field(repr=False)
    count: int
    checksum: str = field(repr=False)

    @classmethod
    def of_nothing(cls, key: bytes) -> Head:
        """The head of a ledger without rows."""
        return cls(key, 0, _start(key))

    @property
    def identity(self) -> str:
        """What receipts call the ledger: made from the random key, as lasting, and telling nothing of it."""
        return sha256(b"privmine ledger, identity\0" + self.key).hexdigest()[:32]

    def followed_by(self, row: Row) -> tuple[Row, Head]:
        """Seal a row as the next one; returns it with its checksum, and the new head."""
        sealed = evolve(row, checksum=_checksum(self.checksum, row))
        return sealed, Head(self.key, row.sequence, sealed.checksum)


def read_row(values: tuple[Any, ...]) -> Row:
    """Take a row from a database, which may store any type in any column; rows of older formats are shorter."""
    row = Row(*values)
    for value, types in zip(astuple(row), _TYPES, strict=True):
        if type(value) not in types:
            raise AlteredError("a row has a value of a wrong type")
    return row


def read_head(rows: list[tuple[Any, ...]]) -> Head:
    """Take the one head from a database."""
    if len(rows) != 1 or [type(value) for value in rows[0]] != [bytes, int, str]:
        raise AlteredError("the record of its last row is missing or changed")
    return Head(*rows[0])


def verify(head: Head, rows: Iterable[Row]) -> None:
    """Check every row against its checksum, and the last one against the head.

    Raises:
        AlteredError: a row was changed, inserted or removed, or the head or the key was.
    """
    count, previous = 0, _start(head.key)
    for row in rows:
        if row.sequence != count + 1:
            raise AlteredError(f"row {count + 1} is missing")
        if row.checksum != _checksum(previous, row):
            raise AlteredError(f"row {row.sequence} or the one before it was changed")
        count, previous = row.sequence, row.checksum
    if count < head.count:
        raise AlteredError(f"rows after row {count} are missing")
    if (count, previous) != (head.count, head.checksum):
        raise AlteredError("its last rows do not match the record of them")


def _start(key: bytes) -> str:
    return sha256(b"privmine ledger, format 1\0" + key).hexdigest()


def _checksum(previous: str, row: Row) -> str:
    # JSON, because it cannot confuse where one field ends and the next begins.
    content = [previous, *(getattr(row, name) for name in _SEALED)]
    # A row without the later columns has the same checksum in every format, so that a ledger can get them.
    if row.details is not None:
        content += [row.unit, row.details]
    elif row.unit is not None:
        content.append(row.unit)
    return sha256(dumps(content).encode("ascii")).hexdigest()
