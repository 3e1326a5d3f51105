"""The options that say how data is read: one set of them, for every command that reads data."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from functools import cached_property, partial, wraps
from glob import glob
from inspect import signature
from pathlib import Path
from typing import Any, Final, TypeAlias

import rich_click as click
from attrs import evolve, field, frozen

from privmine.cli.screen import progress
from privmine.errors import InputError
from privmine.files import at_home, spare
from privmine.io.asked import LAYOUTS, Asked
from privmine.io.read import read, read_asked
from privmine.model import Origin
from privmine.store.transactions import Transactions

Callback: TypeAlias = Callable[..., Any]

_data = partial(click.option, panel="The data")
_unit = partial(click.option, panel="Who is protected: one transaction, unless another unit is named")

_HOW_IT_IS_READ: Final = (
    _data("--transaction", metavar="COL", help="The column that tells which transaction a row belongs to."),
    _data("--item", metavar="COL", help="The column of the items, or of lists of items."),
    _data(
        "--layout",
        type=click.Choice(LAYOUTS),
        metavar="LAYOUT",
        help="long: a row for each item; list: a list in each row; one-hot: a column for each item; baskets: a basket "
        "in each line; fimi: numbers in each line.  [default: guessed, and told]",
    ),
    _data(
        "--items",
        metavar="FILE",
        help="The public item universe: text with one item a line, or a JSON list. Other items are left out.",
    ),
    _data("--names", metavar="FILE", help="Labels for items that are numbers, one a line, that of 0 first."),
    _data("--sql", metavar="QUERY", help="Read what a query of DuckDB gives, instead of a file."),
    _data(
        "--database",
        metavar="PLACE",
        help="Where the query runs: a file of SQLite or DuckDB, or postgresql://user@host/name.",
    ),
    _data("--separator", metavar="CHAR", help="What stands between the cells of a line."),
    _data("--encoding", metavar="NAME", help="How a text file is encoded, if it is not UTF-8."),
    _data("--multiline-cells", is_flag=True, help="Allow line breaks in cells in quotes instead of refusing them."),
    _data("--drop-missing", is_flag=True, help="Leave missing items out instead of refusing them."),
)
_WHOSE_IT_IS: Final = (
    _unit("--unit", metavar="COL", help="Protect all that a unit has: the column that tells whose a row is."),
    _unit(
        "--max-baskets",
        type=int,
        metavar="M",
        help="How many transactions of a unit count; noise grows in proportion.",
    ),
    _unit("--merge-by", metavar="COL", help="Protect all that a unit has by making it one transaction."),
)
#: How a tab is typed in most shells.
_TAB: Final = r"\t"
_NAMES: Final = frozenset(signature(read).parameters) - {"source"}
#: The options that are a source themselves.
_SOURCES: Final = ("sql", "database")


@frozen
class DataOptions:
    """How data is to be read, as the command line says it.

    Attributes:
        given: the options of `read` that were given.
    """

    given: Mapping[str, Any] = field(repr=False)

    def names_data(self, path: str | None) -> bool:
        """Whether there is a file or a query; options about data that is not there are refused."""
        if path is None and "sql" not in self.given and self.given:
            option = f"--{min(self.given).replace('_', '-')}"
            raise InputError(f"{option} tells how data is read, and none is named: add a file, or a query by --sql.")
        return path is not None or "sql" in self.given

    def spare(self, path: str | None, *targets: Path) -> None:
        """Refuse to write over anything that is read."""
        matches = glob(str(at_home(path or "")), recursive=True)  # noqa: PTH207 - the pattern may be absolute
        sources = [path, *matches, *(self.given.get(name) for name in ("items", "names", "database"))]
        for target in targets:
            spare(target, (source for source in sources if source is not None))

    @cached_property
    def asked(self) -> Asked:
        """The options, checked; what is wrong with them shows before any data is read."""
        return Asked.of(**{name: value for name, value in self.given.items() if name not in _SOURCES})

    def read(self, path: str | None, accept: Callable[[Origin], None] = lambda _: None) -> Transactions:
        """Read the data, and tell what was guessed of it before the rows are read.

        Args:
            path: the file, or None with a query.
            accept: refuses data by how it will be read, if need be.
        """

        def listener(origin: Origin) -> None:
            accept(origin)
            tell_guesses(origin)

        sources = {name: self.given.get(name) for name in _SOURCES}
        with progress("Reading the data …"):
            return read_asked(path, evolve(self.asked, listener=listener), **sources)


def data_options(*, units: bool) -> Callable[[Callback], Callback]:
    """Give a command the options that say how data is read; it gets them as one argument, `reading`.

    Args:
        units: whether it can protect more than a transaction.
    """

    def decorate(callback: Callback) -> Callback:
        @wraps(callback)
        def command(**options: Any) -> Any:
            chosen = {name: options.pop(name) for name in _NAMES & options.keys()}
            given = {name: value for name, value in chosen.items() if value is not None and value is not False}
            return callback(reading=DataOptions(given), **options)

        for option in reversed((*_HOW_IT_IS_READ, *(_WHOSE_IT_IS if units else ()))):
            command = option(command)
        return command

    return decorate


def tell_guesses(origin: Origin) -> None:
    """Say what was guessed of the data, so that a wrong guess is seen before anything is spent on it."""
    if origin.guessed:
        options = (word for option, value in origin.guessed for word in (f"--{option.replace('_', '-')}", value))
        line = shlex.join(_TAB if word == "\t" else word for word in options)
        click.echo(f"privmine: {origin.source} is read in the layout {origin.layout}, by a guess: {line}", err=True)
