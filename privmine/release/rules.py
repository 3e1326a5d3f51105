"""Association rules of a release, in mlxtend's columns.

Rules are arithmetic on the released supports alone. They look at no data, so they cost no budget.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from itertools import combinations
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from privmine.errors import InputError, UnknownNameError
from privmine.model import FloatArray, IntArray
from privmine.printable import json_text

if TYPE_CHECKING:
    from privmine.release.model import Release

#: A metric from the supports of the whole itemset, the antecedent and the consequent.
Metric = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]

#: More rules than this fit neither a table nor a reader; their number doubles with each item of an itemset.
MOST_RULES = 10_000_000

_SIDES = ("antecedents", "consequents")


def _confidence(whole: FloatArray, antecedent: FloatArray, _: FloatArray) -> FloatArray:
    return whole / antecedent


def _leverage(whole: FloatArray, antecedent: FloatArray, consequent: FloatArray) -> FloatArray:
    return whole - antecedent * consequent


def _conviction(whole: FloatArray, antecedent: FloatArray, consequent: FloatArray) -> FloatArray:
    """Infinite where the confidence is 1 or more, or no number at all."""
    confidence = whole / antecedent
    return np.where(confidence < 1, (1 - consequent) / (1 - confidence), np.inf)


def _zhang(whole: FloatArray, antecedent: FloatArray, consequent: FloatArray) -> FloatArray:
    larger = np.maximum(whole * (1 - antecedent), antecedent * (consequent - whole))
    return np.where(larger == 0, 0.0, _leverage(whole, antecedent, consequent) / larger)


def _certainty(whole: FloatArray, antecedent: FloatArray, consequent: FloatArray) -> FloatArray:
    rest = 1 - consequent
    return np.where(rest == 0, 0.0, (whole / antecedent - consequent) / rest)


#: By mlxtend's names, in the order of its columns.
METRICS: dict[str, Metric] = {
    "antecedent support": lambda _, antecedent, __: antecedent,
    "consequent support": lambda _, __, consequent: consequent,
    "support": lambda whole, _, __: whole,
    "confidence": _confidence,
    "lift": lambda whole, antecedent, consequent: whole / antecedent / consequent,
    # The share of transactions without missing values; a release is of data that has none.
    "representativity": lambda whole, _, __: np.ones_like(whole),
    "leverage": _leverage,
    "conviction": _conviction,
    "zhangs_metric": _zhang,
    "jaccard": lambda whole, antecedent, consequent: whole / (antecedent + consequent - whole),
    "certainty": _certainty,
    "kulczynski": lambda whole, antecedent, consequent: (whole / antecedent + whole / consequent) / 2,
}


def rules(release: Release, metric: str = "confidence", min_threshold: float = 0.8, support_only: bool = False) -> Any:
    """The association rules of a release as a pandas DataFrame; the receipt is in its `attrs`.

    Names and values of the columns are those of mlxtend's `association_rules` on `release.to_pandas()`.
    Rules stand in the order of their itemsets, and of one itemset those with the longest antecedents first.

    Args:
        release: where the supports come from.
        metric: which column decides whether a rule is shown; with `support_only` it is the support.
        min_threshold: the least value of the metric; a rule whose metric is no number is not shown.
        support_only: fill in the support only, and leave the other columns empty (NaN). This also works
            where a subset of a released itemset was not released.
    """
    try:
        import pandas as pd
    except ImportError:
        raise InputError("Rules come as a pandas DataFrame; run: pip install 'privmine[pandas]'.") from None
    columns = rule_columns(release, metric, min_threshold, support_only)
    for side in _SIDES:
        # The same few sets fill long columns, so each is made once.
        sets = {items: frozenset(items) for items in set(columns[side])}
        columns[side] = pd.Series([sets[items] for items in columns[side]], dtype=object)
    frame = pd.DataFrame(columns)
    frame.attrs["privmine"] = release.receipt.to_dict()
    return frame


def rule_columns(
    release: Release, metric: str = "confidence", min_threshold: float = 0.8, support_only: bool = False
) -> dict[str, Any]:
    """The rules as columns, both sides as tuples in public order; for arguments see `rules`.

    A simulated release has a column more, `simulated`, so that no copy of it passes for private.
    """
    if support_only:
        metric = "support"
    elif metric not in METRICS:
        raise UnknownNameError("metric of rules", str(metric), METRICS)
    threshold = _number(min_threshold)
    found = _by_support(release, threshold) if support_only else _by_metric(release, metric, threshold)
    if not release.receipt.private:
        found["simulated"] = np.ones(len(found["support"]), dtype=bool)
    return found


def to_csv(release: Release, columns: dict[str, Any]) -> str:
    """Rules as CSV; the receipt stands above the header in lines that start with #, sides are JSON lists."""
    out = io.StringIO()
    for line in release.receipt.lines():
        out.write(f"# {' '.join(line.split())}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    sides = [[json.dumps(list(side), ensure_ascii=False) for side in columns[name]] for name in _SIDES]
    rest = [np.asarray(values).tolist() for name, values in columns.items() if name not in _SIDES]
    writer.writerows(zip(*sides, *rest, strict=True))
    return out.getvalue()


def to_json(release: Release, columns: dict[str, Any]) -> str:
    """Rules as JSON, the receipt inside; a value that is not finite is null, since JSON knows no such number."""
    plain = {
        name: [list(side) for side in values] if name in _SIDES else [_finite(value) for value in values.tolist()]
        for name, values in columns.items()
    }
    rows = [dict(zip(plain, row, strict=True)) for row in zip(*plain.values(), strict=True)]
    facts = {"private": release.receipt.private, "receipt": release.receipt.to_dict(), "rules": rows}
    return json_text(facts, allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _number(threshold: Any) -> float:
    try:
        number = float(threshold)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"min_threshold must be a number, not {threshold!r}.") from None
    if isnan(number):
        raise InputError("min_threshold must be a number, not NaN.")
    return number


def _proper_subsets(items: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """All but the itemset itself and the empty set, long ones first.

    Read backwards, the list has at each place the complement of what it has there read forwards: so one list
    holds the antecedents, and backwards the consequents.
    """
    return [subset for size in range(len(items) - 1, 0, -1) for subset in combinations(items, size)]


def _by_metric(release: Release, metric: str, threshold: float) -> dict[str, Any]:
    row_of = {frozenset(found.items): row for row, found in enumerate(release)}
    _check_enough(release)
    antecedents: list[int] = []
    consequents: list[int] = []
    wholes: list[int] = []
    for whole, found in enumerate(release):
        if len(found.items) > 1:
            try:
                rows = [row_of[frozenset(subset)] for subset in _proper_subsets(found.items)]
            except KeyError:
                raise _missing(release, set(row_of)) from None
            antecedents += rows
            consequents += rows[::-1]
            wholes += [whole] * len(rows)
    return _kept(release, metric, threshold, *(np.array(side, np.int64) for side in (wholes, antecedents, consequents)))


def _kept(
    release: Release, metric: str, threshold: float, wholes: IntArray, antecedents: IntArray, consequents: IntArray
) -> dict[str, Any]:
    """The rules that reach the threshold, with every metric."""
    supports = np.array([found.support for found in release], dtype=float)
    # A noisy support may be 0, and a confidence then no number or infinite: values that mlxtend gives as well.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scores = METRICS[metric](supports[wholes], supports[antecedents], supports[consequents])
        shown = scores >= threshold
        sides = (antecedents[shown], consequents[shown])
        values = (supports[wholes[shown]], supports[sides[0]], supports[sides[1]])
        measured = {name: compute(*values) for name, compute in METRICS.items()}
    names = [found.items for found in release]
    named = ([names[row] for row in side.tolist()] for side in sides)
    return {**dict(zip(_SIDES, named, strict=True)), **measured}


def _by_support(release: Release, threshold: float) -> dict[str, Any]:
    chosen = [found for found in release if len(found.items) > 1 and found.support >= threshold]
    expected = sum((1 << len(found.items)) - 2 for found in chosen)
    if expected > MOST_RULES:
        raise InputError(
            f"These itemsets have {expected:,} rules, and more than {MOST_RULES:,} are not listed: "
            "an itemset of n items has 2^n − 2. Raise min_threshold, or mine with a max_length."
        )
    sides = [_proper_subsets(found.items) for found in chosen]
    supports = np.repeat(np.array([found.support for found in chosen], dtype=float), [len(side) for side in sides])
    empty = {name: np.full(len(supports), np.nan) for name in METRICS}
    return {
        "antecedents": [subset for side in sides for subset in side],
        "consequents": [subset for side in sides for subset in side[::-1]],
        **empty,
        "support": supports,
    }


def _check_enough(release: Release) -> None:
    """Before subsets are listed: an itemset of n items has 2^n − 1, so if there are fewer, one is missing."""
    longest = max((len(found.items) for found in release), default=0)
    if (1 << longest) - 1 > len(release):
        raise _missing(release, {frozenset(found.items) for found in release})


def _missing(release: Release, released: set[frozenset[Any]]) -> InputError:
    """Say which subset is missing. It is enough to look at those one item shorter than a released itemset."""
    lacking = 0
    example = ""
    for found in release:
        if len(found.items) < 2:
            continue
        shorter = combinations(found.items, len(found.items) - 1)
        missing = next((subset for subset in shorter if frozenset(subset) not in released), None)
        if missing is not None:
            example = example or f"{_braces(found.items)} was released, but not its subset {_braces(missing)}"
            lacking += 1
    return InputError(
        f"{example} ({lacking} of {len(release)} itemsets lack one), so that not all metrics of its rules are known. "
        "Mine with downward_closed=True (--downward-closed), use release.downward_closed().rules(…), "
        "or pass support_only=True and min_threshold=0 (--support-only) for the supports alone."
    )


def _braces(items: tuple[Any, ...]) -> str:
    from privmine.release.display import items_text

    return f"{{{items_text(items)}}}"
