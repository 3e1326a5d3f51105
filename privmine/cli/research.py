"""What commands that run experiments share: their options, progress, and how they end."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import rich_click as click
from rich.progress import TextColumn

from privmine.cli.screen import bar, fail
from privmine.evaluation.clock import Progress, Report, nobody
from privmine.evaluation.runner import Failure

EXACT = "Uses exact data and simulated noise: for research, NOT PRIVATE."


def workers_option(command: Any) -> Any:
    """The option --workers."""
    return click.option(
        "--workers", type=click.IntRange(1), help="How many processes to use.  [default: one for each processor]"
    )(command)


def data_option(command: Any) -> Any:
    """The option --data."""
    return click.option(
        "--data",
        "data_dir",
        type=click.Path(path_type=Path, file_okay=False, exists=True),
        help="Where named datasets are looked for first.  [default: PRIVMINE_DATA]",
    )(command)


def worker_count(workers: int | None) -> int:
    """How many processes to use: as many as were asked for, else one for each processor."""
    return workers or os.cpu_count() or 1


@contextmanager
def resumable(target: Path) -> Iterator[None]:
    """Ctrl-C loses nothing that is done, and says so."""
    try:
        yield
    except KeyboardInterrupt:
        fail(f"Interrupted. Finished runs are in {target}; repeat the command to continue.", 130)


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A bar with the time left on a terminal, nothing in a pipe."""
    with bar(TextColumn("{task.fields[left]}")) as update:
        if update is None:
            yield nobody
            return

        def told(report: Report) -> None:
            left = "" if report.seconds_left is None else f"{timedelta(seconds=round(report.seconds_left))} left"
            update(description=report.what, completed=report.done, total=report.total or None, left=left)

        yield told


#: How many more reasons of failed runs are told after the first; --json has all of them.
MOST_REASONS = 4


def report_failures(failures: Sequence[Failure]) -> None:
    """End with an error if runs failed, with the reasons."""
    if not failures:
        return
    reasons: dict[str, Failure] = {}
    for failure in failures:
        reasons.setdefault(failure.reason, failure)
    first, *others = reasons.values()
    also = "".join(f"\n  and {failure.cell}: {failure.reason}" for failure in others[:MOST_REASONS])
    fail(f"{len(failures)} runs failed, the first: {first.cell}: {first.reason}{also}", 1)
