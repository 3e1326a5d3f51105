"""What a row says beside its amounts: who wrote it, on which machine, from which source, and for which account.

It is one column, a JSON object of texts that is written in one way only, so that a later version can say more without
another format of the file. The checksum of a row covers it.
"""

from __future__ import annotations

import getpass
import json
import platform
from collections.abc import Mapping

from privmine.ledger.chain import AlteredError
from privmine.printable import printable

#: What a row can say. A row with another word is of a later version, and would be counted wrongly by this one.
KNOWN = frozenset(
    {"account", "by", "composition", "host", "items_delta", "origin", "part", "people", "rho", "token", "until"}
)
_LONGEST = 1000


def write_details(details: Mapping[str, str]) -> str:
    """The one way in which details are stored; what is empty is left out."""
    return json.dumps({name: value for name, value in sorted(details.items()) if value})


def read_details(text: str | None) -> dict[str, str]:
    """Read what `write_details` wrote, and nothing else."""
    if text is None:
        return {}
    try:
        details = json.loads(text)
    except ValueError:
        raise AlteredError("the details of a row cannot be read") from None
    if not isinstance(details, dict) or not all(
        isinstance(value, str) and value.isprintable() for value in details.values()
    ):
        raise AlteredError("the details of a row are not text")
    if not details.keys() <= KNOWN:
        raise AlteredError("a row has details that this version of privmine does not know")
    if write_details(details) != text:
        raise AlteredError("the details of a row are not written as privmine writes them")
    return details


def who_and_where() -> dict[str, str]:
    """The user and the machine, as the operating system names them."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError, ImportError):  # a container may run under a number that has no name
        user = ""
    return {"by": shortened(user), "host": shortened(platform.node())}


def shortened(text: str) -> str:
    """Text from outside as a row keeps it: one printable line of a bearable length."""
    line = printable(text)
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
