"""A release in files: written whole or not at all, always with its receipt, and read back whole."""

from __future__ import annotations

import csv
import io
import json
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from math import inf
from pathlib import Path
from typing import Any

from privmine.errors import DataError, InputError, PrivmineWarning
from privmine.files import check_place, written
from privmine.intervals import KeptLaw, NoiseSum, check_level, law_from_dict
from privmine.noise.faults import fault, faulty_version
from privmine.printable import json_text
from privmine.privacy import Receipt
from privmine.release.display import CAVEAT, DEFAULT_LEVEL, as_html, percent
from privmine.release.model import FrequentItemset, Release
from privmine.release.tables import FORMAT, FORMAT_VERSION, facts, library, to_arrow

#: More than any release has; what a file says beyond these is no count of transactions, and no number of itemsets.
LARGEST = 1e100
MOST_ROWS = 1_000_000
#: All labels of a release together, and how many rows of them are unpacked at a time.
MOST_BYTES = 256 << 20
_FEW_ROWS = 64

_MARK = "# privmine: "


def _facts_and_laws(release: Release, level: float) -> tuple[dict[str, Any], list[int | None]]:
    """All of a release but its rows, with each law of noise once; and for each row the position of its law."""
    place: dict[KeptLaw, int] = {}

    def number(law: KeptLaw | None) -> int | None:
        return None if law is None else place.setdefault(law, len(place))

    rows = [number(found.law) for found in release]
    total = number(release.total_law)
    laws = [law.to_dict() for law in place]
    return {**facts(release, level), "laws": laws, "total_law": total}, rows


def to_json(release: Release, level: float = DEFAULT_LEVEL) -> str:
    """The release as JSON, the receipt inside."""
    whole, laws = _facts_and_laws(release, level)
    rows = [
        {
            "items": list(found.items),
            "count": found.count,
            "support": found.support,
            "ci_low": low,
            "ci_high": high,
            "standard_error": found.standard_error,
            "law": law,
        }
        for found, (low, high), law in zip(release, release.intervals(level), laws, strict=True)
    ]
    return json_text({**whole, "intervals": CAVEAT, "itemsets": rows}) + "\n"


def to_csv(release: Release, level: float = DEFAULT_LEVEL) -> str:
    """The release as CSV; the receipt stands above the header in lines that start with #.

    An itemset is a JSON list in one cell, so that a label may contain anything.
    """
    whole, laws = _facts_and_laws(release, level)
    out = io.StringIO()
    for line in (*release.receipt.lines(), f"ci_low and ci_high: {percent(level)} for each count. {CAVEAT}"):
        out.write(f"# {' '.join(line.split())}\n")
    out.write(f"{_MARK}{json.dumps(whole, ensure_ascii=True)}\n")
    columns = release.columns(level)
    columns["itemsets"] = [json.dumps(list(items), ensure_ascii=False) for items in columns["itemsets"]]
    columns["law"] = laws
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue()


def to_html(release: Release, level: float = DEFAULT_LEVEL) -> str:
    """A page of its own."""
    title = "Frequent itemsets" if release.receipt.private else "NOT PRIVATE: simulated frequent itemsets"
    style = (
        "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
        "table{border-collapse:collapse}td,th{padding:.2rem .8rem;text-align:left;border-bottom:1px solid #ddd}"
        "td:nth-child(2){overflow-wrap:anywhere}"
        "th:nth-child(n+3),td:nth-child(n+3){text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}"
    )
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{title}</title><style>{style}</style>"
        f"<h1>{title}</h1>{as_html(release, level)}</html>\n"
    )


def _parquet(release: Release, level: float) -> bytes:
    whole, laws = _facts_and_laws(release, level)
    parquet, pa = library("pyarrow.parquet", "Parquet"), library("pyarrow", "Parquet")
    table = to_arrow(release, level).append_column("law", pa.array(laws, pa.int64()))
    sink = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata({"privmine": json.dumps(whole)}), sink)
    return sink.getvalue()


