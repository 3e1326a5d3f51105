"""`privmine convert`."""

from __future__ import annotations

import re
import shlex
from functools import partial
from pathlib import Path
from typing import Final

import rich_click as click

from privmine.cli.data_options import DataOptions, data_options
from privmine.cli.screen import progress
from privmine.errors import InputError
from privmine.io.readers.options import LAYOUTS
from privmine.io.writers.destinations import Destination, target, write
from privmine.io.writers.sparse_out import ITEM, ITEMS, TRANSACTION
from privmine.io.writers.text_out import texts
from privmine.model import Universe
from privmine.store.disk import SUFFIX

#: The options that read what was written in a layout. In a long table an empty transaction is a row without an item.
_READ_BY: Final = {
    "long": ("--layout", "long", "--transaction", TRANSACTION, "--item", ITEM, "--drop-missing"),
    "list": ("--layout", "list", "--item", ITEMS),
    "one-hot": ("--layout", "one-hot"),
    "baskets": ("--layout", "baskets"),
    "fimi": ("--layout", "fimi"),
}


_copy = partial(click.option, panel="The copy")


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(), metavar="[DATA]... OUT")
@_copy(
    "--to",
    "layout_of_copy",
    type=click.Choice((*LAYOUTS, "store")),
    metavar="LAYOUT",
    help="The layout of OUT: one that --layout knows.  [default: the first that its format has]",
)
@_copy("--force", is_flag=True, help="Replace OUT if it exists.")
@data_options(units=True)
def convert(paths: tuple[str, ...], layout_of_copy: str | None, force: bool, reading: DataOptions) -> None:
    """Copy the transactions of DATA to OUT, in another format or layout.

    The end of OUT's name tells its format: .csv, .tsv, .parquet, .jsonl, .txt (basket lines) or .dat (FIMI text); .gz
    after it compresses text. The copy has every transaction with its items, and no other columns. It is exact, so it
    is as private as DATA. With a query there is no DATA: the copy is of what it gives.

    A name that ends in .privmine makes a store on disk, which opens without parsing and may be larger than memory.
    Only such a copy keeps who is protected (--unit, --merge-by) and the item universe (--items).

    Example:  privmine convert orders.csv orders.parquet --transaction order_id --item product --to list
    """
    data = paths[:-1]
    queried = "sql" in reading.given or bool(reading.readers)
    if not paths or bool(data) == queried:
        raise InputError(
            "Name the source and the copy: privmine convert orders.csv orders.parquet. With a query, name OUT only."
        )
    place = target(paths[-1], layout_of_copy)
    _refuse_units(reading, place)
    reading.spare(data, *place.files)
    taken = next(filter(Path.exists, place.files), None)
    if taken is not None and not force:
        raise InputError(f"{taken} exists. Choose another name, or add --force to replace it.")
    transactions = reading.read(data)
    with progress("Writing the copy …"):
        files = write(transactions, place.path, layout=place.layout)
    click.echo(f"Written: {' and '.join(map(str, files))}")
    click.echo(f"To mine it: privmine mine {shlex.join(_read_by(place, files, transactions.counted))}")
    click.echo(
        "privmine: the copy is exact and as private as the data. Nothing in it is protected. Only you can read it.",
        err=True,
    )


def _refuse_units(reading: DataOptions, place: Destination) -> None:
    """Say why only a store on disk has the options that `mine` has for units."""
    given = next((name for name in ("unit", "max_baskets", "merge_by") if name in reading.given), None)
    if given is not None and place.suffix != SUFFIX:
        option = f"--{given.replace('_', '-')}"
        raise InputError(
            f"convert does not know units in this format: the copy has every transaction, and no column for the unit. "
            f"Drop {option}. To protect units, mine DATA itself, or end the copy's name in {SUFFIX}."
        )


def _read_by(place: Destination, files: tuple[Path, ...], universe: Universe) -> list[str]:
    """The arguments that read a copy, without a guess."""
    if place.suffix == SUFFIX:
        return [str(place.path)]
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
