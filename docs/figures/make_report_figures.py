"""Makes the pictures of docs/report.md:  python docs/figures/make_report_figures.py [FOLDER].

Needs Debian's chromium and chromium-driver, and `pip install selenium`. The release is a private one of made-up orders,
so that the numbers differ a little each time.
"""

from __future__ import annotations

import base64
import random
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

import privmine as pm
from privmine.report import report_html

HABITS = (
    ("bread", "butter"),
    ("pasta", "tomatoes", "parmesan"),
    ("milk", "cereal"),
    ("coffee",),
    ("apples", "bananas"),
)
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync"
)


def report(folder: Path) -> Path:
    """A report of a release of customers, with three charges before it."""
    draw = random.Random(1)  # noqa: S311
    orders = folder / "orders.csv"
    with orders.open("w", encoding="utf-8") as file:
        print("order_id,customer_id,product", file=file)
        for order in range(20_000):
            customer = min(int(draw.expovariate(1) * 4000), 15_000)
            for habit in draw.sample(HABITS, 2):
                for product in habit:
                    if draw.random() < 0.9:
                        print(f"{order},{customer},{product}", file=file)
    items = sorted(product for habit in HABITS for product in habit)
    columns = {"transaction": "order_id", "item": "product", "unit": "customer_id", "max_baskets": 2}
    baskets = pm.read(orders, items=items, **columns)
    ledger = pm.Ledger(folder / "budget.db")
    ledger.init("orders-2026", 3, unit="customer_id")
    for epsilon in ("0.25", "0.5", "0.125"):
        pm.mine(baskets, k=10, epsilon=epsilon, ledger=ledger, dataset="orders-2026")
    release = pm.mine(baskets, k=30, epsilon=1, downward_closed=True, ledger=ledger, dataset="orders-2026")
    page = folder / "report.html"
    page.write_text(report_html({"top30.json": release}, ledger), encoding="utf-8")
    return page


def main(folder: Path) -> None:
    with TemporaryDirectory() as place:
        page = report(Path(place))
        options = webdriver.ChromeOptions()
        for flag in (*FLAGS.split(), f"--user-data-dir={place}/profile", "--window-size=1000,1300"):
            options.add_argument(flag)
        driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        for name, scheme, anchor in (("first", "light", "short"), ("officer", "dark", "composition")):
            driver.execute_cdp_cmd(
                "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
            )
            driver.get(page.as_uri())
            top = driver.execute_script(
                "return document.getElementById(arguments[0]).getBoundingClientRect().top + scrollY", anchor
            )
            clip = {"x": 0, "y": top + (0 if name == "first" else 20), "width": 1000, "height": 940, "scale": 0.8}
            made = driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
            (folder / f"report-{name}.png").write_bytes(base64.b64decode(made["data"]))
        driver.quit()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
