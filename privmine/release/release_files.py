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

from attrs import evolve

from privmine.errors import DataError, InputError, PrivmineWarning
from privmine.extras import import_extra
from privmine.files import check_place, written
from privmine.noise.faults import fault, faulty_version
from privmine.noise.laws import NoiseSum, check_level
from privmine.printable import json_text
from privmine.privacy import Receipt
from privmine.release.chosen import Chosen
from privmine.release.display import DEFAULT_LEVEL, as_html, caveat, percent
from privmine.release.frames import FORMAT, FORMAT_VERSION, facts, to_arrow
from privmine.release.html_chart import support_chart
from privmine.release.intervals import KeptLaw, law_from_dict
from privmine.release.release import FrequentItemset, Release
from privmine.release.spreadsheets import beside, json_of_xlsx, kept_rows, plain_separator, to_plain_csv, to_xlsx

#: More than any release has; what a file says beyond these is no count of transactions, and no number of itemsets.
LARGEST = 1e100
MOST_ROWS = 1_000_000
#: All labels of a release together, and how many rows of them are unpacked at a time.
MOST_BYTES = 256 << 20
_FEW_ROWS = 64

_MARK = "# privmine: "
#: A column, or a field of a row, that only releases of estimates have.
_UNBIASED = "unbiased_count"


def _facts_and_laws(release: Release, level: float) -> tuple[dict[str, Any], list[int | None]]:
    """Everything except the rows, with each law of noise once; and for each row the position of its law."""
    place: dict[KeptLaw, int] = {}

    def number(law: KeptLaw | None) -> int | None:
        return None if law is None else place.setdefault(law, len(place))

    rows = [number(found.law) for found in release]
    total = number(release.total_law)
    laws = [law.to_dict() for law in place]
    selection = None if release.selection is None else release.selection.to_dict()
    added = {"laws": laws, "total_law": total, "selection": selection, "joint": release.joint}
    return {**facts(release, level), **added, "verdict": release.verdict.to_dict(release)}, rows


def to_json(release: Release, level: float = DEFAULT_LEVEL) -> str:
    """The release as JSON, the receipt inside."""
    whole, laws = _facts_and_laws(release, level)
    rows = [
        {
            "items": list(found.items),
            "support": found.support,
            "count": found.count,
            "ci_low": low,
            "ci_high": high,
            "standard_error": found.standard_error,
            "law": law,
            **({} if found.unbiased_count is None else {_UNBIASED: found.unbiased_count}),
        }
        for found, (low, high), law in zip(release, release.intervals(level), laws, strict=True)
    ]
    return json_text({**whole, "intervals": caveat(release), "itemsets": rows}) + "\n"


def to_csv(release: Release, level: float = DEFAULT_LEVEL) -> str:
    """The release as CSV; the receipt stands above the header in lines that start with #.

    An itemset is a JSON list in one cell, so that a label may contain anything.
    """
    whole, laws = _facts_and_laws(release, level)
    out = io.StringIO()
    explained = f"ci_low and ci_high: {percent(level)} for each count. {caveat(release)}"
    for line in (*release.receipt.lines(), explained, *release.verdict.lines(release)):
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
        "td:nth-child(2){overflow-wrap:anywhere}svg{width:100%;max-width:46rem}"
        "th:nth-child(n+3),td:nth-child(n+3){text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}"
    )
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{title}</title><style>{style}</style>"
        f"<h1>{title}</h1>{support_chart(release, level)}{as_html(release, level, unfolded=True)}</html>\n"
    )


def _parquet(release: Release, level: float) -> bytes:
    whole, laws = _facts_and_laws(release, level)
    parquet, pa = import_extra("pyarrow.parquet", "Parquet needs"), import_extra("pyarrow", "Parquet needs")
    table = to_arrow(release, level).append_column("law", pa.array(laws, pa.int64()))
    sink = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata({"privmine": json.dumps(whole)}), sink)
    return sink.getvalue()


WRITERS: dict[str, Callable[[Release, float], bytes]] = {
    ".csv": lambda release, level: to_csv(release, level).encode(),
    ".json": lambda release, level: to_json(release, level).encode(),
    ".html": lambda release, level: to_html(release, level).encode(),
    ".parquet": _parquet,
    ".xlsx": lambda release, level: to_xlsx(release, level, to_json(release, level)),
}


