"""`privmine plot`."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from privmine.cli.screen import console, text
from privmine.errors import InputError
from privmine.files import spare
from privmine.release import load
from privmine.release.plots import KINDS, lay_out
from privmine.release.plots.pictures import check_picture, save_picture


@click.command()
@click.argument("release", type=click.Path(path_type=Path))
@click.option(
    "--kind",
    default="support",
    show_default=True,
    help=f"What to draw: {', '.join(KINDS)}.",
    shell_complete=lambda _context, _option, begun: [kind for kind in KINDS if kind.startswith(begun)],
)
@click.option("--output", "-o", required=True, type=click.Path(path_type=Path), help="The picture: .png, .svg or .pdf.")
@click.option("--top", type=int, help="How many itemsets, items or rules to show at most.")
@click.option("--level", type=float, default=0.95, show_default=True, help="The level of the intervals.")
@click.option("--force", "overwrite", is_flag=True, help="Replace the picture if it exists.")
def plot(release: Path, kind: str, output: Path, top: int | None, level: float, overwrite: bool) -> None:
    """Draw RELEASE: supports, items that go together, or rules.

    RELEASE is a file that `privmine mine` saved. A picture is drawn from what is released already: it touches no data
    and costs no budget.

    Example:  privmine plot top100.csv --kind rules -o rules.svg
    """
    check_new_picture(output, [release], overwrite)
    drawing = lay_out(load(release), kind, top=top, level=level)
    save_picture(output, drawing.size, drawing.draw)
    console().print(f"[bold]Saved:[/] {text(output)}")


def check_new_picture(output: Path, sources: list[Path], overwrite: bool) -> None:
    """Refuse a place that is no picture's, and one that is taken."""
    spare(output, sources)
    check_picture(output)
    if output.exists() and not overwrite:
        raise InputError(f"{output} exists. Choose another name, or replace it with --force.")
