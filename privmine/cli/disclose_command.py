"""`privmine disclose`."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from privmine.cli.report_command import save_text
from privmine.cli.screen import console, text
from privmine.files import spare
from privmine.ledger import Ledger
from privmine.release import load
from privmine.release.release_files import check_output
from privmine.report.disclosure import disclosure_of
from privmine.report.paid import NamedRelease, books_of

_FORMATS = (".yaml", ".yml")


@click.command()
@click.argument("release", type=click.Path(path_type=Path))
@click.option(
    "--ledger",
    metavar="FILE",
    help="The ledger that paid, a file or postgresql://…: adds what all releases of the dataset cost.",
)
@click.option("--output", "-o", required=True, type=click.Path(path_type=Path), help="Where to write it: a .yaml file.")
@click.option("--force", "overwrite", is_flag=True, help="Replace the file of --output if it exists.")
def disclose(release: Path, ledger: str | None, output: Path, overwrite: bool) -> None:
    """Write a draft about RELEASE for the registry of differential privacy deployments.

    It has the fields of the registry, filled in from the receipt and the ledger. What only a person knows is marked and
    listed. No data is touched and no budget is spent.

    Example:  privmine disclose top20.json --ledger budget.db -o deployment.yaml
    """
    spare(output, [release, *([ledger] if ledger else [])])
    check_output(output, overwrite, _FORMATS)
    books = books_of([NamedRelease(release.name, load(release))], None if ledger is None else Ledger(ledger))
    draft = disclosure_of(books)
    save_text(output, draft.to_yaml())
    for doubt in books.doubts:
        click.echo(f"privmine: warning: {text(doubt)}", err=True)
    out = console()
    out.print("To be filled in or checked by a person:")
    for path in draft.open_fields:
        out.print(f"  {text(path)}")
    out.print(f"[bold]Saved:[/] {text(output)}")
