"""What a query for DuckDB reads, going by its words.

DuckDB would say it better, but only once it has looked at the files.
"""

from __future__ import annotations

import re

from privmine.errors import InputError

#: Functions that find out types by looking at a file.
_READERS = re.compile(
    r"\b(?:read_csv|read_csv_auto|sniff_csv|read_json|read_json_auto|read_ndjson|read_ndjson_auto|read_xlsx)\"?\s*\(",
    re.IGNORECASE,
)
#: Names of files from which DuckDB selects with such a function unless another one is named.
_TEXT_FILE = re.compile(
    r"""(['"])[^'"\n]*\.(?:csv|tsv|tab|txt|json|jsonl|ndjson|xlsx)(?:\.(?:gz|zst|bz2))?\1""", re.IGNORECASE
)
#: What fixes the types of such a function, all of them: `types=` leaves those open that it does not name.
_FIXED = re.compile(r"\b(?:all_varchar\s*(?:=>|:=|=)\s*(?:true|1)\b|columns\s*(?:=>|:=|=)\s*\{)", re.IGNORECASE)
#: Texts, names in quotes, and comments; a comment that begins in a text is none.
_TEXT_OR_COMMENT = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*")|--[^\n]*|/\*.*?\*/""", re.DOTALL)


def check_types(sql: str) -> None:
    """Refuse a query over a text file whose types are found out by looking at it.

    Privacy: they would depend on every row, and how one person's labels read on those of others.
    """
    _check(_TEXT_OR_COMMENT.sub(lambda found: found[1] or " ", sql))
    # DuckDB knows other quotes besides, in which a comment is none: what it would hide counts as well.
    _check(sql)


def _check(rest: str) -> None:
    while call := _READERS.search(rest):
        end = _closing(rest, call.end())
        arguments = _TEXT_OR_COMMENT.sub("''", rest[call.end() : end])
        # A comment within a comment is not followed.
        if not _FIXED.search(arguments) or "*/" in arguments:
            raise InputError(_ADVICE)
        rest = rest[: call.start()] + rest[end:]
    if _TEXT_FILE.search(rest):
        raise InputError(_ADVICE)


def _closing(sql: str, start: int) -> int:
    """Where the bracket closes that was opened before a place; brackets in quotes do not count."""
    depth, quote = 1, ""
    for place in range(start, len(sql)):
        letter = sql[place]
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        else:
            depth += (letter == "(") - (letter == ")")
            if not depth:
                return place
    return len(sql)


_ADVICE = (
    "The query reads a text file, where DuckDB finds out the types by looking at all rows, so that one person's row "
    "could change how others' labels read. Fix the types: from read_csv('orders.csv', all_varchar=true), or for JSON "
    "from read_json('orders.json', columns={'order_id': 'VARCHAR', 'product': 'VARCHAR'}); or read the file itself "
    "instead of a query."
)
