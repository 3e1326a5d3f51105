"""The log as text for other programs: CSV for spreadsheets, JSON for everything else."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence

from attrs import fields

from privmine.errors import UnknownNameError
from privmine.ledger.entries import DatasetBudget, Entry
from privmine.printable import json_text


def log_text(format: str, budgets: Sequence[DatasetBudget], entries: Sequence[Entry]) -> str:  # noqa: A002
    """Write budgets and log in the named format."""
    try:
        write = _FORMATS[format]
    except (KeyError, TypeError):
        raise UnknownNameError("export format of a ledger", str(format), _FORMATS) from None
    return write(budgets, entries)


def _csv(_budgets: Sequence[DatasetBudget], entries: Sequence[Entry]) -> str:
    # The totals are in the log as well, as its "init" lines.
    text = io.StringIO()
    writer = csv.DictWriter(text, [column.name for column in fields(Entry)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(entry.to_dict() for entry in entries)
    return text.getvalue()


def _json(budgets: Sequence[DatasetBudget], entries: Sequence[Entry]) -> str:
    document = {
        "datasets": [budget.to_dict() for budget in budgets],
        "entries": [entry.to_dict() for entry in entries],
    }
    return json_text(document) + "\n"


_FORMATS: dict[str, Callable[[Sequence[DatasetBudget], Sequence[Entry]], str]] = {"csv": _csv, "json": _json}
