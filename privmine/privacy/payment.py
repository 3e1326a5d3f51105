"""What paid for a release: the row of a ledger, so that a receipt and a ledger can be compared."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

from attrs import asdict, field, frozen

from privmine.errors import InputError

_HEXADECIMAL = re.compile(r"[0-9a-f]+")
_NO_PAYMENT = "This is not a payment that this version of privmine can read."


def _check_time(_: object, __: object, value: Any) -> None:
    check_time(value)


def check_time(value: Any) -> None:
    """Refuse what is not a time in UTC as ISO 8601 writes it."""
    try:
        is_utc = isinstance(value, str) and datetime.fromisoformat(value).utcoffset() == timedelta(0)
    except ValueError:
        is_utc = False
    if not is_utc:
        raise InputError("A receipt states a time that is not one in UTC. Do not rely on it.")


def _check_digest(_: object, attribute: Any, value: Any) -> None:
    length = {"ledger": 32, "checksum": 64}[attribute.name]
    if not isinstance(value, str) or len(value) != length or not _HEXADECIMAL.fullmatch(value):
        raise InputError(_NO_PAYMENT)


def _check_row(_: object, __: object, value: Any) -> None:
    if type(value) is not int or value < 1:
        raise InputError(_NO_PAYMENT)


#: How the sentence begins that a receipt has if only a part of the dataset's people was charged.
PART_ALONE = "the data is the rows of the part "


def part_alone(part: str) -> str:
    """What is assumed of a release that only a part of the dataset's people pays for."""
    return (
        f"{PART_ALONE}{part!r} alone, and nobody in it is in another part of the dataset; the ledger charged that part "
        "only"
    )


@frozen
class Payment:
    """The row of a ledger that paid for a release.

    Attributes:
        time: when it was charged, in UTC, as ISO 8601 writes it.
        ledger: the identity of the ledger, which it got at random when it was created.
        row: the number of the row in the ledger's log.
        checksum: the checksum of that row; it covers the row and all rows before it.
    """

    time: str = field(validator=_check_time)
    ledger: str = field(validator=_check_digest)
    row: int = field(validator=_check_row)
    checksum: str = field(validator=_check_digest)

    def __str__(self) -> str:
        return f"row {self.row} of ledger {self.ledger}, checksum {self.checksum}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Payment:
        """Read what `to_dict` wrote, and nothing else."""
        try:
            return cls(**values)
        except TypeError:
            raise InputError(_NO_PAYMENT) from None
