"""Results that grow while an experiment runs and outlive its end, whatever ends it.

A `.csv` file is one row a line, written a few whole lines at a time; a line that a kill left half
written is dropped when the file is opened again. A folder holds Parquet parts, each complete or
not there at all. In both, a run that is listed twice counts once.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from time import time_ns
from typing import Any, Protocol
from uuid import uuid4

from privmine.errors import DataError, InputError
from privmine.evaluation.result_rows import INTEGER_COLUMNS, TEXT_COLUMNS, Key, Row, columns, key_of
from privmine.extras import import_extra

_OTHER_COLUMNS = (
    "The columns differ: it was written by another version of privmine, or with other plugins. Name another output."
)


class Results(Protocol):
    """Where rows go, and where those of an earlier run are."""

    def rows(self) -> list[Row]:
        """All rows so far, each run once, in the order of their keys."""

    def add(self, rows: Iterable[Row]) -> None:
        """Write rows down; when this returns, a kill no longer loses them."""

    def close(self) -> None:
        """Tidy up."""


def open_results(path: str | Path) -> Results:
    """Results in a `.csv` file, or in a folder of Parquet parts for a path without an ending."""
    path = Path(path)
    if path.suffix.lower() == ".csv":
        return CsvResults(path)
    if path.is_dir() or path.suffix.lower() in ("", ".parquet"):
        return ParquetResults(path)
    raise InputError(f"{path}: results go to a .csv file, or to a folder (a name without an ending, or with .parquet).")


class CsvResults:
    """Rows in a CSV file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._columns = columns()
        _writable_parent(path)
        self._mend()

    def _mend(self) -> None:
        """Drop a half-written last line; refuse a file that is no results file before writing to it."""
        content = self._path.read_bytes() if self._path.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        header = (",".join(self._columns) + "\n").encode()
        if not (whole.startswith(header) if whole else header.startswith(content)):
            raise DataError(f"This experiment cannot continue {self._path}. {_OTHER_COLUMNS}")
        if whole != content or not whole:
            with self._path.open("r+b" if content else "wb") as stream:
                stream.truncate(len(whole))
                stream.seek(0, os.SEEK_END)
                if not whole:
                    stream.write(header)

    def rows(self) -> list[Row]:
        """All rows so far, each run once, in the order of their keys."""
        with self._path.open(encoding="utf-8", newline="") as stream:
            table = csv.reader(stream)
            next(table)
            return _each_once(self._row(fields, table.line_num) for fields in table)

    def _row(self, fields: list[str], line: int) -> Row:
        if len(fields) != len(self._columns):
            raise DataError(f"{self._path}, line {line}: {len(fields)} fields instead of {len(self._columns)}.")
        try:
            return {name: _value(name, text) for name, text in zip(self._columns, fields, strict=True)}
        except ValueError:
            raise DataError(f"{self._path}, line {line}: a field has the wrong type.") from None

    def add(self, rows: Iterable[Row]) -> None:
        """Append whole lines in one write."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows([_text(row.get(name)) for name in self._columns] for row in rows)
        with self._path.open("ab") as stream:
            stream.write(text.getvalue().encode())
            stream.flush()
            os.fsync(stream.fileno())

    def close(self) -> None:
        """Nothing is left to do."""


class ParquetResults:
    """Rows in Parquet files of a folder, one part for each time that rows were added, joined at the end."""

    def __init__(self, folder: Path) -> None:
        # What is missing shows before anything runs.
        import_extra("pyarrow", "A folder of Parquet parts needs", "Or name a .csv file.")
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder} is a file, but Parquet results need a folder. Name a folder.")
        _writable_parent(folder)
        folder.mkdir(exist_ok=True)
        self._folder = folder
        self._columns = columns()

    def _parts(self) -> list[Path]:
        return sorted(self._folder.glob("part-*.parquet"))

    def rows(self) -> list[Row]:
        """All rows so far, each run once, in the order of their keys."""
        from pyarrow import ArrowInvalid, parquet

        rows: list[Row] = []
        for part in self._parts():
            try:
                table = parquet.ParquetFile(part).read()
            except ArrowInvalid:
                raise DataError(f"{part} is not a Parquet file. Move it out of the results folder.") from None
            if tuple(table.column_names) != self._columns:
                raise DataError(f"This experiment cannot continue {part}. {_OTHER_COLUMNS}")
            rows.extend(table.to_pylist())
        return _each_once(rows)

    def add(self, rows: Iterable[Row]) -> None:
        """Write a part under a passing name, then rename it: it is there as a whole or not at all."""
        import pyarrow as pa
        from pyarrow import parquet

        listed = list(rows)
        if not listed:
            return
        kinds = {name: _arrow_kind(pa, name) for name in self._columns}
        arrays = [pa.array([row.get(name) for row in listed], kinds[name]) for name in self._columns]
        # Parts are read in the order in which they were written.
        name = f"part-{time_ns():020d}-{uuid4().hex[:8]}.parquet"
        passing = self._folder / f".{name}"
        parquet.write_table(pa.table(arrays, names=list(self._columns)), passing)
        passing.replace(self._folder / name)

    def close(self) -> None:
        """Join the parts. A kill in between leaves rows twice, never none; reading takes each run once."""
        parts = self._parts()
        if len(parts) > 1:
            self.add(self.rows())
            for part in parts:
                part.unlink()


def _arrow_kind(pa: Any, name: str) -> Any:
    return pa.int64() if name in INTEGER_COLUMNS else pa.string() if name in TEXT_COLUMNS else pa.float64()


def _writable_parent(path: Path) -> None:
    folder = path.parent
    if not folder.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise InputError(f"Results cannot be written to {path}. Name another output.")


def _each_once(rows: Iterable[Row]) -> list[Row]:
    found: dict[Key, Row] = {}
    for row in rows:
        found.setdefault(key_of(row), row)
    return [found[key] for key in sorted(found)]


def _text(value: Any) -> str:
    # repr of a float reads back as the same float.
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def _value(name: str, text: str) -> Any:
    if name in TEXT_COLUMNS:
        return text
    if not text:
        return None
    return int(text) if name in INTEGER_COLUMNS else float(text)


def check_same(rows: Iterable[Mapping[str, Any]], column: str, name_column: str, digests: Mapping[str, str]) -> None:
    """Refuse to mix rows of two things that have the same name.

    Args:
        rows: the rows of an earlier run.
        column: the digest, `definition` or `database`.
        name_column: whose digest it is, `pipeline` or `data`.
        digests: the digests of now, by name.
    """
    for row in rows:
        name = row[name_column]
        if name in digests and row[column] != digests[name]:
            raise InputError(
                f"The results contain runs of another {name_column} with the name {name!r}, or of "
                "another version of privmine. Choose another name, or name another output."
            )
