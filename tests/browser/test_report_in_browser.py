"""Reports in a real browser: sorting, filtering, accessibility, print, and nothing that leaves the page."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from report_releases import NASTY, SPENT
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from privmine.release.display import items_text
from privmine.report.fill_ins import WANTED
from privmine.report.officer_questions import QUESTIONS

PAGES = ("customers", "nasty", "several", "simulated")


def rows(driver: Any, column: int, table: str = "#found-1 table") -> list[str]:
    """The cells of a column, top to bottom, of the rows that are shown."""
    return driver.execute_script(
        "return [...document.querySelector(arguments[0]).tBodies[0].rows].filter(row => row.offsetParent !== null)"
        ".map(row => row.cells[arguments[1]].innerText)",
        table,
        column,
    )


def number(text: str) -> float:
    """A count or a share as it is shown."""
    return float(text.replace(",", "").replace("%", ""))


def printed(driver: Any) -> bytes:
    """The page as a PDF."""
    return base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])


def words_of(pdf: bytes, folder: Path) -> str:
    """The text of a PDF, as another program reads it."""
    file = folder / "report.pdf"
    file.write_bytes(pdf)
    done = subprocess.run(["pdftotext", "-layout", str(file), "-"], capture_output=True, check=True)
    return done.stdout.decode()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_in_silence(visit, name: str) -> None:
    """Its script runs, and neither a message nor a request nor a dialog comes of it."""
    driver = visit(name)
    assert driver.find_elements(By.CSS_SELECTOR, "th button")
    assert len(driver.find_elements(By.CSS_SELECTOR, "script")) == 1


def test_a_table_is_sorted_by_its_buttons(visit) -> None:
    """Numbers as numbers, largest first; words as words; a second click turns the order around; it is told."""
    driver = visit("customers")
    buttons = driver.find_elements(By.CSS_SELECTOR, "#found-1 th button")
    names = [button.text.split(" ↕")[0] for button in buttons]
    ranks = rows(driver, 0)
    assert ranks == [str(rank) for rank in range(1, len(ranks) + 1)]
    for column, kind in ((4, number), (3, number), (1, str.casefold)):
        buttons[column].click()
        first = "ascending" if kind is not number else "descending"
        head = buttons[column].find_element(By.XPATH, "..")
        shown = [kind(text) for text in rows(driver, column)]
        assert head.get_attribute("aria-sort") == first
        assert shown == sorted(shown, reverse=first == "descending")
        assert f"Sorted by {names[column]}, {first}." in driver.find_element(By.CSS_SELECTOR, "[role=status]").text
        buttons[column].send_keys(Keys.ENTER)  # as a keyboard does it
        assert [kind(text) for text in rows(driver, column)] == sorted(shown, reverse=first != "descending")
        assert len(driver.find_elements(By.CSS_SELECTOR, "#found-1 th[aria-sort]")) == 1
    buttons[0].click()
    assert rows(driver, 0) == ranks


def test_a_table_is_filtered_as_one_types(visit) -> None:
    """All words must occur, numbers are not searched, how many rows are left is told, and nothing is lost."""
    driver = visit("customers")
    everything = rows(driver, 1)
    field = driver.find_element(By.CSS_SELECTOR, "#found-1 input[type=search]")
    one, other = next(text for text in everything if text.count(", ") == 1).split(", ")
    field.send_keys(f"{other.upper()}, {one}")
    left = rows(driver, 1)
    assert left == [text for text in everything if one in text and other in text]
    assert 0 < len(left) < len(everything)
    assert f"{len(left)} of {len(everything)} rows" in driver.find_element(By.CSS_SELECTOR, "[role=status]").text
    field.clear()
    field.send_keys("no such item")
    assert rows(driver, 1) == []
    for _ in "no such item":
        field.send_keys(Keys.BACKSPACE)
    assert rows(driver, 1) == everything
    assert driver.find_element(By.CSS_SELECTOR, "label[for=filter-1]").text == "Show only rows with"


def test_the_keyboard_reaches_everything(visit) -> None:
    """The first stop is the link past the contents; tables that are too wide can be reached and moved."""
    driver = visit("customers")
    driver.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    first = driver.switch_to.active_element
    assert first.text == "Skip to the report"
    first.send_keys(Keys.ENTER)
    assert driver.switch_to.active_element.get_attribute("id") == "main"
    stops = driver.execute_script("return [...document.querySelectorAll('.wide')].map(one => one.tabIndex)")
    assert set(stops) == {0}


@pytest.mark.parametrize(("name", "scheme"), [*((name, "light") for name in PAGES), ("simulated", "dark")])
def test_axe_finds_no_barrier(visit, axe: str, name: str, scheme: str) -> None:
    """Names, roles, landmarks, headings, tables and contrast, on a light and on a dark screen."""
    driver = visit(name)
    driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    try:
        paper = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(255, 255, 255)") is (scheme == "light")
        # By the debugger, since the page's own policy lets no other script run.
        driver.execute_cdp_cmd("Runtime.evaluate", {"expression": axe})
        found = driver.execute_async_script("const done = arguments[0]; axe.run().then(found => done(found))")
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
    assert len(found["passes"]) > 20


@pytest.mark.parametrize("width", [320, 390, 1100])
def test_a_narrow_screen_scrolls_one_way_only(visit, width: int) -> None:
    """What is wide is moved within its own frame."""
    driver = visit("nasty")
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600},
    )
    try:
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_print_has_everything(visit, tmp_path) -> None:
    """Every ε, every row although some are filtered out, every part, and what a person must fill in."""
    driver = visit("customers")
    everything = rows(driver, 1)
    driver.find_element(By.CSS_SELECTOR, "#found-1 input[type=search]").send_keys("no such item")
    assert rows(driver, 1) == []
    text = words_of(printed(driver), tmp_path)
    told = set(re.findall(r"ε = [\d.]+", driver.find_element(By.TAG_NAME, "main").text))
    expected = {f"ε = {epsilon}" for epsilon in (*SPENT, "1", "3", "1.875", "1.125", "0.1", "0.4")}
    assert expected <= told
    flat, without_blanks = " ".join(text.split()), "".join(text.split())
    assert [epsilon for epsilon in told if epsilon.replace(" ", "") not in without_blanks] == []
    first = text[: text.index("What goes together", text.index("Itemsets of top.json"))]
    assert all(re.search(rf"^\s*{rank}\s+\S", first, re.MULTILINE) for rank in range(1, len(everything) + 1))
    assert flat.count("To be filled in by a") >= len(WANTED)
    titles = [heading.text for heading in driver.find_elements(By.CSS_SELECTOR, "h2")]
    assert len(titles) > 20
    assert [title for title in titles if title not in flat] == []
    assert all(" ".join(question.text.split()[:4]) in flat for question in QUESTIONS)


def test_heads_of_tables_are_repeated_in_print(visit, tmp_path) -> None:
    """On every page that a table goes on to: a column without its name is a riddle."""
    driver = visit("simulated")
    text = words_of(printed(driver), tmp_path)
    with_rows = [page for page in text.split("\f") if re.search(r"^\s*\d+\s.*\d to \d", page, re.MULTILINE)]
    assert with_rows
    assert all("95 % interval" in page for page in with_rows)


def test_harmful_labels_are_shown_as_text(visit) -> None:
    """They look as a screen shows them elsewhere, and nothing of them runs."""
    driver = visit("nasty")
    shown = [element.text for element in driver.find_elements(By.CSS_SELECTOR, "#found-1 tbody bdi")]
    assert [items_text((label,)) for label in NASTY] == shown[: len(NASTY)]
    assert driver.execute_script("return document.querySelectorAll('img, b, iframe').length") == 0


def test_the_policy_stops_what_is_put_in(visit, browser) -> None:
    """A script that somebody adds to the page later does not run; the browser says why."""
    driver = visit("customers")
    driver.execute_script(
        "const added = document.createElement('script'); added.textContent = 'window.added = 1';"
        "document.body.append(added)"
    )
    assert driver.execute_script("return window.added") is None
    messages = browser.get_log("browser")
    assert messages
    assert all("Content Security Policy" in json.dumps(message) for message in messages)


def test_pictures_can_be_kept(visit, tmp_path) -> None:
    """Each part has a picture; PRIVMINE_PICTURES names a folder in which they stay."""
    driver = visit("customers")
    folder = Path(os.environ.get("PRIVMINE_PICTURES") or tmp_path)
    folder.mkdir(exist_ok=True)
    parts = driver.find_elements(By.CSS_SELECTOR, "main > section")
    assert len(parts) > 20
    for part in parts:
        picture = part.screenshot_as_png
        assert picture.startswith(b"\x89PNG")
        (folder / f"{part.get_attribute('id')}.png").write_bytes(picture)
    (folder / "report.pdf").write_bytes(printed(driver))
