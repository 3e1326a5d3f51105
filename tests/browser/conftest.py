"""A real browser, headless: Debian's chromium and chromium-driver."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import pytest
from report_releases import charged, harmful

import privmine as pm
from privmine.report import report_html

#: Other runs have no selenium and leave these tests out. `tox -e browser` then collects none, which is an error.
collect_ignore_glob = [] if find_spec("selenium") else ["test_*.py"]

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1100,1400",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without a browser a run of these tests must fail; other runs leave them out by the mark."""
    here = Path(__file__).parent
    for item in items:
        if here in Path(item.path).parents:
            item.add_marker(pytest.mark.browser)


def program(*names: str) -> str:
    """Where a program is; a sentence on how it is installed where it is not."""
    for name in names:
        if found := shutil.which(name):
            return found
    raise AssertionError(f"There is no {names[0]}: apt-get install chromium chromium-driver poppler-utils.")


@pytest.fixture(scope="session")
def browser(tmp_path_factory) -> Iterator[object]:
    """One Chromium for all tests, with a profile of its own; its logs are kept."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = program("chromium")
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(program("chromedriver")))
    yield driver
    driver.quit()


@pytest.fixture(scope="session")
def pages(tmp_path_factory) -> dict[str, Path]:
    """Reports: of customers with three earlier charges, of harmful labels, of several releases, and of a simulation."""
    folder = tmp_path_factory.mktemp("pages")
    file, ledger = charged(folder)
    nasty = harmful(file, folder / "nasty.json")
    simulated = folder / "simulated.json"
    pm.mine(pm.groceries(), k=10, epsilon=1, simulate=True, seed=1, downward_closed=True).save(simulated)
    book = pm.Ledger(ledger)
    made = {
        "customers": report_html({file.name: pm.load(file)}, book),
        "nasty": report_html({nasty.name: pm.load(nasty)}, book),
        "several": report_html({path.name: pm.load(path) for path in (file, folder / "earlier0.json")}, book),
        "simulated": report_html({simulated.name: pm.load(simulated)}),
    }
    paths = {name: folder / f"{name}.html" for name in made}
    for name, html in made.items():
        paths[name].write_text(html, encoding="utf-8")
    return paths


@pytest.fixture
def visit(browser, pages) -> Iterator[Callable[[str], object]]:
    """Open a report; when the test ends, no console message was written and no request left the page."""
    from selenium.common.exceptions import NoAlertPresentException

    browser.get_log("browser")
    browser.get_log("performance")

    def opened(name: str) -> object:
        browser.get(pages[name].as_uri())
        return browser

    yield opened
    with pytest.raises(NoAlertPresentException):
        _ = browser.switch_to.alert.text
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"}
    assert {address.partition("#")[0] for address in asked} <= {path.as_uri() for path in pages.values()}


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core, which a package brings along."""
    return files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
