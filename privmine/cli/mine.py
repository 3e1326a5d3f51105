"""`privmine mine`."""

from __future__ import annotations

import os
import sys
import tempfile
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import rich_click as click
from rich.console import Console

from privmine.cli.data import DataOptions, data_options
from privmine.cli.dry_run import show_dry_run
from privmine.cli.interrupts import end_if_interrupted
from privmine.cli.pipelines import PIPELINE_PANEL, pipeline_options, pipeline_spec
from privmine.cli.screen import console, drop_output, fail, progress, table, text
from privmine.errors import InputError, RunInterrupted, UnknownNameError, UnsavedReleaseError
from privmine.io import groceries
from privmine.ledger import Ledger
from privmine.pipeline import Pipeline
from privmine.privacy import amount
from privmine.registry import registry
from privmine.release import Release
from privmine.release.display import CAVEAT, DEFAULT_LEVEL, headline, interval_text, items_text, percent, whole
from privmine.release.files import to_json
from privmine.request import Wish
from privmine.store.transactions import Transactions

DEFAULT_K = 100
EMBEDDED_K = 30
EMBEDDED_EPSILON = "1"


_wish = partial(click.option, panel="What to release")
_account = partial(click.option, panel="The budget")
_result = partial(click.option, panel="The result")
_research = partial(click.option, panel="Research")


@click.command()
@click.argument("data", required=False)
@_wish(
    "--k",
    "k",
    type=int,
    help=f"How many itemsets to release.  [default: {DEFAULT_K}; {EMBEDDED_K} of the embedded baskets]",
)
@_wish("--epsilon", help="The privacy budget ε of this release; required for data of your own.")
@_wish("--max-length", type=int, help="The longest itemset to release.")
@_wish(
    "--downward-closed",
    is_flag=True,
    help="Release only itemsets of which every subset is released as well, as `privmine rules` needs it.",
)
@_wish(
    "--n-public",
    is_flag=True,
    help="Publish the exact number of transactions; the receipt says at what price.",
)
@_wish(
    "--strict",
    is_flag=True,
    help="Refuse data whose item universe is not given by --items, or whose layout was guessed.",
)
@data_options(units=True)
@pipeline_options
@click.option(
    "--trust",
    multiple=True,
    metavar="DIST",
    panel=PIPELINE_PANEL,
    help="Let this distribution's own queries run; may be repeated.",
)
@_account("--ledger", type=click.Path(path_type=Path), help="Charge the budget that this ledger file keeps.")
@_account("--dataset", help="The name of the data in the ledger.")
@_account("--dry-run", is_flag=True, help="Check everything and show the plan; draw and charge nothing.")
@_result("--output", type=click.Path(path_type=Path), help="Save to a .csv, .json, .parquet or .html file.")
@_result("--force", "overwrite", is_flag=True, help="Replace the file of --output if it exists.")
@_result("--json", "as_json", is_flag=True, help="Print the release as JSON.")
@_research("--simulate", is_flag=True, help="Fast noise for research that protects nobody.")
@_research("--seed", type=int, help="Makes a simulation repeatable.")
def mine(
    data: str | None,
    k: int | None,
    epsilon: str | None,
    method: str | None,
    file: Path | None,
    settings: tuple[str, ...],
    trust: tuple[str, ...],
    dry_run: bool,
    as_json: bool,
    reading: DataOptions,
    **options: Any,
) -> None:
    """Release the most frequent itemsets of DATA under differential privacy.

    DATA is a file of transactions, or a pattern such as 'orders/*.parquet': CSV, TSV, Parquet, JSON lines,
    basket lines, or FIMI text. The layout is detected unless you specify it; privmine prints what it detected. Without
    DATA and --sql the embedded grocery baskets are mined, with ε = 1 unless another is given.

    Example:  privmine mine orders.csv --transaction order_id --item product --k 100 --epsilon 1 --output top100.csv
    """
    embedded = not reading.names_data(data)
    if embedded:
        epsilon, k = EMBEDDED_EPSILON if epsilon is None else epsilon, EMBEDDED_K if k is None else k
    wish = Wish(DEFAULT_K if k is None else k, epsilon, **options)
    spec = pipeline_spec(method, file, settings)
    _check_trust(trust)
    Pipeline.from_spec(spec, trust=trust)  # What is wrong with the pipeline shows before the data is read.
    if wish.output is not None:
        reading.spare(data, wish.output)
    elif sys.stdout is None:
        raise InputError("The release would go nowhere: standard output is closed. Open it, or add --output FILE.")
    if not embedded:
        wish.check(reading.asked.protected, universe_given=reading.asked.items is not None)
    transactions = groceries() if embedded else reading.read(data, wish.check_origin)
    if dry_run:
        show_dry_run(Pipeline.from_spec(spec, trust=trust), wish, transactions, as_json)
        return
    with progress("Starting …") as observers:
        pipeline = Pipeline.from_spec(spec, trust=trust, observers=observers)
        end_if_interrupted()
        release = _run(pipeline, wish, transactions)
    try:
        if as_json:
            click.echo(to_json(release), nl=False)
        else:
            show_release(release, wish.output, wish.ledger)
        sys.stdout.flush()
    except (OSError, KeyboardInterrupt):
        kept = f"in {wish.output}" if wish.output is not None else _rescued(release)
        drop_output()
        made = "made and charged" if release.receipt.private else "made"
        fail(f"The release is {made}, but could not be shown whole; it is {kept}.", 1)


