"""Releases and a ledger for the tests of reports: customers with orders, and labels that mean harm."""

from __future__ import annotations

import random
from pathlib import Path

import pandas as pd
from attrs import evolve

import privmine as pm

#: Labels that look like scripts, markup and comments, turn the direction around, or hide themselves.
NASTY = (
    "<script>alert(1)</script>",
    "</table><img src=x onerror=alert(2)>",
    "bread\u202eklim\u202c",
    "שוקולד",
    "a\u200bb",
    "--><b>bold</b>",
    "\"quoted\" & 'single'",
    "${alert(3)} {{4}}",
    "x" * 300,
)
PLAIN = ("bread", "butter", "milk", "coffee", "apples", "pasta")
UNIT = "customer_id"
SPENT = ("0.25", "0.5", "0.125")


def orders(seed: int = 5) -> pm.Transactions:
    """3,000 orders of 1,000 customers, of whom two orders count."""
    draw = random.Random(seed)  # noqa: S311 - made-up orders
    rows = []
    for order in range(3000):
        customer, habits = (
            f"c{draw.randrange(1000)}",
            draw.sample((PLAIN[:2], PLAIN[2:4], PLAIN[4:]), draw.choice((1, 2))),
        )
        rows += [(order, customer, label) for habit in habits for label in habit if draw.random() < 0.9]
    frame = pd.DataFrame(rows, columns=["order_id", UNIT, "product"])
    return pm.read(
        frame, transaction="order_id", item="product", items=sorted(PLAIN), unit=UNIT, max_baskets=2, layout="long"
    )


def charged(folder: Path) -> tuple[Path, Path]:
    """A release of customers, and a ledger in which three others were charged before it."""
    ledger = folder / "budget.db"
    data = orders()
    pm.Ledger(ledger).init("orders", 3, unit=UNIT)
    for number, epsilon in enumerate(SPENT):
        pm.mine(data, k=3, epsilon=epsilon, ledger=ledger, dataset="orders").save(folder / f"earlier{number}.json")
    file = folder / "top.json"
    pm.mine(data, k=20, epsilon=1, downward_closed=True, ledger=ledger, dataset="orders").save(file)
    return file, ledger


def harmful(file: Path, made: Path) -> Path:
    """The release of a file with labels that mean harm, in a file of its own."""
    release = pm.load(file)
    sets = [(label,) for label in NASTY] + [(NASTY[0], label) for label in NASTY[1:]]
    rows = tuple(evolve(found, items=items) for found, items in zip(release, sets, strict=False))
    evolve(release, itemsets=rows).save(made)
    return made
