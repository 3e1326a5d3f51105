"""`privmine columns`."""

from __future__ import annotations

from typing import Any

import rich_click as click

from privmine.cli.screen import console, print_json, text
from privmine.io.readers.headers import headers
from privmine.io.readers.options import ReadOptions

_MAYBE = (
    "privmine: the first line of {path} may be a row of data rather than names. Then add a line with names, or pass "
    "--layout baskets to `privmine mine`."
)
_MAYBE_OF_A_SHEET = (
    "privmine: the first line of the sheet {sheet!r} of {path} may be a title or a row of data, not names. Names "
    "of columns stand in the first line: delete what is above them, or add them."
)
_PADDED = "privmine: blanks at an end and line breaks belong to a name. Pass it with them: {names}."


@click.command()
@click.argument("file", type=click.Path())
@click.option("--sheet", metavar="NAME", help="The sheet of an Excel workbook.  [default: all]")
@click.option("--separator", metavar="CHAR", help="The separator between the cells of a line, or `tab`.")
@click.option("--encoding", metavar="NAME", help="The encoding of a text file, if it is not UTF-8.")
@click.option("--json", "as_json", is_flag=True, help="Print the names as JSON.")
def columns(file: str, as_json: bool, **options: Any) -> None:
    """Show the names of the columns of FILE, so that you can name them in --transaction, --item and --unit.

    Of a workbook, the columns of every sheet are shown. What is shown comes from your file as it is, and nothing of it
    is protected.

    Example:  privmine columns orders.csv
    """
    found = headers(file, ReadOptions(**options))
    for header in found:
        if not header.certain:
            maybe = _MAYBE_OF_A_SHEET if header.sheet else _MAYBE
            click.echo(maybe.format(path=header.path, sheet=header.sheet), err=True)
    if as_json:
        print_json([{"sheet": header.sheet or None, "columns": header.columns} for header in found])
        return
    out = console()
    for header in found:
        if header.sheet:
            out.print(f"[bold]Sheet:[/] {text(header.sheet)}")
        for name in header.columns:
            out.print(text(name))
    names = [name for header in found for name in header.columns]
    # Bash and Zsh understand $'\n' as a line break.
    padded = [
        repr(name) if name.isprintable() else f"${name!r}"
        for name in names
        if name != name.strip() or not name.isprintable()
    ]
    if padded:
        click.echo(_PADDED.format(names=", ".join(dict.fromkeys(padded))), err=True)