def _check_trust(trust: tuple[str, ...]) -> None:
    """Refuse to trust what is not installed: most likely a name is misspelt."""
    for name in trust:
        try:
            distribution(name)
        except (PackageNotFoundError, ValueError):
            known = {found.distribution for found in registry().components.values()}
            raise UnknownNameError("installed distribution", name, known, hint="Those have components.") from None


def _run(pipeline: Pipeline, wish: Wish, transactions: Transactions) -> Release:
    """Run; Ctrl-C says what is gone. It is caught here, because click would turn it into a bare "Aborted"."""
    try:
        return pipeline.fulfil(wish, transactions)
    except RunInterrupted as error:
        fail(f"Interrupted: {error.fate}, and nothing was released.", 130)
    except UnsavedReleaseError as error:
        fail(f"{error} It is {_rescued(error.release)} instead.", 1)


def _rescued(release: Release) -> str:
    """Keep a release that is paid for and has nowhere to go; where it is then."""
    try:
        handle, path = tempfile.mkstemp(prefix="privmine-release-", suffix=".json")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(to_json(release))
    except OSError:
        click.echo(to_json(release), err=True)
        return "above, as JSON on standard error, since no file could be written"
    return f"in {path}"


def show_release(release: Release, saved: Path | None, ledger: Ledger | None = None) -> None:
    """A table, and the budget below it."""
    out = console()
    heading = f"{percent(DEFAULT_LEVEL)} interval"
    rows = table("rank", "itemset", "support", "count", heading, right=("rank", "support", "count", heading))
    for rank, (found, within) in enumerate(zip(release, release.intervals(), strict=True), start=1):
        rows.add_row(
            str(rank),
            text(items_text(found.items)),
            f"{found.support:.4f}",
            whole(found.count),
            interval_text(within),
        )
    out.print(f"[bold]{text(headline(release))}[/]\n")
    out.print(rows)
    if len(release):
        out.print(f"[dim]{CAVEAT}[/]")
    out.print()
    receipt = release.receipt
    _print_statements(out, receipt.head())
    out.print()
    charges = table("charge ε", "stage", "asked for", "mechanism")
    for charge in receipt.charges:
        stage = f"{charge.stage} ({charge.component})"
        charges.add_row(amount(charge.epsilon), text(stage), text(charge.query), text(charge.mechanism + charge.caveat))
    out.print(charges)
    _print_statements(out, receipt.foot())
    if ledger is not None and receipt.dataset is not None:
        remaining = ledger.budget(receipt.dataset).remaining_epsilon
        out.print(f"[bold]Remaining:[/] ε = {amount(remaining)} for {text(receipt.dataset)}")
    if sum(found.count < 2 * found.standard_error for found in release) > len(release) / 2:
        out.print("[bold yellow]Mostly noise:[/] most counts are smaller than twice their error; lower k, or raise ε.")
    if saved is not None:
        out.print(f"[bold]Saved:[/] {text(saved)}")


def _print_statements(out: Console, lines: list[str]) -> None:
    for line in lines:
        subject, _, rest = line.partition(":")
        style = "bold red" if subject == "NOT PRIVATE" else "bold"
        out.print(f"[{style}]{text(subject)}:[/]{text(rest)}")
