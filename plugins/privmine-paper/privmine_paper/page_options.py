"""The options of commands that write a page with figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import rich_click as click


def page_options(page: str, results: str, *, folder: bool = False) -> Callable[[Any], Any]:
    """The options --output and --results.

    Args:
        page: the name of the page.
        results: where its rows go, unless a user says otherwise.
        folder: whether they can go to a folder.
    """

    def decorate(command: Any) -> Any:
        command = click.option(
            "--results",
            "results_path",
            type=click.Path(path_type=Path, dir_okay=folder),
            default=Path(results),
            show_default=True,
            help=f"Where the rows go, a .csv file{' or a folder' * folder}; what it holds already is not run again.",
        )(command)
        return click.option(
            "--output",
            type=click.Path(path_type=Path, file_okay=False),
            default=Path("docs"),
            show_default=True,
            help=f"The folder of the page {page}; figures go to figures/ in it.",
        )(command)

    return decorate
