"""Pieces of a page."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from privmine.report.markup import GridCell, Html, coded, element, grid, html_of, labels


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader


@given(st.text())
def test_text_from_others_never_becomes_markup(text: str) -> None:
    """Whatever a label, a note or a name holds, the tags and attributes are ours."""
    reader = read(element("p", text, title=text) + labels((text,)) + coded(text.replace("`", "")))
    assert reader.tags == ["p", "bdi"]
    assert [name for name, _ in reader.attributes] == ["title"]
    assert reader.text.isprintable()


def test_what_is_marked_as_html_stays() -> None:
    """Escaping twice would show tags to the reader."""
    assert html_of(Html("<b>x</b>")) == "<b>x</b>"
    assert element("p", element("b", "x & y")) == "<p><b>x &amp; y</b></p>"


def test_a_table_names_its_columns_and_rows() -> None:
    """Caption, scopes, and values to sort by."""
    made = grid("Counts", ("name", "count"), [("a<b", GridCell("1,000", 1000))], number="-n", sorts=True)
    assert "<caption>Counts</caption>" in made
    assert '<th scope="col">name</th><th scope="col" class="number">count</th>' in made
    assert '<th scope="row">a&lt;b</th><td class="number" data-value="1000">1,000</td>' in made
    assert 'class="sorts"' in made
    assert 'tabindex="0"' in made