def check_output(
    path: str | Path, overwrite: bool = True, formats: Collection[str] = WRITERS.keys(), *, plain: bool = False
) -> Path:
    """Check that a release, or a file made from one, can be written here, before anything is spent."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in formats:
        raise InputError(f"Cannot tell a format from {path.name!r}; end it in one of {', '.join(formats)}.")
    if suffix == ".parquet":
        import_extra("pyarrow.parquet", "Parquet needs")
    if suffix == ".xlsx":
        import_extra("openpyxl", "Excel workbooks need")
    if plain and suffix != ".csv":
        raise InputError(f"A plain file is a .csv, not {path.name!r}. Rename it, or drop plain=True.")
    check_place(path)
    taken = next((file for file in (path, *([beside(path)] if plain else [])) if file.exists()), None)
    if not overwrite and taken is not None:
        raise InputError(
            f"{taken} exists, and may be a release that was paid for. Choose another name, or replace "
            "it with overwrite=True."
        )
    return path


def save(release: Release, path: str | Path, level: float = DEFAULT_LEVEL, *, plain: bool = False) -> None:
    """Write a release. A reader finds the old file or the complete new one, never a part.

    Args:
        release: what to write.
        path: where to; its ending tells the format.
        level: the level of the intervals.
        plain: write a .csv of readable rows alone, and all else into a file beside it that ends in .receipt.json.
    """
    path = check_output(path, plain=plain)
    check_level(level)
    contents = {path: to_plain_csv(release, level) if plain else WRITERS[path.suffix.lower()](release, level)}
    if plain:
        # First what makes the release whole: a plain file alone would be rows without a receipt.
        contents = {beside(path): to_json(release, level).encode(), **contents}
    for place, content in contents.items():
        with written(place, public=True) as file:
            file.write(content)


def load(path: str | Path) -> Release:
    """Read a release that `save` wrote as CSV, JSON, Parquet or an Excel workbook, also by an earlier version.

    A plain CSV is read with the file beside it; rows that were taken out of the CSV are not in the release.

    A file may come from anybody, so that nothing in it is believed: every number is checked for its range, and the
    charges must sum to ε. A release whose noise is known to be biased gives a `PrivmineWarning`.

    Raises:
        DataError: the file cannot be read, or is not a release as `save` writes it.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        import_extra("pyarrow.parquet", "Parquet needs")
    if suffix == ".xlsx":
        import_extra("openpyxl", "Excel workbooks need")
    reader = {".parquet": _from_parquet, ".json": _from_json, ".xlsx": _from_xlsx}.get(suffix, _from_csv)
    try:
        release = reader(path)
    except _NewerVersionError:
        raise DataError(f"{path} was saved by a newer privmine; upgrade privmine to read it.") from None
    except OSError as error:
        raise DataError(f"Cannot read {path}: {error.strerror or 'it is not a file of that kind'}.") from None
    except InputError as error:
        raise DataError(f"{path} is not a release that privmine saved: {str(error).rstrip('.')}.") from None
    except Exception:  # noqa: BLE001 - a damaged or crafted file fails in many ways, of other libraries too
        raise DataError(f"{path} is not a release that privmine saved as CSV, JSON, Parquet or .xlsx.") from None
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