WRITERS: dict[str, Callable[[Release, float], bytes]] = {
    ".csv": lambda release, level: to_csv(release, level).encode(),
    ".json": lambda release, level: to_json(release, level).encode(),
    ".html": lambda release, level: to_html(release, level).encode(),
    ".parquet": _parquet,
}


def check_output(path: str | Path, overwrite: bool = True, formats: Collection[str] = WRITERS.keys()) -> Path:
    """Make sure that a release, or what is made of one, could be written here, before anything is spent on it."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in formats:
        raise InputError(f"Cannot tell a format from {path.name!r}; end it in one of {', '.join(formats)}.")
    if suffix == ".parquet":
        library("pyarrow.parquet", "Parquet")
    check_place(path)
    if not overwrite and path.exists():
        raise InputError(
            f"{path} exists, and may be a release that was paid for; choose another name, or replace it: "
            "overwrite=True (--force)."
        )
    return path


def save(release: Release, path: str | Path, level: float = DEFAULT_LEVEL) -> None:
    """Write a release; a reader finds the old file or the whole new one, never a part."""
    path = check_output(path)
    content = WRITERS[path.suffix.lower()](release, check_level(level))
    with written(path, public=True) as file:
        file.write(content)


def load(path: str | Path) -> Release:
    """Read a release that `save` wrote as CSV, JSON or Parquet, also by an earlier version.

    A file may come from anybody, so that nothing in it is believed: every number is checked for its range, and the
    charges must sum to ε. A release whose noise is known to be biased gives a `PrivmineWarning`.

    Raises:
        DataError: the file cannot be read, or is not a release as `save` writes it.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        library("pyarrow.parquet", "Parquet")
    reader = {".parquet": _from_parquet, ".json": _from_json}.get(suffix, _from_csv)
    try:
        release = reader(path)
    except _NewerVersionError:
        raise DataError(f"{path} was saved by a newer privmine; upgrade privmine to read it.") from None
    except OSError as error:
        raise DataError(f"Cannot read {path}: {error.strerror or 'it is not a file of that kind'}.") from None
    except InputError as error:
        raise DataError(f"{path} is not a release that privmine saved: {str(error).rstrip('.')}.") from None
    except Exception:  # noqa: BLE001 - a damaged or crafted file fails in many ways, of other libraries too
        raise DataError(f"{path} is not a release that privmine saved as CSV, JSON or Parquet.") from None
    if release.receipt.private and (version := faulty_version(release.receipt.noise)):
        warnings.warn(
            f"{path}: {fault(version)} So this release protects less than its receipt says, and its intervals may be "
            "wrong. Do not pass it on. Upgrade OpenDP and make a new release; its ε adds to what this one cost.",
            PrivmineWarning,
            stacklevel=2,
        )
    return release


class _NewerVersionError(Exception):
    pass


def _release(whole: dict[str, Any], rows: Iterable[tuple[Any, Any, Any, Any, Any]]) -> Release:
    """Put a release together from facts and rows (items, count, support, standard error, position of the law)."""
    if whole["format"] != FORMAT:
        raise ValueError
    if _whole_number(whole["format_version"], 1, inf) > FORMAT_VERSION:
        raise _NewerVersionError
    # The first version had no laws.
    laws = [law_from_dict(law) for law in whole.get("laws", ())]

    def law(number: Any) -> KeptLaw | None:
        return None if number is None else laws[_whole_number(number, 0, len(laws) - 1)]

    itemsets = tuple(
        FrequentItemset(_labels(items), _number(count), _number(support, 0, 1), _number(error, 0), law(number))
        for items, count, support, error, number in rows
    )
    if len({type(label) for found in itemsets for label in found.items}) > 1:
        raise InputError("its labels must be all numbers or all texts")
    receipt = Receipt.from_dict(whole["receipt"])
    if whole.get("private", receipt.private) is not receipt.private:
        raise InputError("the file and its receipt disagree about whether it is private")
    if receipt.private and any(isinstance(law, NoiseSum) and not law.noise.is_discrete for law in laws):
        raise InputError("its receipt says that it is private, but it has the noise of a simulation")
    return Release(
        itemsets,
        _whole_number(whole["requested"], max(len(itemsets), 1), MOST_ROWS),
        _number(whole["total"], 1),
        _number(whole["total_error"], 0),
        receipt,
        law(whole.get("total_law")),
    )


