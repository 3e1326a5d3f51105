"""How commands are told which pipeline to use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import rich_click as click

from privmine.errors import InputError
from privmine.pipeline import DEFAULT_METHOD
from privmine.pipeline.settings import override, read_spec

Command = TypeVar("Command", bound=Callable[..., Any])

#: Under which heading the help lists these options.
PIPELINE_PANEL: Final = "The pipeline"


def pipeline_options(command: Command) -> Command:
    """The options --method, --pipeline and --set; the command takes them as `method`, `file` and `settings`."""
    for option in (
        click.option(
            "--set",
            "settings",
            multiple=True,
            metavar="STAGE[.PARAM]=VALUE",
            panel=PIPELINE_PANEL,
            help="Choose a stage's component, or set one of its parameters; can be repeated.",
        ),
        click.option(
            "--pipeline",
            "file",
            type=click.Path(path_type=Path),
            panel=PIPELINE_PANEL,
            help="Read the pipeline from a TOML file.",
        ),
        click.option(
            "--method",
            panel=PIPELINE_PANEL,
            help=f"A whole pipeline by name, see `privmine plugins`.  [default: {DEFAULT_METHOD}]",
        ),
    ):
        command = option(command)
    return command


def pipeline_spec(method: str | None, file: Path | None, settings: tuple[str, ...]) -> dict[str, Any]:
    """What the options say, in the form of a pipeline file."""
    spec = {} if file is None else read_spec(file)
    if method is not None:
        if "method" in spec:
            raise InputError(f"{file} names the method {spec['method']!r} itself. Drop --method, or that line.")
        spec["method"] = method
    return override(spec, settings)
