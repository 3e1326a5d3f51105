"""Pieces of a page: text that is not marked as HTML is escaped, whoever wrote it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from attrs import field, frozen

from privmine.printable import printable
from privmine.release.display import items_text
from privmine.report.outline import WITHIN, title_of


class Html(str):
    """Text that is HTML already; all other text is escaped before it becomes part of a page."""

    __slots__ = ()


def html_of(value: Any) -> Html:
    """A value as part of a page. Control characters and turned directions are shown by their escapes."""
    return value if isinstance(value, Html) else Html(escape(printable(str(value))))


def joined(parts: Iterable[Any], between: str = "") -> Html:
    """Several pieces as one."""
    return Html(between.join(map(html_of, parts)))


def element(tag: str, *parts: Any, **attributes: Any) -> Html:
    """One element. An attribute that is None is left out, and one that is True has no value."""
    given = "".join(
        f" {name.strip('_').replace('_', '-')}" + ("" if value is True else f'="{html_of(value)}"')
        for name, value in attributes.items()
        if value is not None
    )
    return Html(f"<{tag}{given}>{joined(parts)}</{tag}>")


def labels(items: tuple[Any, ...]) -> Html:
    """The labels of an itemset; their direction of writing turns nothing else around."""
    return element("bdi", items_text(items))


def paragraph(*parts: Any, **attributes: Any) -> Html:
    """A paragraph of sentences."""
    return element("p", joined(parts, " "), **attributes)


def listing(sentences: Iterable[Any]) -> Html:
    """Sentences as a list; nothing if there are none."""
    made = [element("li", sentence) for sentence in sentences]
    return element("ul", *made) if made else Html()


def section(anchor: str, *parts: Any) -> Html:
    """A part of the report under its heading, which links name by its anchor."""
    heading = _heading(anchor, title_of(anchor), 3 if anchor in WITHIN else 2)
    return element("section", heading, *parts, id=anchor, aria_labelledby=f"{anchor}-heading")


def part_of_release(anchor: str, number: int, title: str, *parts: Any) -> Html:
    """What a part says of one release, or of one dataset.

    It is no landmark: every part has one of the same name, and none would help to find one's way.
    """
    return element("div", _heading(f"{anchor}-{number}", title, 3), *parts, id=f"{anchor}-{number}")


def _heading(anchor: str, title: str, level: int) -> Html:
    return element(f"h{level}", title, id=f"{anchor}-heading")


def coded(sentence: str) -> Html:
    """A sentence in which what stands between backticks is set as code."""
    pieces = sentence.split("`")
    return joined(element("code", piece) if odd % 2 else piece for odd, piece in enumerate(pieces))


def definitions(pairs: Iterable[tuple[Any, Any]]) -> Html:
    """Words and what they stand for."""
    return element("dl", *(joined((element("dt", word), element("dd", meaning))) for word, meaning in pairs))


@frozen
class GridCell:
    """A cell of a table that is sorted by another value than its text."""

    shown: Any
    value: float = field(converter=float)


def grid(
    caption: str, headings: Sequence[str], rows: Iterable[Sequence[Any]], *, number: str = "", sorts: bool = False
) -> Html:
    """A table with a caption, whose first column names the rows.

    Args:
        caption: what it shows.
        headings: of the columns.
        rows: their cells.
        number: a letter for each column: "n" where it holds numbers, which stand right.
        sorts: whether the reader may sort and filter it; the page's script makes the buttons.
    """
    kinds = number.ljust(len(headings), "-")
    made = [
        element("tr", *(_cell(cell, column, kind) for column, (cell, kind) in enumerate(zip(row, kinds, strict=True))))
        for row in rows
    ]
    head = element(
        "tr",
        *(element("th", name, scope="col", class_=_side(kind)) for name, kind in zip(headings, kinds, strict=True)),
    )
    table = element(
        "table",
        element("caption", caption),
        element("thead", head),
        element("tbody", *made),
        class_="sorts" if sorts else None,
    )
    # A wide table is moved sideways by itself, also by the keyboard.
    return element("div", table, class_="wide", role="region", aria_label=caption, tabindex="0")


def _cell(cell: Any, column: int, kind: str) -> Html:
    shown, value = (cell.shown, f"{cell.value:.17g}") if isinstance(cell, GridCell) else (cell, None)
    if column == 0:
        return element("th", shown, scope="row", class_=_side(kind), data_value=value)
    return element("td", shown, class_=_side(kind), data_value=value)


def _side(kind: str) -> str | None:
    return "number" if kind == "n" else None
