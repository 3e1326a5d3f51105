"""`privmine audit`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from functools import partial
from pathlib import Path
from typing import Any

import rich_click as click
from rich.progress import TimeRemainingColumn
from rich.text import Text

from privmine.audit import audits
from privmine.audit.audits import QUICK, STANDARD, THOROUGH, Effort
from privmine.audit.customers import CustomerDatabase
from privmine.audit.evidence import Evidence
from privmine.audit.neighbours import require_hypothesis
from privmine.audit.report import AuditReport
from privmine.audit.samplers import SamplerCheck, sampler_checks
from privmine.audit.statistical import ERROR_RATE
from privmine.audit.subjects import Subject, all_names, subject_of
from privmine.audit.workers import PATIENCE, Workers, worker_pool
from privmine.cli.screen import bar, console, fail, print_json, print_whole_words, table, text
from privmine.errors import InputError, PrivmineError, UnknownNameError
from privmine.hooks.registry import own_version
from privmine.io.readers.options import ReadOptions
from privmine.ledger.checks import delta_amount
from privmine.privacy.guarantee import at_epsilon

STYLES = {"holds": "green", "violates": "bold red", "refused": "bold yellow", "errors": "bold red"}


def _told(effort: Effort) -> str:
    """How hard an audit tries, for the help."""
    searched = f" and {effort.examples:,} by hypothesis" if effort.examples else ""
    exact = f", {effort.exact_runs:,} with exact noise" if effort.exact_runs else ""
    sampled = "1 pair" if effort.cases == 1 else f"{effort.cases} pairs"
    return f"{effort.pairs:,} pairs{searched} replayed, {effort.samples:,} runs on each database of {sampled}{exact}"


@click.command()
@click.argument("targets", nargs=-1, metavar="[PIPELINE.toml | METHOD | STAGE=COMPONENT]...")
@click.option("--quick", is_flag=True, help=f"A few seconds each, as in a plugin's own tests: {_told(QUICK)}.")
@click.option(
    "--thorough",
    is_flag=True,
    help=f"Minutes each: {_told(THOROUGH)}.  [default: {_told(STANDARD)}]",
)
@click.option(
    "--unit",
    metavar="NAME",
    help="Neighbours differ by all transactions of one unit, such as a customer; at most --max-baskets of them count.",
)
@click.option("--max-baskets", type=int, metavar="M", help="How many transactions of a unit count at most.")
@click.option("--merge-by", metavar="NAME", help="Neighbours differ by all transactions of one unit, merged into one.")
@click.option(
    "--without-unit",
    is_flag=True,
    help="With --unit or --merge-by: use the same neighbours, but protect each transaction alone. A "
    "violation is expected.",
)
@click.option("--delta", metavar="DELTA", help="Audit what is claimed with this δ, such as 1e-6, instead of pure ε.")
@click.option("--trust", multiple=True, metavar="DIST", help="Allow this distribution's own queries; can be repeated.")
@click.option("--seed", type=click.IntRange(0), default=0, help="Use other neighbours and other noise.")
@click.option(
    "--workers",
    type=click.IntRange(1),
    help="How many processes to use; 1 means this process only.  [default: one for each processor, at least 2]",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=PATIENCE,
    show_default=True,
    metavar="SECONDS",
    help="Stop a component if one batch of runs takes longer than this; usually it takes seconds.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the reports as JSON.")
def audit(
    targets: tuple[str, ...],
    quick: bool,
    thorough: bool,
    unit: str | None,
    max_baskets: int | None,
    merge_by: str | None,
    without_unit: bool,
    delta: str | None,
    trust: tuple[str, ...],
    seed: int,
    workers: int | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Look for violations of privacy in pipelines and components; without arguments, in all that are registered.

    Runs are replayed on generated neighbouring databases with all noisy answers frozen, and sampled as a black
    box for a lower bound on ε. No data of yours is used. Exit code 1 means that something is wrong.

    Example:  privmine audit select_elements=items-and-pairs --quick

    Example:  privmine audit privbasis --unit customer --max-baskets 5
    """
    if quick and thorough:
        raise InputError("--quick and --thorough exclude each other. Drop one of them.")
    effort = QUICK if quick else THOROUGH if thorough else STANDARD
    if effort.examples:
        require_hypothesis()
    claimed = delta_amount(delta, "δ")
    protected = ReadOptions(unit=unit, max_baskets=max_baskets, merge_by=merge_by).protected
    if without_unit and protected.is_transaction:
        raise InputError(
            "--without-unit shows what happens if a unit is forgotten. Name the unit: --unit NAME "
            "--max-baskets M, or --merge-by NAME."
        )
    # What components print must not end up among the reports.
    with (
        redirect_stdout(sys.stderr),
        _progress() as told,
        worker_pool(workers or max(2, os.cpu_count() or 1), patience=timeout) as pool,
    ):
        subjects: list[Subject | str] = [_subject(target, trust) for target in targets] or [*all_names()]
        options: dict[str, Any] = {
            "effort": effort,
            "unit": None if protected.is_transaction else protected,
            "database": CustomerDatabase() if without_unit else None,
            "delta": claimed,
            "seed": seed,
            "error_rate": ERROR_RATE / len(subjects),
            "workers": pool or 1,
            "evidence": Evidence(),
        }
        told("samplers", 0, 1)
        checks = sampler_checks()
        reports: list[AuditReport] = []
        with suppress(KeyboardInterrupt):  # What is found by then took its time, and is told.
            for number, subject in enumerate(subjects, 1):
                progress = partial(_numbered, told, f"{number} of {len(subjects)}")
                reports.append(_audited(subject, trust, progress=progress, **options))
        missing = len(subjects) - len(reports)
        if missing and isinstance(pool, Workers):
            pool.kill()  # Nobody waits for what they were doing.
    if as_json:
        print_json({**_as_data(checks, reports, effort, seed), "missing": missing})
    elif reports:
        _show(checks, reports)
    if missing:
        fail(f"Interrupted: {missing} of {len(subjects)} not audited.", 130)
    if not _all_ok(checks, reports):
        sys.exit(1)


