"""`privmine show`."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from privmine.cli.release_screen import show_release
from privmine.errors import InputError
from privmine.files import spare
from privmine.release import load
from privmine.release.release_files import check_output, to_json
from privmine.release.spreadsheets import beside


@click.command()
@click.argument("release", type=click.Path(path_type=Path))
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="Save it to another .csv, .json, .parquet, .xlsx or .html file.",
)
@click.option(
    "--plain",
    is_flag=True,
    help="Save a .csv that any program opens as it is; the receipt is in a file beside it.",
)
@click.option("--force", "overwrite", is_flag=True, help="Replace the file of --output if it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print the release as JSON.")
def show(release: Path, output: Path | None, plain: bool, overwrite: bool, as_json: bool) -> None:
    """Show RELEASE again, or save it as another kind of file.

    RELEASE is a file that `privmine mine` saved. Nothing is drawn anew, so this touches no data and costs no budget.

    Example:  privmine show top100.csv -o top100.xlsx
    """
    if plain and output is None:
        raise InputError("A plain file needs a name: --output FILE.csv.")
    if output is not None:
        places = [output, *([beside(output)] if plain else [])]
        for place in places:
            spare(place, [release, beside(release)])
        check_output(output, overwrite, plain=plain)
    loaded = load(release)
    if output is not None:
        loaded.save(output, plain=plain)
    if as_json:
        click.echo(to_json(loaded), nl=False)
    else:
        show_release(loaded, output)
