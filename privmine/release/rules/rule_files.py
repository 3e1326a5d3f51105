"""Rules as CSV, as JSON and as an Excel workbook, the receipt inside."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import asdict

from privmine.extras import import_extra
from privmine.printable import json_text
from privmine.release.display import items_text
from privmine.release.rules.listing import SIDES, RuleList, words
from privmine.release.spreadsheets import RECEIPT, fill

if TYPE_CHECKING:
    from privmine.release.release import Release

#: The sheet of a workbook that has the rules.
RULES = "Rules"


def to_csv(release: Release, found: RuleList) -> str:
    """Rules as CSV; the receipt stands above the header in lines that start with #, sides are JSON lists."""
    out = io.StringIO()
    columns = found.columns
    for line in (*release.receipt.lines(), *words(release, found)):
        out.write(f"# {' '.join(line.split())}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    sides = [[json.dumps(list(side), ensure_ascii=False) for side in columns[name]] for name in SIDES]
    rest = [np.asarray(values).tolist() for name, values in columns.items() if name not in SIDES]
    writer.writerows(zip(*sides, *rest, strict=True))
    return out.getvalue()


def to_json(release: Release, found: RuleList) -> str:
    """Rules as JSON, the receipt inside; a value that is not finite is null, since JSON knows no such number."""
    plain = {
        name: [list(side) for side in values] if name in SIDES else [_finite(value) for value in values.tolist()]
        for name, values in found.columns.items()
    }
    rows = [dict(zip(plain, row, strict=True)) for row in zip(*plain.values(), strict=True)]
    facts = {
        "private": release.receipt.private,
        "receipt": release.receipt.to_dict(),
        "level": found.level,
        "left_out": asdict(found.left_out),
        "words": words(release, found),
        "rules": rows,
    }
    return json_text(facts, allow_nan=False) + "\n"


def to_xlsx(release: Release, found: RuleList) -> bytes:
    """Rules as a workbook: a sheet of rules, sides as readable text, and a sheet with the receipt in words.

    A workbook knows no infinite number, so that one is the text "inf"; what is not known is an empty cell.
    """
    book = import_extra("openpyxl", "Excel workbooks need").Workbook()
    sheet = book.active
    sheet.title = RULES
    sheet.append(list(found.columns))
    sides = [[items_text(side) for side in found.columns[name]] for name in SIDES]
    rest = [np.asarray(values).tolist() for name, values in found.columns.items() if name not in SIDES]
    for number, (left, right, *values) in enumerate(zip(*sides, *rest, strict=True), start=2):
        sheet.append([None, None, *map(_cell, values)])
        for column, text in enumerate((left, right), start=1):
            cell = sheet.cell(number, column)
            cell.value, cell.data_type = text, "s"  # As text, whatever a label begins with.
    sheet.freeze_panes = "C2"
    for letter in "AB":
        sheet.column_dimensions[letter].width = 36
    fill(book.create_sheet(RECEIPT), [*words(release, found), *release.receipt.lines()])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _cell(value: Any) -> Any:
    return value if _finite(value) is not None else None if np.isnan(value) else str(value)


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value