def _number(value: Any, least: float = -LARGEST, most: float = LARGEST) -> float:
    """A number within bounds; a truth value is none, and neither is NaN within any."""
    if type(value) not in (int, float) or not least <= value <= most:
        raise InputError("a number in it is missing, of another type, or out of range")
    return float(value)


def _whole_number(value: Any, least: float, most: float) -> int:
    if type(value) is not int:
        raise InputError("a number in it must be whole")
    _number(value, least, most)
    return value


def _labels(items: Any) -> tuple[Any, ...]:
    if not isinstance(items, list) or not items or len(set(items)) < len(items):
        raise InputError("an itemset in it must be a list of different items")
    return tuple(_label(item) for item in items)


def _label(item: Any) -> str | int:
    """Text that can be written, or a number of 64 bits."""
    if type(item) is int:
        return _whole_number(item, -(2**63), 2**63 - 1)
    if not isinstance(item, str):
        raise InputError("a label in it must be text or a whole number")
    item.encode()
    return item


def _json(text: str | bytes) -> Any:
    """Read JSON; NaN and Infinity are Python's own additions to it."""
    return json.loads(text, parse_constant=_refuse_constant)


def _refuse_constant(_name: str) -> None:
    raise ValueError


def _from_json(path: Path) -> Release:
    whole = _json(path.read_text(encoding="utf-8-sig"))
    names = ("items", "count", "support", "standard_error")
    return _release(whole, ((*(row[name] for name in names), row.get("law")) for row in whole["itemsets"]))


def _from_csv(path: Path) -> Release:
    lines = path.read_text(encoding="utf-8-sig").splitlines(keepends=True)
    head = list(takewhile(lambda line: line.startswith("#"), lines))
    whole = _json(next((line.removeprefix(_MARK) for line in head if line.startswith(_MARK)), ""))
    with _cells_of_any_size():
        body = list(csv.DictReader(io.StringIO("".join(lines[len(head) :]), newline="")))
    rows = (
        (
            _json(row["itemsets"]),
            *(float(row[name]) for name in ("count", "support", "standard_error")),
            int(row["law"]) if row.get("law") else None,
        )
        for row in body
    )
    return _release(whole, rows)


@contextmanager
def _cells_of_any_size() -> Iterator[None]:
    """The csv module refuses cells beyond 128 KB unless it is told otherwise."""
    usual = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(usual)


def _small_batches(file: Any) -> Iterator[Any]:
    """The rows of a Parquet file, refused before they fill the memory."""
    groups = range(file.metadata.num_row_groups)
    size = max((file.metadata.row_group(group).total_byte_size for group in groups), default=0)
    for batch in file.iter_batches(_FEW_ROWS) if size <= MOST_BYTES else ():
        size += batch.nbytes
        if size > MOST_BYTES:
            break
        yield batch
    if size > MOST_BYTES:
        raise InputError(f"its labels take more than {MOST_BYTES >> 20} MB")


def _from_parquet(path: Path) -> Release:
    with library("pyarrow.parquet", "Parquet").ParquetFile(path) as file:
        # Compressed, any number of equal rows is a small file, and so is any number of equal labels.
        if file.metadata.num_rows > MOST_ROWS:
            raise InputError(f"it has more than {MOST_ROWS:,} rows")
        table = library("pyarrow", "Parquet").Table.from_batches(_small_batches(file), file.schema_arrow)
    metadata = table.schema.metadata or {}
    # In the first version items were text in the table, and labels of their own type beside it.
    first = b"privmine.labels" in metadata
    itemsets = _json(metadata[b"privmine.labels"]) if first else table["itemsets"].to_pylist()
    columns = [table[name].to_pylist() for name in ("count", "support", "standard_error")]
    laws = table["law"].to_pylist() if "law" in table.column_names else [None] * len(table)
    return _release(_json(metadata[b"privmine"]), zip(itemsets, *columns, laws, strict=True))
