"""Drawings inside a page: bars or dots with intervals, in SVG, without any library.

Lines and letters have the colour of the text around them, so that a drawing suits a light and a dark page.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import isfinite
from typing import TYPE_CHECKING

from privmine.release.display import items_text, percent
from privmine.release.verdict import told_from_zero

if TYPE_CHECKING:
    from privmine.release.release import Release

SHOWN = 25
_LABELS, _BARS, _ROW = 300, 420, 22
_LONGEST = 42


def support_chart(release: Release, level: float) -> str:
    """A bar for each of the first itemsets, and a line for its interval; empty where nothing is listed."""
    shown = release.itemsets[:SHOWN]
    rows = [
        (items_text(found.items), found.count, low, high)
        for found, (low, high) in zip(shown, release.intervals(level), strict=False)
    ]
    pale = (~told_from_zero(release)[: len(shown)]).tolist()
    words = f"Counts of the first {len(shown)} itemsets with {percent(level)} intervals"
    return interval_chart(rows, f"{words}; pale: not clearly above 0" if any(pale) else words, pale=pale)


def interval_chart(
    rows: Sequence[tuple[str, float, float, float]],
    words: str,
    *,
    dots: bool = False,
    mark: float | None = None,
    pale: Sequence[bool] = (),
) -> str:
    """A row for each label with its value and the ends of its interval; empty without rows.

    Args:
        rows: label, value, and from where to where the interval goes.
        words: what it shows, for those who read and those who listen.
        dots: whether a value is a dot instead of a bar from 0.
        mark: a value that gets an upright line.
        pale: which rows are drawn in a pale colour; none if it is empty.
    """
    if not rows:
        return ""
    # An end without a limit is drawn to the edge.
    ends = [end for _, value, _, high in rows for end in (value, high) if isfinite(end)]
    widest = max(*ends, mark or 0.0, 1.0)

    def across(value: float) -> float:
        return _LABELS + _BARS * min(max(value, 0.0), widest) / widest

    made = []
    for number, ((label, value, low, high), is_pale) in enumerate(zip(rows, pale or [False] * len(rows), strict=True)):
        middle = _ROW * number + _ROW // 2
        shape = (
            f"<circle cx='{across(value):.1f}' cy='{middle}' r='4.5' fill='#0072B2'/>"
            if dots
            else f"<rect x='{_LABELS}' y='{middle - 7}' width='{across(value) - _LABELS:.1f}' height='14' "
            f"fill='#0072B2' opacity='{'.3' if is_pale else '.8'}'/>"
        )
        made.append(
            f"<text x='{_LABELS - 8}' y='{middle + 4}' text-anchor='end' fill='currentColor' unicode-bidi='isolate'>"
            f"{escape(_short(label))}</text>{shape}"
            f"<path d='M{across(low):.1f} {middle}H{across(high):.1f}' stroke='currentColor' stroke-width='1.4'/>"
        )
    height = _ROW * len(rows)
    if mark is not None:
        made.append(f"<path d='M{across(mark):.1f} 0V{height}' stroke='currentColor' stroke-dasharray='3 3'/>")
    return (
        f"<figure><svg viewBox='0 0 {_LABELS + _BARS + 10} {height}' role='img' aria-label='{escape(words)}' "
        f"font-size='12'>{''.join(made)}</svg><figcaption><small>{escape(words)}.</small></figcaption></figure>"
    )


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1].rstrip()}…"