def _release(whole: dict[str, Any], rows: Iterable[tuple[Any, Any, Any, Any, Any, Any]]) -> Release:
    """Put a release together from facts and rows.

    A row is items, count, support, standard error, and if there are any the position of the law and the unbiased count.
    """
    if whole["format"] != FORMAT:
        raise ValueError
    if _whole_number(whole["format_version"], 1, inf) > FORMAT_VERSION:
        raise _NewerVersionError
    # The first version had no laws.
    laws = [law_from_dict(law) for law in whole.get("laws", ())]

    def law(number: Any) -> KeptLaw | None:
        return None if number is None else laws[_whole_number(number, 0, len(laws) - 1)]

    itemsets = tuple(
        FrequentItemset(
            _labels(items),
            _number(count),
            _number(support, 0, 1),
            _number(error, 0),
            law(number),
            None if unbiased is None else _number(unbiased),
        )
        for items, count, support, error, number, unbiased in rows
    )
    if len({found.unbiased_count is None for found in itemsets}) > 1:
        raise InputError("all of its counts must be estimates, or none")
    if len({type(label) for found in itemsets for label in found.items}) > 1:
        raise InputError("its labels must be all numbers or all texts")
    receipt = Receipt.from_dict(whole["receipt"])
    if whole.get("private", receipt.private) is not receipt.private:
        raise InputError("the file and its receipt disagree about whether it is private")
    if receipt.private and any(isinstance(law, NoiseSum) and not law.is_discrete for law in laws):
        raise InputError("its receipt says that it is private, but it has the noise of a simulation")
    return Release(
        itemsets,
        _whole_number(whole["requested"], max(len(itemsets), 1), MOST_ROWS),
        _number(whole["total"], 1),
        _number(whole["total_error"], 0),
        receipt,
        law(whole.get("total_law")),
        _selection(whole.get("selection")),
        whole.get("joint", ""),
    )


def _selection(values: Any) -> Chosen | None:
    """How itemsets were chosen; files of earlier versions do not say."""
    if values is None:
        return None
    cutoff = None if values["cutoff"] is None else _number(values["cutoff"])
    told = {name: values.get(name, False) for name in ("by_estimates", "believed")}
    for name, value in told.items():
        if type(value) is not bool:
            raise InputError(f"{name} in it must be true or false")
    return Chosen(_whole_number(values["candidates"], 0, LARGEST), cutoff, **told)


def _number(value: Any, least: float = -LARGEST, most: float = LARGEST) -> float:
    """A number within bounds. Truth values and NaN are refused."""
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
    return _of_json(path.read_text(encoding="utf-8-sig"))


def _from_xlsx(path: Path) -> Release:
    return _of_json(json_of_xlsx(path, MOST_ROWS))


def _of_json(text: str) -> Release:
    whole = _json(text)
    names = ("items", "count", "support", "standard_error")
    return _release(
        whole, ((*(row[name] for name in names), row.get("law"), row.get(_UNBIASED)) for row in whole["itemsets"])
    )


def _from_csv(path: Path) -> Release:
    lines = path.read_text(encoding="utf-8-sig").splitlines(keepends=True)
    head = list(takewhile(lambda line: line.startswith("#"), lines))
    if not head and beside(path).exists():
        release = _from_json(beside(path))
        return evolve(release, itemsets=tuple(release[row] for row in kept_rows(release, lines)))
    if plain_separator(lines) is not None:
        raise InputError(f"a plain .csv needs its receipt, {beside(path).name}, which is not beside it")
    whole = _json(next((line.removeprefix(_MARK) for line in head if line.startswith(_MARK)), ""))
    with _cells_of_any_size():
        body = list(csv.DictReader(io.StringIO("".join(lines[len(head) :]), newline="")))
    rows = (
        (
            _json(row["itemsets"]),
            *(float(row[name]) for name in ("count", "support", "standard_error")),
            int(row["law"]) if row.get("law") else None,
            float(row[_UNBIASED]) if row.get(_UNBIASED) else None,
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
    with import_extra("pyarrow.parquet", "Parquet needs").ParquetFile(path) as file:
        # Compressed, any number of equal rows is a small file, and so is any number of equal labels.
        if file.metadata.num_rows > MOST_ROWS:
            raise InputError(f"it has more than {MOST_ROWS:,} rows")
        table = import_extra("pyarrow", "Parquet needs").Table.from_batches(_small_batches(file), file.schema_arrow)
    metadata = table.schema.metadata or {}
    # In the first version items were text in the table, and labels of their own type beside it.
    first = b"privmine.labels" in metadata
    itemsets = _json(metadata[b"privmine.labels"]) if first else table["itemsets"].to_pylist()
    columns = [table[name].to_pylist() for name in ("count", "support", "standard_error")]
    optional = [
        table[name].to_pylist() if name in table.column_names else [None] * len(table) for name in ("law", _UNBIASED)
    ]
    return _release(_json(metadata[b"privmine"]), zip(itemsets, *columns, *optional, strict=True))
