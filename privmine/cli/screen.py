"""What the commands share on the screen: consoles, tables, progress."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import rich_click as click
from rich.console import Console
from rich.markup import escape
from rich.status import Status
from rich.table import Table
from rich.text import Text

from privmine.cli.spelling import in_shell
from privmine.hooks.specs import hookimpl
from privmine.printable import json_text, printable_lines

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

#: Wide enough that a table in a pipe is not folded.
PIPE_WIDTH = 400

STAGE_WORDS = {
    "allocate_budget": "Dividing the budget",
    "estimate_lambda": "Estimating how many items matter",
    "select_elements": "Selecting items and pairs",
    "construct_basis": "Building the basis set",
    "reconstruct_counts": "Counting with noise",
}


class _Console(Console):
    """A console that tells its command when nobody reads any more; rich's own would end the program."""

    def on_broken_pipe(self) -> NoReturn:
        """Raise the error that is being handled: a release that is paid for can still be saved."""
        raise


def console() -> Console:
    """Where results go."""
    return _Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)


def table(*columns: str, right: tuple[str, ...] = ()) -> Table:
    """An empty table in the house style."""
    made = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        made.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return made


def print_whole(made: Table, *columns: str) -> None:
    """Print a table in which these columns are not folded, where the others have room for their longest words."""
    out = console()
    kept = [column.header in columns for column in made.columns]
    least = [
        max(map(len, cells if whole else (word for cell in cells for word in cell.split())), default=0)
        for whole, cells in zip(kept, _cells(made), strict=True)
    ]
    if sum(least) + 2 * (len(least) - 1) <= out.width:
        for column, whole in zip(made.columns, kept, strict=True):
            column.no_wrap = whole
    out.print(made)


def print_whole_words(made: Table) -> None:
    """Print a table whose cells are folded between words, where there is room for that; rich breaks words as well."""
    out = console()
    cells = _cells(made)
    least = [max(len(word) for cell in column for word in cell.split()) for column in cells]
    left = out.width - sum(least) - 2 * (len(least) - 1)
    if left >= 0:
        # What is to spare goes to the last columns first: those are notes.
        for column, texts, width in reversed(list(zip(made.columns, cells, least, strict=True))):
            more = min(left, max(map(len, texts)) - width)
            column.width, left = width + more, left - more
    out.print(made)


def _cells(made: Table) -> list[list[str]]:
    """What stands in each column, its header first, without marks such as [bold red]: they take no room."""
    return [[Text.from_markup(str(cell)).plain for cell in (column.header, *column.cells)] for column in made.columns]


def text(value: object) -> str:
    """Text that rich shows as it is, brackets and all; what is not printable is escaped."""
    return escape(printable_lines(str(value)))


def print_json(value: Any) -> None:
    """A result for programs."""
    click.echo(json_text(value))


def drop_output() -> None:
    """Drop what is left for standard output, which could not be written and must not fail once more at the exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fail(message: str, code: int) -> NoReturn:
    """End the program with a sentence on stderr."""
    click.echo(f"privmine: {printable_lines(in_shell(message))}", err=True)
    sys.exit(code)


class Progress:
    """An observer that tells what a run is doing."""

    def __init__(self, status: Status) -> None:
        self._status = status

    @hookimpl
    def stage_started(self, stage: str) -> None:
        """Show the stage in words."""
        self._status.update(f"{STAGE_WORDS[stage]} …")


@contextmanager
def bar(time_left: ProgressColumn) -> Iterator[Callable[..., None] | None]:
    """A progress bar on a terminal, None in a pipe.

    Args:
        time_left: the last column; a field `left` is there for it.

    Yields:
        What takes description, completed, total and left, as rich's `Progress.update` does.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), time_left)
    with Bar(*columns, console=Console(stderr=True), transient=True) as shown:
        yield partial(shown.update, shown.add_task("", total=None, left=""))


@contextmanager
def progress(first: str) -> Iterator[list[object]]:
    """Show progress on a terminal, nothing in a pipe; yields the observers for the run."""
    if not sys.stderr.isatty():
        yield []
        return
    with Console(stderr=True).status(first) as status:
        yield [Progress(status)]


@contextmanager
def activity(first: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal what is being done, nothing in a pipe; yields what tells it."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with Console(stderr=True).status(first) as status:
        yield lambda doing: status.update(f"{doing} …")
