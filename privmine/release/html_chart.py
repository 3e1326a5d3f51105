"""The supports of a release as a drawing inside a page: bars with intervals, in SVG, without any library."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from privmine.release.display import items_text, percent

if TYPE_CHECKING:
    from privmine.release.release import Release

SHOWN = 25
_LABELS, _BARS, _ROW = 300, 420, 22
_LONGEST = 42


def support_chart(release: Release, level: float) -> str:
    """A bar for each of the first itemsets, and a line for its interval; empty where nothing is listed."""
    shown = release.itemsets[:SHOWN]
    if not shown:
        return ""
    ends = release.intervals(level)[: len(shown)]
    widest = max(max(high, found.count, 1.0) for found, (_, high) in zip(shown, ends, strict=True))
    rows = []
    for number, (found, (low, high)) in enumerate(zip(shown, ends, strict=True)):
        middle = _ROW * number + _ROW / 2
        width, left, right = (_BARS * max(value, 0.0) / widest for value in (found.count, low, high))
        rows.append(
            f"<text x='{_LABELS - 8}' y='{middle + 4:.0f}' text-anchor='end'>{escape(_short(found.items))}</text>"
            f"<rect x='{_LABELS}' y='{middle - 7:.0f}' width='{width:.1f}' height='14' fill='#0072B2' opacity='.8'/>"
            f"<path d='M{_LABELS + left:.1f} {middle:.0f}H{_LABELS + right:.1f}' stroke='#222' stroke-width='1.4'/>"
        )
    height, words = _ROW * len(shown), f"Counts of the first {len(shown)} itemsets with {percent(level)} intervals"
    return (
        f"<figure><svg viewBox='0 0 {_LABELS + _BARS + 10} {height}' role='img' aria-label='{words}' font-size='12' "
        f"style='width:100%;max-width:46rem'>{''.join(rows)}</svg><figcaption><small>{words}.</small></figcaption>"
        "</figure>"
    )


def _short(items: tuple[object, ...]) -> str:
    text = items_text(items)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1].rstrip()}…"
