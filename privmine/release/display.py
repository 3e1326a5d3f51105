"""A release as text and as HTML."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

from privmine.printable import printable

if TYPE_CHECKING:
    from privmine.release.intervals import Interval
    from privmine.release.release import Release

SHOWN = 20
DEFAULT_LEVEL = 0.95
#: One of them stands wherever intervals are shown.
CORRECTED = "Intervals allow for the choice of the largest noisy counts: those of the last rows reach further down."
ESTIMATES = "Intervals allow for the choice of the largest estimates: they are wider than those of one itemset alone."
CAVEAT = "The last rows are probably too high: they were selected because their noisy counts were large."


def items_text(items: tuple[Any, ...]) -> str:
    """Labels side by side. Line breaks are escaped, and a label that looks like several items is quoted."""
    return ", ".join(map(_label, items))


def _label(item: Any) -> str:
    label = printable(str(item))
    # Unquoted, "salt, fine" would read as two items.
    return json.dumps(label, ensure_ascii=False) if ", " in label or label.startswith('"') else label


def percent(level: float) -> str:
    """A level as people read it."""
    return f"{100 * level:.10g} %"


def whole(value: float) -> str:
    """A count in whole transactions, never -0."""
    text = f"{value:,.0f}"
    return "0" if text == "-0" else text


def interval_text(found: Interval) -> str:
    """From where to where, in whole transactions."""
    return f"{whole(found.low)} to {whole(found.high)}"


def caveat(release: Release) -> str:
    """What a reader of the intervals must know."""
    if release.selection is None:
        return CAVEAT
    if release.selection.cutoff is None or release.selection.believed:
        return ""
    return ESTIMATES if release.selection.by_estimates else CORRECTED


def headline(release: Release) -> str:
    """What this is, in one line; a simulated release says so first."""
    kind = "private" if release.receipt.private else "SIMULATED, NOT PRIVATE:"
    count = f"{len(release):,} of {release.requested:,}" if len(release) < release.requested else f"{len(release):,}"
    about = "" if release.receipt.n_public else "about "
    itemsets = "itemset" if count == "1" else "itemsets"
    total, counted = f"{release.total:,.0f}", printable(release.receipt.counted)
    # The first word is what is counted; others say of whom.
    counted = counted.replace("transactions", "transaction", 1) if total == "1" else counted
    return f"{count} {kind} frequent {itemsets} of {about}{total} {counted}"


def as_text(release: Release) -> str:
    """A table of the first rows."""
    intervals = [interval_text(found) for found in release.intervals()[:SHOWN]]
    heading = f"{percent(DEFAULT_LEVEL)} interval"
    width = max(map(len, (*intervals, heading)))
    rows = [
        f"{position:>5}  {found.support:>8.4f}  {whole(found.count):>12}  {within:>{width}}  {items_text(found.items)}"
        for position, (found, within) in enumerate(zip(release.itemsets, intervals, strict=False), start=1)
    ]
    if len(release) > SHOWN:
        rows.append(f"    … {len(release) - SHOWN} more")
    head = f"{'rank':>5}  {'support':>8}  {'count':>12}  {heading:>{width}}  itemset"
    notes = [line for line in (caveat(release), *release.verdict.lines(release)) if line]
    return "\n".join([headline(release), head, *rows, *notes, "", *release.receipt.lines()])


def as_html(release: Release, level: float = DEFAULT_LEVEL, *, unfolded: bool = False) -> str:
    """A table for notebooks and .html files; labels are escaped.

    Args:
        release: what to show.
        level: the level of the intervals.
        unfolded: whether the receipt is open, so that a print has it.
    """
    rows = "".join(
        f"<tr><td>{position}</td><td>{escape(items_text(found.items))}</td><td>{found.support:.4f}</td>"
        f"<td>{whole(found.count)}</td><td>{interval_text(within)}</td></tr>"
        for position, (found, within) in enumerate(zip(release, release.intervals(level), strict=True), start=1)
    )
    warning = "" if release.receipt.private else "<p><strong>NOT PRIVATE: simulated noise.</strong></p>"
    verdict = "".join(f"<li>{escape(line)}</li>" for line in release.verdict.lines(release))
    receipt = "".join(f"<li>{escape(line)}</li>" for line in release.receipt.lines())
    return (
        f"<div class='privmine'>{warning}<p>{escape(headline(release))}</p><table><thead><tr><th>rank</th>"
        f"<th>itemset</th><th>support</th><th>count</th><th>{percent(level)} interval</th></tr></thead>"
        f"<tbody>{rows}</tbody></table><p><small>{caveat(release)}</small></p><ul>{verdict}</ul>"
        f"<details{' open' if unfolded else ''}><summary>Receipt</summary><ul>{receipt}</ul></details></div>"
    )
