"""A release as text and as HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privmine.release.model import Release

SHOWN = 20


def items_text(items: tuple[Any, ...]) -> str:
    """Labels side by side; what would break a line is shown escaped."""
    return ", ".join("".join(c if c.isprintable() else repr(c)[1:-1] for c in str(item)) for item in items)


def headline(release: Release) -> str:
    """What this is, in one line; a simulated release says so first."""
    kind = "private" if release.receipt.private else "SIMULATED, NOT PRIVATE:"
    count = f"{len(release)} of {release.requested}" if len(release) < release.requested else f"{len(release)}"
    about = "" if release.receipt.n_public else "about "
    return f"{count} {kind} frequent itemsets of {about}{release.total:,.0f} transactions"


def as_text(release: Release) -> str:
    """A table of the first rows."""
    rows = [
        f"{position:>5}  {found.support:>8.4f}  {found.count:>12,.0f}  ±{found.standard_error:<9,.0f}"
        f"{items_text(found.items)}"
        for position, found in enumerate(release.itemsets[:SHOWN], start=1)
    ]
    if len(release) > SHOWN:
        rows.append(f"    … {len(release) - SHOWN} more")
    head = f"{'rank':>5}  {'support':>8}  {'count':>12}  {'±':<10}itemset"
    return "\n".join([headline(release), head, *rows, "", *release.receipt.lines()])


def as_html(release: Release) -> str:
    """A table for notebooks and .html files; labels are escaped."""
    rows = "".join(
        f"<tr><td>{position}</td><td>{escape(items_text(found.items))}</td><td>{found.support:.4f}</td>"
        f"<td>{found.count:,.0f}</td><td>± {found.standard_error:,.0f}</td></tr>"
        for position, found in enumerate(release, start=1)
    )
    warning = "" if release.receipt.private else "<p><strong>NOT PRIVATE: simulated noise.</strong></p>"
    receipt = "".join(f"<li>{escape(line)}</li>" for line in release.receipt.lines())
    return (
        f"<div class='privmine'>{warning}<p>{escape(headline(release))}</p>"
        "<table><thead><tr><th>rank</th><th>itemset</th><th>support</th><th>count</th><th>standard error</th></tr>"
        f"</thead><tbody>{rows}</tbody></table><details><summary>Receipt</summary><ul>{receipt}</ul></details></div>"
    )
