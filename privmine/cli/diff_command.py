"""`privmine diff`."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from privmine.cli.plot_command import check_new_picture
from privmine.cli.screen import console, print_json, print_whole_words, table, text
from privmine.release import load
from privmine.release.comparison import Changes, between, signed
from privmine.release.display import items_text
from privmine.release.plots.changes import changes
from privmine.release.plots.pictures import save_picture

#: How many itemsets the screen shows; --json has all.
SHOWN = 50


@click.command()
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Draw the changes: .png, .svg or .pdf.")
@click.option("--force", "overwrite", is_flag=True, help="Replace the picture if it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def diff(first: Path, second: Path, picture: Path | None, overwrite: bool, as_json: bool) -> None:
    """Tell what changed from FIRST to SECOND, two releases.

    Both are files that `privmine mine` saved. Supports that differ by no more than noise and chance explain have not
    changed as far as anybody can tell. No data is touched and no budget is spent.

    Example:  privmine diff may.csv june.csv --plot changes.svg
    """
    if picture is not None:
        check_new_picture(picture, [first, second], overwrite)
    found = load(first).compare(load(second))
    if picture is not None:
        drawing = changes(found, 25)
        save_picture(picture, drawing.size, drawing.draw)
    if as_json:
        print_json(found.to_dict())
        return
    _show(found)
    if picture is not None:
        console().print(f"[bold]Saved:[/] {text(picture)}")


def _show(found: Changes) -> None:
    out = console()
    for line in found.lines():
        out.print(text(line))
    rows = table("itemset", "before", "after", "change", "95 % interval", "", right=("before", "after", "change"))
    for change in found.changes[:SHOWN]:
        rows.add_row(
            text(items_text(change.items)),
            *("–" if value is None else f"{value:.4f}" for value in (change.before, change.after)),
            signed(change.change),
            between(change),
            text(change.meaning),
        )
    if len(found):
        out.print()
        print_whole_words(rows)
    if len(found) > SHOWN:
        out.print(f"… {len(found) - SHOWN:,} more; --json gives all.")
    if not found.private:
        out.print("[bold red]NOT PRIVATE:[/] of a simulated release, for research only.")
