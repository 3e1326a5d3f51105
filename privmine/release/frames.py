"""A release as the tables of pandas, Polars and Arrow; each carries the receipt. All three are extras."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from privmine.extras import import_extra
from privmine.noise.laws import NoiseSum

if TYPE_CHECKING:
    from privmine.release.release import Release

FORMAT = "privmine release"
#: Raised when a file of this version could not be read by the code before it.
FORMAT_VERSION = 4


def facts(release: Release, level: float) -> dict[str, Any]:
    """Everything of a release except its rows and their noise."""
    return {
        "format": FORMAT,
        "format_version": _least_version(release),
        "private": release.receipt.private,
        "requested": release.requested,
        "total": release.total,
        "total_error": release.total_error,
        "level": level,
        "receipt": release.receipt.to_dict(),
    }


def _least_version(release: Release) -> int:
    """The lowest format version that can hold this release, so that older versions of privmine can read it."""
    laws = (release.total_law, *(found.law for found in release))
    is_new = any(found.unbiased_count is not None for found in release) or any(
        isinstance(law, NoiseSum) and len(law.parts) > 1 for law in laws
    )
    return FORMAT_VERSION if is_new else 3


def to_pandas(release: Release, level: float) -> Any:
    """See `Release.to_pandas`."""
    pandas = import_extra("pandas", "A DataFrame of pandas needs")
    columns: dict[str, Any] = release.columns(level)
    columns["itemsets"] = pandas.Series([frozenset(items) for items in columns["itemsets"]], dtype=object)
    frame = pandas.DataFrame(columns)
    frame.attrs.update(privmine=release.receipt.to_dict(), privmine_level=level)
    return frame


def to_polars(release: Release, level: float) -> Any:
    """See `Release.to_polars`; a frame of Polars has no place for metadata, so the receipt is a column."""
    polars = import_extra("polars", "A DataFrame of Polars needs")
    columns = release.columns(level)
    columns["itemsets"] = [list(items) for items in columns["itemsets"]]
    types = {
        "itemsets": polars.List(polars.Int64 if _whole(release) else polars.String),
        "length": polars.Int64,
        "simulated": polars.Boolean,
    }
    receipt = json.dumps(release.receipt.to_dict(), ensure_ascii=False)
    frame = polars.DataFrame(columns, schema={name: types.get(name, polars.Float64) for name in columns})
    return frame.with_columns(receipt=polars.lit(receipt))


def to_arrow(release: Release, level: float) -> Any:
    """See `Release.to_arrow`."""
    pa = import_extra("pyarrow", "A table of Arrow needs")
    columns = release.columns(level)
    columns["itemsets"] = [list(items) for items in columns["itemsets"]]
    types = {
        "itemsets": pa.list_(pa.int64() if _whole(release) else pa.string()),
        "length": pa.int64(),
        "simulated": pa.bool_(),
    }
    schema = pa.schema(
        [(name, types.get(name, pa.float64())) for name in columns],
        metadata={"privmine": json.dumps(facts(release, level), ensure_ascii=False)},
    )
    return pa.table(columns, schema=schema)


def _whole(release: Release) -> bool:
    """Whether labels are whole numbers; a universe has either those or text."""
    return all(isinstance(item, int) for found in release for item in found.items)
