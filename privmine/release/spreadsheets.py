"""A release for people with a spreadsheet: a plain CSV with the receipt beside it, and an Excel workbook.

Both have readable rows: items side by side, whole counts, four digits of a support. All else that a release has is kept
beside them as JSON, in a file or on a sheet of its own, so that the release can be read back whole.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privmine.errors import InputError
from privmine.extras import import_extra
from privmine.release.display import caveat, headline, items_text, percent

if TYPE_CHECKING:
    from privmine.release.release import Release

#: Sheets of a workbook: what people read, and what `load` reads.
ITEMSETS, RECEIPT, WHOLE = "Itemsets", "Receipt", "privmine"
#: A cell of a workbook holds at most 32,767 characters.
_CELL = 30_000
#: What a workbook unpacks to at most: a small file may have huge parts, and some of them are held in memory.
_MOST_UNPACKED = 128 << 20
#: A cell that begins like this is run as a formula by spreadsheets.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def beside(path: Path) -> Path:
    """The file with the receipt that belongs to a plain CSV."""
    return path.with_suffix(".receipt.json")


def rows_of(release: Release, level: float) -> tuple[list[str], list[list[Any]]]:
    """Names of columns, and readable rows."""
    names = ["rank", "itemset", "support", "count", "length", "ci_low", "ci_high"]
    rows = [
        [
            rank,
            _text(found.items),
            round(found.support, 4),
            round(found.count),
            len(found.items),
            round(low),
            round(high),
        ]
        for rank, (found, (low, high)) in enumerate(zip(release, release.intervals(level), strict=True), start=1)
    ]
    if not release.receipt.private:
        names, rows = [*names, "simulated"], [[*row, True] for row in rows]
    return names, rows


def _text(items: tuple[Any, ...]) -> str:
    """Labels side by side; a label is never a formula."""
    text = items_text(items)
    return f"'{text}" if text.startswith(_FORMULA) else text


def to_plain_csv(release: Release, level: float) -> bytes:
    """Only the rows, for programs and spreadsheets.

    Spreadsheets assume an old code page unless a byte order mark says that the text is UTF-8. Plain ASCII needs none.
    """
    out = io.StringIO()
    names, rows = rows_of(release, level)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    text = out.getvalue()
    return text.encode("ascii" if text.isascii() else "utf-8-sig")


def plain_separator(lines: Sequence[str]) -> str | None:
    """What parts the cells of a plain CSV; None if it is none. In many countries spreadsheets save semicolons."""
    return next((sign for sign in ",;\t" if lines[:1] and lines[0].startswith(f"rank{sign}itemset{sign}")), None)


def kept_rows(release: Release, lines: Sequence[str]) -> list[int]:
    """The rows of a release that a plain CSV still has. A row that the release does not have is refused.

    So is a row with another count: whoever reads the CSV would take it for what was released and paid for.
    """
    places: dict[str | None, list[int]] = {}
    for number, found in enumerate(release):
        places.setdefault(_text(found.items), []).append(number)
    kept = []
    for row in csv.DictReader(lines, delimiter=plain_separator(lines) or ","):
        alike = places.get(row.get("itemset"))
        if alike is None:
            raise InputError("the receipt beside it is of another release")
        # A label with a line break may read as another one, which has the two signs for it.
        number = next((one for one in alike if str(one + 1) == row.get("rank")), alike[0])
        if row.get("count") is not None and not _is_number(row["count"], round(release[number].count)):
            raise InputError("a count in it was changed, or the receipt beside it is of another release")
        kept.append(number)
    return sorted(set(kept))


def _is_number(text: str, number: int) -> bool:
    try:
        return float(text) == number
    except ValueError:
        return False


def to_xlsx(release: Release, level: float, whole: str) -> bytes:
    """A workbook: the rows, the receipt in words, and everything else as JSON.

    Args:
        release: what to write.
        level: the level of the intervals.
        whole: the release as JSON.
    """
    book = import_extra("openpyxl", "Excel workbooks need").Workbook()
    names, rows = rows_of(release, level)
    sheet = book.active
    sheet.title = ITEMSETS
    sheet.append(names)
    for row in rows:
        sheet.append([row[0], None, *row[2:]])
        # As text, whatever it begins with.
        cell = sheet.cell(sheet.max_row, 2)
        cell.value, cell.data_type = row[1], "s"
    sheet.freeze_panes = "A2"
    for column, width in zip("ABCDEFG", (6, 48, 8, 10, 10, 10, 10), strict=True):
        sheet.column_dimensions[column].width = width
    explained = f"ci_low and ci_high: {percent(level)} for each count. {caveat(release)}"
    words = [headline(release), *release.verdict.lines(release), explained, *release.receipt.lines()]
    fill(book.create_sheet(RECEIPT), words)
    kept = book.create_sheet(WHOLE)
    fill(kept, [whole[start : start + _CELL] for start in range(0, len(whole), _CELL)])
    kept.sheet_state = "hidden"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def fill(sheet: Any, lines: list[str]) -> None:
    """Write lines into the first column, as text whatever they begin with."""
    for number, line in enumerate(lines, start=1):
        cell = sheet.cell(number, 1)
        cell.value, cell.data_type = line, "s"


def json_of_xlsx(path: Path, most_rows: int) -> str:
    """What `to_xlsx` kept as JSON."""
    openpyxl = import_extra("openpyxl", "Excel workbooks need")
    with zipfile.ZipFile(path) as packed:
        if sum(part.file_size for part in packed.infolist()) > _MOST_UNPACKED:
            raise InputError(f"it unpacks to more than {_MOST_UNPACKED >> 20} MiB")
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        if WHOLE not in book.sheetnames:
            raise InputError(f"it has no sheet {WHOLE!r}, which every workbook of privmine has")
        rows = book[WHOLE].iter_rows(max_row=most_rows, max_col=1, values_only=True)
        return "".join(str(row[0]) for row in rows if row and row[0] is not None)
    finally:
        book.close()
