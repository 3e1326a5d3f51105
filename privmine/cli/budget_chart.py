"""What was spent of each dataset over time, as bars on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from privmine.cli.screen import console, table, text
from privmine.exact import amount
from privmine.ledger import Entry

_WIDTH = 40


def show_chart(entries: Sequence[Entry]) -> None:
    """One bar a day on which something happened: the ε spent until then, of all that was ever allowed by then.

    People who came later have bars of their own. Where a budget adds up ρ, so do its bars.
    """
    opened = [entry for entry in entries if entry.event == "init" or (entry.part and entry.event == "grow")]
    for opening in opened:
        days = _days([entry for entry in entries if entry.dataset == opening.dataset], opening)
        largest = max(max(spent, total) for spent, total in days.values())
        rows = table("day (UTC)", "spent ε" if opening.rho is None else "spent ρ", "of", "")
        for day, (spent, total) in days.items():
            full, room = (round(_WIDTH * float(value / largest)) for value in (spent, max(spent, total)))
            rows.add_row(day, amount(spent), amount(total), "█" * full + "░" * (room - full))
        label = f"{opening.dataset} + {opening.part}" if opening.part else opening.dataset
        console().print(f"[bold]{text(label)}[/]")
        console().print(rows)


def _days(entries: Sequence[Entry], opening: Entry) -> dict[str, tuple[Fraction, Fraction]]:
    """By day what was spent and allowed until its end, for the people whose budget an entry opened."""
    spent, total = Fraction(0), _counted(opening)
    days: dict[str, tuple[Fraction, Fraction]] = {}
    for entry in entries[entries.index(opening) :]:
        value = _counted(entry)
        if entry.event == "renew":
            total = spent + value
        elif entry.event == "charge" and entry.part in ("", opening.part):
            spent += value
        days[f"{entry.time:%Y-%m-%d}"] = (spent, total)
    return days


def _counted(entry: Entry) -> Fraction:
    return (entry.epsilon if entry.rho is None else entry.rho) or Fraction(0)
