"""What was spent of each dataset over time, as bars on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from privmine.cli.screen import console, table, text
from privmine.exact import amount
from privmine.ledger import Entry

_WIDTH = 40


def show_chart(entries: Sequence[Entry]) -> None:
    """One bar a day on which a dataset was charged: the ε spent until then, of all that was ever allowed by then."""
    for dataset in dict.fromkeys(entry.dataset for entry in entries):
        days = _days([entry for entry in entries if entry.dataset == dataset])
        largest = max(max(spent, total) for spent, total in days.values())
        rows = table("day (UTC)", "spent ε", "of", "")
        for day, (spent, total) in days.items():
            full, room = (round(_WIDTH * float(value / largest)) for value in (spent, max(spent, total)))
            rows.add_row(day, amount(spent), amount(total), "█" * full + "░" * (room - full))
        console().print(f"[bold]{text(dataset)}[/]")
        console().print(rows)


def _days(entries: Sequence[Entry]) -> dict[str, tuple[Fraction, Fraction]]:
    """By day what was spent and allowed until its end, for the people who are in the dataset from the start."""
    spent = total = Fraction(0)
    days: dict[str, tuple[Fraction, Fraction]] = {}
    for entry in entries:
        value = entry.epsilon or Fraction(0)
        if entry.event == "init":
            total = value
        elif entry.event == "renew":
            total = spent + value
        elif entry.event == "charge" and not entry.part:
            spent += value
        days[f"{entry.time:%Y-%m-%d}"] = (spent, total)
    return days
