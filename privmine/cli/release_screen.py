"""A release on the screen."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from privmine.cli.screen import console, print_whole_words, table, text
from privmine.release import Release
from privmine.release.display import DEFAULT_LEVEL, caveat, headline, interval_text, items_text, percent, whole


def show_release(release: Release, saved: Path | None) -> None:
    """A table, and the budget below it."""
    out = console()
    heading = f"{percent(DEFAULT_LEVEL)} interval"
    rows = table("rank", "itemset", "support", "count", heading, right=("rank", "support", "count", heading))
    for rank, (found, within) in enumerate(zip(release, release.intervals(), strict=True), start=1):
        rows.add_row(
            str(rank),
            text(items_text(found.items)),
            f"{found.support:.4f}",
            whole(found.count),
            interval_text(within),
        )
    out.print(f"[bold]{text(headline(release))}[/]\n")
    out.print(rows)
    if len(release) and caveat(release):
        out.print(f"[dim]{caveat(release)}[/]")
    for line in release.verdict.lines(release):
        out.print(f"[bold]•[/] {text(line)}")
    out.print()
    receipt = release.receipt
    _print_statements(out, receipt.head())
    out.print()
    charges = table(f"charge {receipt.definition.symbol}", "stage", "asked for", "mechanism")
    for charge in receipt.charges:
        stage = f"{charge.stage} ({charge.component})"
        charges.add_row(charge.cost.number, text(stage), text(charge.query), text(charge.mechanism + charge.caveat))
    print_whole_words(charges)
    _print_statements(out, receipt.foot())
    if saved is not None:
        out.print(f"[bold]Saved:[/] {text(saved)}")


def _print_statements(out: Console, lines: list[str]) -> None:
    for line in lines:
        subject, _, rest = line.partition(":")
        style = "bold red" if subject == "NOT PRIVATE" else "bold"
        out.print(f"[{style}]{text(subject)}:[/]{text(rest)}")
