"""The options that say how data is read: one set of them, for every command that reads data."""

from __future__ import annotations

import ctypes
import os
import shlex
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property, partial, wraps
from glob import glob
from pathlib import Path
from typing import Any, Final, TypeAlias

import rich_click as click
from attrs import evolve, field, frozen

from privmine.cli.reading_progress import reading_progress
from privmine.cli.screen import progress
from privmine.cli.spelling import in_shell
from privmine.errors import InputError
from privmine.files import at_home, spare
from privmine.io.readers.dispatch import read_asked
from privmine.io.readers.options import LAYOUTS, ReadOptions
from privmine.io.readers.plugin_readers import plugin_readers, read_text
from privmine.io.respelling import questionable
from privmine.model import Origin
from privmine.option_names import READING_OPTIONS
from privmine.store.disk import SUFFIX
from privmine.store.transactions import Transactions

Callback: TypeAlias = Callable[..., Any]
#: The files and patterns that a command names.
Paths: TypeAlias = tuple[str, ...]


#: What `mallopt` of the GNU C library sets: how many pools of memory threads have, and which blocks lie outside them.
_M_ARENA_MAX, _M_MMAP_THRESHOLD = -8, -3
_LARGE_BLOCK = 1 << 22


def _reserve_little(_context: object, _option: object, size: str | None) -> str | None:
    """Let the process reserve little memory beyond what it uses.

    Arrow, which is imported later, would reserve a gigabyte at once, and the C library a pool for each thread of Arrow;
    large blocks that are freed would stay in the pools.
    """
    if size is not None:
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
        with suppress(OSError, AttributeError, TypeError):  # another C library has no such function
            library = ctypes.CDLL(None)
            library.mallopt(_M_ARENA_MAX, 1)
            library.mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK)
    return size


_data = partial(click.option, panel="The data")
_unit = partial(click.option, panel="Who is protected: one transaction, unless another unit is named")

_HOW_IT_IS_READ: Final = (
    _data("--transaction", metavar="COL", help="The column of the transaction id."),
    _data("--item", metavar="COL", help="The column of the items, or of lists of items."),
    _data(
        "--layout",
        type=click.Choice(LAYOUTS),
        metavar="LAYOUT",
        help="long: a row for each item; list: a list in each row; one-hot: a column for each item; "
        "baskets: a basket in each line; fimi: numbers in each line.  [default: detected; "
        "privmine prints what it detected]",
    ),
    _data(
        "--items",
        type=click.Path(),
        metavar="FILE",
        help="The public item universe: a text file with one item per line, or a JSON list. Other items are dropped. "
        "The word private keeps it private which items occur; a run then finds the frequent ones, and needs --delta.",
    ),
    _data(
        "--names",
        type=click.Path(),
        metavar="FILE",
        help="Labels for items that are numbers: one per line, the label of 0 first.",
    ),
    _data("--sql", metavar="QUERY", help="Read the result of a DuckDB query instead of a file."),
    _data(
        "--database",
        type=click.Path(),
        metavar="PLACE",
        help="Where the query runs: an SQLite or DuckDB file, or postgresql://user@host/name.",
    ),
    _data("--separator", metavar="CHAR", help="The separator between the cells of a line: one character, or `tab`."),
    _data("--encoding", metavar="NAME", help="The encoding of a text file, if it is not UTF-8."),
    _data("--multiline-cells", is_flag=True, help="Allow line breaks in quoted cells."),
    _data(
        "--memory-limit",
        metavar="SIZE",
        callback=_reserve_little,
        help="About how much memory reading and counting may take, such as 2GB; the rest goes to temporary files.",
    ),
    _data("--drop-missing", is_flag=True, help="Ignore missing items instead of refusing the data."),
    _data("--sheet", metavar="NAME", help="The sheet of an Excel workbook, if it has several."),
    _data("--trim", is_flag=True, help="Ignore blanks at the ends of item labels, also in --items."),
    _data("--fold-case", is_flag=True, help="Ignore the case of item labels, also in --items."),
)
_WHOSE_IT_IS: Final = (
    _unit(
        "--unit", metavar="COL", help="Protect everything of one unit: the column of its id, for example customer_id."
    ),
    _unit(
        "--max-baskets",
        type=int,
        metavar="M",
        help="How many transactions of a unit count at most; the noise grows in proportion.",
    ),
    _unit("--merge-by", metavar="COL", help="Protect everything of one unit by merging its transactions into one."),
    _unit(
        "--drop-missing-units",
        is_flag=True,
        help="Drop rows without a unit instead of refusing the data; the receipt says so.",
    ),
)
#: How a tab is typed in most shells.
_TAB: Final = r"\t"
#: The options that are a source themselves, beside those of plugins' readers.
_SOURCES: Final = ("sql", "database")


