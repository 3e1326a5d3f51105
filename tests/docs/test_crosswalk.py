"""The pages about reports say what reports have."""

from __future__ import annotations

import re
from pathlib import Path

from privmine.report.fill_ins import WANTED
from privmine.report.officer_questions import QUESTIONS
from privmine.report.outline import FOR_EVERYBODY, FOR_THE_OFFICER, WITHIN, place_of

DOCS = Path(__file__).parents[2] / "docs"
CROSSWALK = (DOCS / "crosswalk.md").read_text(encoding="utf-8")


def test_every_anchor_of_the_crosswalk_is_in_every_report() -> None:
    """tests/report checks that a report has the anchors of its outline."""
    named = set(re.findall(r"`#([a-z-]+)`", CROSSWALK))
    assert len(named) > 20
    assert named <= {*FOR_EVERYBODY, *FOR_THE_OFFICER, *WITHIN}


def test_the_crosswalk_lists_the_questions_of_a_report() -> None:
    """In their order, with their anchors and places; the page about reports knows how many they are."""
    rows = [line for line in CROSSWALK.splitlines() if re.match(r"\| \d+ \|", line)]
    assert rows == [
        f"| {number} | {question.text} | {question.source} | `#{question.anchor}` | {place_of(question.anchor)} |"
        for number, question in enumerate(QUESTIONS, 1)
    ]
    assert f"[{len(QUESTIONS)} questions]" in (DOCS / "report.md").read_text(encoding="utf-8")


def test_the_page_about_reports_lists_what_people_fill_in() -> None:
    """Names and questions as the command has them."""
    page = (DOCS / "report.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` | {question} |" in page for name, question in WANTED.items())
