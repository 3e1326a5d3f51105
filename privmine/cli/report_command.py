"""`privmine report`."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from privmine.cli.screen import console, text
from privmine.errors import InputError
from privmine.files import spare, written
from privmine.ledger import Ledger
from privmine.release import load
from privmine.release.release_files import check_output
from privmine.release.signatures import read_signers, signed_by
from privmine.report.audit_verdicts import read_verdicts
from privmine.report.contents import Contents
from privmine.report.fill_ins import WANTED, Filled
from privmine.report.paid import NamedRelease, books_of
from privmine.report.report_page import now, page

_FORMATS = (".html",)


@click.command()
@click.argument("releases", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RELEASE...")
@click.option(
    "--ledger",
    metavar="FILE",
    help="The ledger that paid, a file or postgresql://…: adds all releases of the dataset, and what is left.",
)
@click.option(
    "--audit",
    "audits",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="What `privmine audit --json` wrote; may be repeated.",
)
@click.option(
    "--signer",
    "signers",
    type=click.Path(path_type=Path),
    metavar="KEYS",
    help="The public key that you trust, or a list of them: checks the signatures of the releases.",
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
    signers: Path | None,
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
    named = [_named(path, name, signers) for path, name in _names(releases).items()]
    books = books_of(named, None if ledger is None else Ledger(ledger))
    save_text(output, page(Contents(books, now(), filled, tuple(verdicts))))
    for doubt in books.doubts:
        click.echo(f"privmine: warning: {text(doubt)}", err=True)
    out = console()
    if filled.missing:
        out.print(f"To be filled in by a person: {', '.join(filled.missing)} (--fill NAME=TEXT).")
    out.print(f"[bold]Saved:[/] {text(output)}")


def _names(paths: tuple[Path, ...]) -> dict[Path, str]:
    """The names of files, with as much of the path as tells them apart."""
    if len(set(paths)) < len(paths):
        raise InputError("A release was named twice. Name each once.")
    short = len({path.name for path in paths}) == len(paths)
    return {path: path.name if short else str(path) for path in paths}


def _named(path: Path, name: str, signers: Path | None) -> NamedRelease:
    release = load(path)
    if signers is None:
        return NamedRelease(name, release)
    read_signers(signers)  # keys that cannot be read are no doubt about the release
    try:
        return NamedRelease(name, release, f"{name} is unchanged since {signed_by(path, signers)} signed it.")
    except InputError as error:
        return NamedRelease(name, release, str(error), unchanged=False)


def save_text(path: Path, content: str) -> None:
    """Write a file whole or not at all."""
    try:
        with written(path, public=True) as file:
            file.write(content.encode())
    except OSError as error:
        raise InputError(f"{path} could not be written: {error.strerror}.") from None