@frozen
class DataOptions:
    """How data is to be read, as the command line says it.

    Attributes:
        given: the options of `read` that were given.
        readers: the options of plugins' readers that were given.
    """

    given: Mapping[str, Any] = field(repr=False)
    readers: Mapping[str, str] = field(factory=dict, repr=False)

    def names_data(self, paths: Paths) -> bool:
        """Whether there is a file or a query; options about data that is not there are refused."""
        named = bool(paths) or "sql" in self.given or bool(self.readers)
        if not named and self.given:
            option = f"--{min(self.given).replace('_', '-')}"
            raise InputError(
                f"{option} says how data is read, but no data is named. Add a file, or a query with --sql."
            )
        return named

    @staticmethod
    def is_store(paths: Paths) -> bool:
        """Whether the data is a store on disk, which itself says what its universe is and who is protected."""
        return len(paths) == 1 and paths[0].lower().endswith(SUFFIX)

    def spare(self, paths: Paths, *targets: Path) -> None:
        """Refuse to write over anything that is read."""
        matches = [
            match
            for path in paths
            for match in glob(str(at_home(path)), recursive=True)  # noqa: PTH207 - the pattern may be absolute
        ]
        sources = [*paths, *matches, *(self.given.get(name) for name in ("items", "names", "database"))]
        for target in targets:
            spare(target, (source for source in sources if source is not None))

    @cached_property
    def asked(self) -> ReadOptions:
        """The options, checked; what is wrong with them shows before any data is read."""
        return ReadOptions.of(**{name: value for name, value in self.given.items() if name not in _SOURCES})

    def read(self, paths: Paths, accept: Callable[[Origin], None] = lambda _: None) -> Transactions:
        """Read the data, and tell what was detected of it before the rows are read.

        Args:
            paths: the files; none with a query.
            accept: refuses data by how it will be read, if need be.
        """

        def listener(origin: Origin) -> None:
            accept(origin)
            tell_guesses(origin)

        sources = {name: self.given.get(name) for name in _SOURCES}
        if self.readers and (paths or any(sources.values()) or len(self.readers) > 1):
            raise InputError(f"--{min(self.readers)} names the data itself. Name a file, a query or this, only one.")
        asked = evolve(self.asked, listener=listener)
        is_folded = asked.respelling is not None and asked.respelling.fold_case
        is_catalogue = isinstance(asked.items, list) and not is_folded
        question = questionable(asked.items or ()) if is_catalogue else None
        if question is not None:
            click.echo(f"privmine: {in_shell(question)}", err=True)
        if self.readers:
            with progress("Reading the data …"):
                return read_text(self.readers, asked)
        # One file as itself: a list of files has no name of its own in the receipt.
        source = (paths[0] if len(paths) == 1 else list(paths)) if paths else None
        with reading_progress(paths):
            return read_asked(source, asked, **sources)


def data_options(*, units: bool) -> Callable[[Callback], Callback]:
    """Give a command the options that say how data is read; it gets them as one argument, `reading`.

    Args:
        units: whether it can protect more than a transaction.
    """

    def decorate(callback: Callback) -> Callback:
        @wraps(callback)
        def command(**options: Any) -> Any:
            chosen = {name: options.pop(name) for name in READING_OPTIONS & options.keys()}
            given = {name: value for name, value in chosen.items() if value is not None and value is not False}
            texts = {name: options.pop(name.replace("-", "_")) for name in readers}
            named = {name: text for name, text in texts.items() if text is not None}
            return callback(reading=DataOptions(given, named), **options)

        readers = {name: found for name, found in plugin_readers().items() if found.value.opens is not None}
        own = [
            _data(f"--{name}", metavar=found.value.metavar, help=f"{found.summary} ({found.distribution}).")
            for name, found in readers.items()
        ]
        for option in reversed((*_HOW_IT_IS_READ, *own, *(_WHOSE_IT_IS if units else ()))):
            command = option(command)
        return command

    return decorate


def tell_guesses(origin: Origin) -> None:
    """Say what was detected of the data, so that a mistake is seen before anything is spent on it."""
    if origin.guessed:
        line = shell_words(origin)
        # Not by click, which would write into the line that shows the progress.
        sys.stderr.write(
            f"privmine: {origin.source} is read in the layout {origin.layout}, which was detected: {line}\n"
        )


def shell_words(origin: Origin) -> str:
    """The options that would have said what was detected of the data, as one types them."""
    options = (word for option, value in origin.guessed for word in (f"--{option.replace('_', '-')}", value))
    return " ".join(_quoted(_TAB if word == "\t" else word) for word in options)


def _quoted(word: str) -> str:
    """A word as one types it in a shell; with single quotes in it, in double ones, which are easier to read."""
    return f'"{word}"' if "'" in word and not set(word) & set('"$`\\!') else shlex.quote(word)
