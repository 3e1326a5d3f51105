"""`privmine report`."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from privmine.cli.screen import console, text
from privmine.errors import InputError
from privmine.files import spare, written
from privmine.ledger import Ledger
from privmine.release import Release, load
from privmine.release.release_files import check_output
from privmine.report.audit_verdicts import read_verdicts
from privmine.report.contents import Contents
from privmine.report.fill_ins import WANTED, Filled
from privmine.report.paid import NamedRelease, books_of
from privmine.report.report_page import now, page

_FORMATS = (".html",)


@click.command()
@click.argument("releases", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RELEASE...")
@click.option("--ledger", help="The ledger that paid: adds all releases of the dataset, and what is left.")
@click.option(
    "--audit",
    "audits",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="What `privmine audit --json` wrote; may be repeated.",
)
@click.option(
    "--fill",
    "fills",
    multiple=True,
    metavar="NAME=TEXT",
    help=f"An answer that only a person has; may be repeated. Names: {', '.join(WANTED)}.",
)
@click.option("--output", "-o", required=True, type=click.Path(path_type=Path), help="Where to write it: a .html file.")
@click.option("--force", "overwrite", is_flag=True, help="Replace the file of --output if it exists.")
def report(
    releases: tuple[Path, ...],
    ledger: str | None,
    audits: tuple[Path, ...],
    fills: tuple[str, ...],
    output: Path,
    overwrite: bool,
) -> None:
    """Write a report of RELEASEs for managers and privacy officers, as one page that needs no network.

    It says what was found, how far to trust it, who is protected and what ε means in odds. Then it has all that a
    data-protection assessment asks, in a fixed order. What only a person knows is marked. No data is touched and no
    budget is spent.

    Example:  privmine report top20.json --ledger budget.db -o report.html
    """
    filled = Filled.parse(fills)
    spare(output, [*releases, *audits, *([ledger] if ledger else [])])
    check_output(output, overwrite, _FORMATS)
    verdicts = [verdict for path in audits for verdict in read_verdicts(path)]
    named = [NamedRelease(name, release) for name, release in loaded(releases).items()]
    books = books_of(named, None if ledger is None else Ledger(ledger))
    save_text(output, page(Contents(books, now(), filled, tuple(verdicts))))
    for doubt in books.doubts:
        click.echo(f"privmine: warning: {text(doubt)}", err=True)
    out = console()
    if filled.missing:
        out.print(f"To be filled in by a person: {', '.join(filled.missing)} (--fill NAME=TEXT).")
    out.print(f"[bold]Saved:[/] {text(output)}")


def loaded(paths: tuple[Path, ...]) -> dict[str, Release]:
    """Releases by the names of their files, with as much of the path as tells them apart."""
    if len(set(paths)) < len(paths):
        raise InputError("A release was named twice. Name each once.")
    short = len({path.name for path in paths}) == len(paths)
    return {path.name if short else str(path): load(path) for path in paths}


def save_text(path: Path, content: str) -> None:
    """Write a file whole or not at all."""
    try:
        with written(path, public=True) as file:
            file.write(content.encode())
    except OSError as error:
        raise InputError(f"{path} could not be written: {error.strerror}.") from None
