"""`privmine convert`."""

from __future__ import annotations

import re
import shlex
from functools import partial
from pathlib import Path
from typing import Final

import rich_click as click

from privmine.cli.data import DataOptions, data_options
from privmine.cli.screen import progress
from privmine.errors import InputError
from privmine.io.asked import LAYOUTS
from privmine.io.sparse_out import ITEM, ITEMS, TRANSACTION
from privmine.io.text_out import texts
from privmine.io.writers import Target, target, write
from privmine.model import Universe

#: The options that read what was written in a layout. In a long table an empty transaction is a row without an item.
_READ_BY: Final = {
    "long": ("--layout", "long", "--transaction", TRANSACTION, "--item", ITEM, "--drop-missing"),
    "list": ("--layout", "list", "--item", ITEMS),
    "one-hot": ("--layout", "one-hot"),
    "baskets": ("--layout", "baskets"),
    "fimi": ("--layout", "fimi"),
}


def _refuse_unit(_: click.Context, option: click.Parameter, value: str | None) -> None:
    """Say why there is no such option, which `mine` has."""
    if value is not None:
        raise InputError(
            f"convert knows no units: the copy has every transaction, and no column that tells whose it is. Drop "
            f"{option.opts[0]}, and to protect units mine DATA itself."
        )


_copy = partial(click.option, panel="The copy")
_no_unit = partial(click.option, hidden=True, expose_value=False, callback=_refuse_unit)


@click.command()
@click.argument("paths", nargs=-1, metavar="[DATA] OUT")
@_copy(
    "--to",
    "layout_of_copy",
    type=click.Choice(LAYOUTS),
    metavar="LAYOUT",
    help="The layout of OUT, one of those that --layout names.  [default: the first that its format has]",
)
@_copy("--force", is_flag=True, help="Replace OUT if it exists.")
@data_options(units=False)
@_no_unit("--unit")
@_no_unit("--max-baskets")
@_no_unit("--merge-by")
def convert(paths: tuple[str, ...], layout_of_copy: str | None, force: bool, reading: DataOptions) -> None:
    """Copy the transactions of DATA to OUT, in another format or layout.

    The end of OUT's name tells its format: .csv, .tsv, .parquet, .jsonl, .txt (basket lines) or .dat (FIMI text); .gz
    after it compresses text. The copy has every transaction with its items, and no other columns. It is exact, so it
    is as private as DATA. With --sql there is no DATA: the copy is of what the query gives.

    Example:  privmine convert orders.csv orders.parquet --transaction order_id --item product --to list
    """
    if len(paths) != (1 if "sql" in reading.given else 2):
        raise InputError(
            "Name what to copy and where to: privmine convert orders.csv orders.parquet. With --sql name OUT alone."
        )
    data = None if "sql" in reading.given else paths[0]
    place = target(paths[-1], layout_of_copy)
    reading.spare(data, *place.files)
    taken = next(filter(Path.exists, place.files), None)
    if taken is not None and not force:
        raise InputError(f"{taken} exists; choose another name, or add --force to replace it.")
    transactions = reading.read(data)
    with progress("Writing the copy …"):
        files = write(transactions, place.path, layout=place.layout)
    click.echo(f"Written: {' and '.join(map(str, files))}")
    click.echo(f"To mine it: privmine mine {shlex.join(_read_by(place, files, transactions.universe))}")
    click.echo(
        "privmine: the copy is exact, and as private as the data: nothing in it is protected. Only you may read it.",
        err=True,
    )


def _read_by(place: Target, files: tuple[Path, ...], universe: Universe) -> list[str]:
    """The arguments that read a copy, without a guess."""
    separator = ("--separator", r"\t" if place.suffix == ".tsv" else ",") if place.layout == "baskets" else ()
    names = ("--names", str(files[1])) if len(files) > 1 else ()
    breaks = place.suffix in (".csv", ".tsv", ".txt") and any(re.search(r"[\r\n]", text) for text in texts(universe))
    return [
        str(place.path),
        *_READ_BY[place.layout],
        *separator,
        *(("--multiline-cells",) if breaks else ()),
        *names,
    ]