def _all_ok(checks: list[SamplerCheck], reports: list[AuditReport]) -> bool:
    return all(check.ok for check in checks) and all(report.ok for report in reports)


def _subject(target: str, trust: tuple[str, ...]) -> Subject | str:
    """What the user named: it must be there; but it may be broken, which is told in its report."""
    try:
        return subject_of(target, trust=trust)
    except UnknownNameError:
        raise
    except PrivmineError:
        if target.endswith(".toml") and not Path(target).is_file():
            raise
        return target


def _audited(subject: Subject | str, trust: tuple[str, ...], *, effort: Effort, **options: Any) -> AuditReport:
    """The report on one of many; that it cannot even be made must not stop the others."""
    try:
        found = subject_of(subject, trust=trust) if isinstance(subject, str) else subject
    except PrivmineError as problem:
        return audits.failed_audit(str(subject), effort, problem)
    return audits.audit(found, effort=effort, **options)


def _numbered(told: audits.Progress, number: str, what: str, done: int, total: int) -> None:
    """Tell what is being done, and which of many it is."""
    told(f"{number}, {what}", done, total)


@contextmanager
def _progress() -> Iterator[audits.Progress]:
    """A bar on a terminal, nothing in a pipe."""
    with bar(TimeRemainingColumn()) as update:
        if update is None:
            yield lambda what, done, total: None
        else:
            yield lambda what, done, total: update(description=what, completed=done, total=total)


def _as_data(checks: list[SamplerCheck], reports: list[AuditReport], effort: Effort, seed: int) -> dict[str, object]:
    return {
        "version": own_version(),
        "effort": effort.name,
        "seed": seed,
        "ok": _all_ok(checks, reports),
        "samplers": {"checked": len(checks), "wrong": [str(check) for check in checks if not check.ok]},
        "error_rate": ERROR_RATE,
        "reports": [report.to_dict() for report in reports],
    }


def _show(checks: list[SamplerCheck], reports: list[AuditReport]) -> None:
    """A table with a verdict for each, then the evidence for those that fail."""
    out = console()
    numbers = ("ε ≥", "claim")
    rows = table("subject", "stage", "verdict", *numbers, "why", right=numbers)
    for column in rows.columns[:3]:
        column.no_wrap = True
    for report in reports:
        bound = report.best_bound
        rows.add_row(
            text(report.subject.partition("=")[2] or report.subject),
            text(report.stage or ""),
            Text(report.verdict, style=STYLES[report.verdict]),
            f"{bound.lower:.3f}" if bound else "",
            f"{float(bound.claim):.3f}" if bound else "",
            text("; ".join(filter(None, (report.taken, report.why)))),
        )
    print_whole_words(rows)
    pairs = sorted({report.pairs for report in reports})
    sampled = " and ".join(dict.fromkeys(str(epsilon) for report in reports for epsilon in report.epsilons))
    out.print(
        f"\nReplayed on {' to '.join(f'{count:,}' for count in dict.fromkeys((pairs[0], pairs[-1])))} pairs each"
        + (f"; sampled at {at_epsilon(sampled)}." if sampled else ".")
    )
    for differ_by in dict.fromkeys(report.differ_by for report in reports):
        out.print(f"Neighbours differ by {text(differ_by)}.")
    out.print(f"All bounds together hold with a probability of at least {1 - ERROR_RATE:.3f}.")
    wrong = [check for check in checks if not check.ok]
    agreement = "[green]agree[/]" if not wrong else "[bold red]DISAGREE[/]"
    out.print(f"Charges and scales of {len(checks)} mechanisms {agreement} with OpenDP's privacy maps.")
    for check in wrong:
        out.print(f"  {text(check)}")
    for report in reports:
        if not report.ok:
            out.print()
            for line in report.lines():
                out.print(text(line), soft_wrap=True)
