"""A release in files: written whole or not at all, always with its receipt, and read back whole."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path
from typing import Any

from privmine.errors import DataError, InputError
from privmine.privacy import Receipt
from privmine.release.display import as_html
from privmine.release.model import FrequentItemset, Release

FORMAT = "privmine release"
#: Raised when a file of this version could not be read by the code before it.
FORMAT_VERSION = 1
_MARK = "# privmine: "


def _facts(release: Release) -> dict[str, Any]:
    """All of a release but its rows."""
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "private": release.receipt.private,
        "requested": release.requested,
        "total": release.total,
        "total_error": release.total_error,
        "receipt": release.receipt.to_dict(),
    }


def to_json(release: Release) -> str:
    """The release as JSON, the receipt inside."""
    rows = [
        {
            "items": list(found.items),
            "count": found.count,
            "support": found.support,
            "standard_error": found.standard_error,
        }
        for found in release
    ]
    return json.dumps({**_facts(release), "itemsets": rows}, ensure_ascii=False, indent=2) + "\n"


def to_csv(release: Release) -> str:
    """The release as CSV; the receipt stands above the header in lines that start with #.

    An itemset is a JSON list in one cell, so that a label may contain anything.
    """
    out = io.StringIO()
    for line in release.receipt.lines():
        out.write(f"# {' '.join(line.split())}\n")
    out.write(f"{_MARK}{json.dumps(_facts(release), ensure_ascii=True)}\n")
    columns = release.columns()
    columns["itemsets"] = [json.dumps(list(items), ensure_ascii=False) for items in columns["itemsets"]]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue()


def to_html(release: Release) -> str:
    """A page of its own."""
    title = "Frequent itemsets" if release.receipt.private else "NOT PRIVATE: simulated frequent itemsets"
    style = (
        "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
        "table{border-collapse:collapse}td,th{padding:.2rem .8rem;text-align:left;border-bottom:1px solid #ddd}"
        "td:nth-child(n+3){text-align:right;font-variant-numeric:tabular-nums}"
    )
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{title}</title><style>{style}</style>"
        f"<h1>{title}</h1>{as_html(release)}</html>\n"
    )


def _parquet(release: Release) -> bytes:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError("Writing Parquet needs pyarrow; run: pip install 'privmine[parquet]'.") from None
    columns = release.columns()
    columns["itemsets"] = [[str(item) for item in items] for items in columns["itemsets"]]
    labels = json.dumps([list(found.items) for found in release], ensure_ascii=False)
    table = pa.table(columns).replace_schema_metadata(
        {"privmine": json.dumps(_facts(release)), "privmine.labels": labels}
    )
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


WRITERS: dict[str, Callable[[Release], bytes]] = {
    ".csv": lambda release: to_csv(release).encode(),
    ".json": lambda release: to_json(release).encode(),
    ".html": lambda release: to_html(release).encode(),
    ".parquet": _parquet,
}


def check_output(path: str | Path) -> Path:
    """Make sure that a release could be written here, before anything is spent on it."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in WRITERS:
        raise InputError(f"Cannot tell a format from {path.name!r}; end it in one of {', '.join(WRITERS)}.")
    if suffix == ".parquet":
        try:
            import pyarrow.parquet  # noqa: F401 - only whether it is there
        except ImportError:
            raise InputError("Writing Parquet needs pyarrow; run: pip install 'privmine[parquet]'.") from None
    if path.is_dir():
        raise InputError(f"{path} is a directory; name a file in it.")
    if not path.parent.is_dir():
        raise InputError(f"There is no directory {path.parent}; create it first, or choose another path.")
    try:
        handle, probe = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
        Path(probe).unlink()
    except OSError as error:
        raise InputError(f"Cannot write to {path.parent}: {error.strerror}.") from None
    if path.exists() and not os.access(path, os.W_OK):
        raise InputError(f"{path} exists and may not be overwritten; choose another path.")
    return path


def save(release: Release, path: str | Path) -> None:
    """Write a release; a reader finds the old file or the whole new one, never a part."""
    path = check_output(path)
    content = WRITERS[path.suffix.lower()](release)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files for the owner only; a release is public, so the usual rights apply.
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def load(path: str | Path) -> Release:
    """Read a release that `save` wrote as CSV, JSON or Parquet."""
    path = Path(path)
    try:
        if path.suffix.lower() == ".parquet":
            return _from_parquet(path)
        text = path.read_text(encoding="utf-8")
        return _from_json(text) if path.suffix.lower() == ".json" else _from_csv(text)
    except OSError as error:
        raise DataError(f"Cannot read {path}: {error.strerror or 'it is not a file of that kind'}.") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DataError(f"{path} is not a release that privmine saved as CSV, JSON or Parquet.") from None


def _release(facts: dict[str, Any], rows: list[FrequentItemset]) -> Release:
    if facts["format"] != FORMAT or facts["format_version"] > FORMAT_VERSION:
        raise ValueError
    receipt = Receipt.from_dict(facts["receipt"])
    return Release(tuple(rows), facts["requested"], facts["total"], facts["total_error"], receipt)


def _from_json(text: str) -> Release:
    facts = json.loads(text)
    return _release(facts, [FrequentItemset(**row) for row in facts["itemsets"]])


def _from_csv(text: str) -> Release:
    lines = text.splitlines(keepends=True)
    head = list(takewhile(lambda line: line.startswith("#"), lines))
    facts = json.loads(next((line.removeprefix(_MARK) for line in head if line.startswith(_MARK)), ""))
    body = csv.DictReader(io.StringIO("".join(lines[len(head) :]), newline=""))
    rows = [
        FrequentItemset(
            json.loads(row["itemsets"]),
            float(row["count"]),
            float(row["support"]),
            float(row["standard_error"]),
        )
        for row in body
    ]
    return _release(facts, rows)


def _from_parquet(path: Path) -> Release:
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    metadata = table.schema.metadata or {}
    labels = json.loads(metadata[b"privmine.labels"])
    numbers = zip(labels, *(table[name].to_pylist() for name in ("count", "support", "standard_error")), strict=True)
    return _release(json.loads(metadata[b"privmine"]), [FrequentItemset(*row) for row in numbers])
