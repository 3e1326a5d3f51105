"""`privmine audit`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import rich_click as click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from privmine.audit import audits
from privmine.audit.audits import QUICK, STANDARD, THOROUGH
from privmine.audit.report import AuditReport
from privmine.audit.samplers import SamplerCheck, sampler_checks
from privmine.audit.subjects import all_subjects, subject_of
from privmine.audit.workers import worker_pool
from privmine.cli.screen import console, print_json, table, text
from privmine.errors import InputError

STYLES = {"holds": "green", "violates": "bold red", "refused": "bold yellow"}


@click.command()
@click.argument("targets", nargs=-1, metavar="[PIPELINE.toml | METHOD | STAGE=COMPONENT]...")
@click.option("--quick", is_flag=True, help="A few seconds for each: what a plugin's own tests run.")
@click.option("--thorough", is_flag=True, help="Minutes for each: more neighbours, more runs, exact noise as well.")
@click.option(
    "--trust", multiple=True, metavar="DIST", help="Let this distribution's own queries run; may be repeated."
)
@click.option("--seed", type=click.IntRange(0), default=0, help="Try other neighbours and other noise.")
@click.option("--workers", type=click.IntRange(1), help="How many processes to use.  [default: one for each processor]")
@click.option("--json", "as_json", is_flag=True, help="Print the reports as JSON.")
def audit(
    targets: tuple[str, ...],
    quick: bool,
    thorough: bool,
    trust: tuple[str, ...],
    seed: int,
    workers: int | None,
    as_json: bool,
) -> None:
    """Look for violations of privacy in pipelines and components; without arguments, in all that are registered.

    Runs are replayed on generated neighbouring databases with all noisy answers frozen, and sampled as a black
    box for a lower bound on ε. No data of yours is used. Exit code 1 means that something is wrong.

    Example:  privmine audit select_elements=items-and-pairs --quick
    """
    if quick and thorough:
        raise InputError("An audit is quick or thorough, not both; drop one of the options.")
    effort = QUICK if quick else THOROUGH if thorough else STANDARD
    subjects = [subject_of(target, trust=trust) for target in targets] or all_subjects(trust)
    with _progress() as told, worker_pool(workers or os.cpu_count() or 1) as pool:
        told("samplers", 0, 1)
        checks = sampler_checks()
        reports = [
            audits.audit(subject, effort=effort, seed=seed, workers=pool or 1, progress=told) for subject in subjects
        ]
    if as_json:
        print_json(_as_data(checks, reports))
    else:
        _show(checks, reports)
    if not all(check.ok for check in checks) or not all(report.ok for report in reports):
        sys.exit(1)


@contextmanager
def _progress() -> Iterator[audits.Progress]:
    """A bar on a terminal, nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1)
        yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total)


def _as_data(checks: list[SamplerCheck], reports: list[AuditReport]) -> dict[str, object]:
    return {
        "samplers": {"checked": len(checks), "wrong": [str(check) for check in checks if not check.ok]},
        "reports": [report.to_dict() for report in reports],
    }


def _show(checks: list[SamplerCheck], reports: list[AuditReport]) -> None:
    """A table with a verdict for each, then the evidence for those that fail."""
    out = console()
    rows = table("subject", "verdict", "pairs", "ε at least", "claim", "event", right=("pairs", "ε at least", "claim"))
    for report in reports:
        bound = report.best_bound
        rows.add_row(
            text(report.subject),
            f"[{STYLES[report.verdict]}]{report.verdict}[/]",
            f"{report.pairs:,}",
            f"{bound.lower:.3f}" if bound else "",
            f"{float(bound.claim):.3f}" if bound else "",
            text(bound.event) if bound else "",
        )
    out.print(rows)
    wrong = [check for check in checks if not check.ok]
    agreement = "[green]agree[/]" if not wrong else "[bold red]DISAGREE[/]"
    out.print(f"\nCharges and scales of {len(checks)} mechanisms {agreement} with OpenDP's privacy maps.")
    for check in wrong:
        out.print(f"  {text(check)}")
    for report in reports:
        if not report.ok:
            out.print()
            for line in report.lines():
                out.print(text(line), soft_wrap=True)
