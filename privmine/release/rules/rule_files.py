"""Rules as CSV and as JSON, the receipt inside."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import asdict

from privmine.printable import json_text
from privmine.release.rules.listing import SIDES, RuleList, words

if TYPE_CHECKING:
    from privmine.release.release import Release


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


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value
