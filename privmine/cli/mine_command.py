"""`privmine mine`."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import rich_click as click

from privmine.cli.data_options import DataOptions, data_options, shell_words
from privmine.cli.interrupts import end_if_interrupted
from privmine.cli.pipeline_options import PIPELINE_PANEL, pipeline_options, pipeline_spec
from privmine.cli.release_screen import show_release
from privmine.cli.screen import activity, console, drop_output, fail, print_json, progress, table, text
from privmine.cli.spelling import in_shell
from privmine.errors import InputError, RunInterrupted, UnknownNameError, UnsavedReleaseError
from privmine.hooks.registry import registry
from privmine.io import groceries
from privmine.pipeline import DEFAULT_METHOD, Pipeline
from privmine.pipeline.dry_run import DryRun
from privmine.pipeline.request import Wish
from privmine.privacy.guarantee import Guarantee
from privmine.release import Release
from privmine.release.release_files import to_json
from privmine.store.transactions import Transactions, is_private

DEFAULT_K = 100
EMBEDDED_K = 30
EMBEDDED_EPSILON = "1"


_wish = partial(click.option, panel="What to release")
_account = partial(click.option, panel="The budget")
_result = partial(click.option, panel="The result")
_research = partial(click.option, panel="Research")


@click.command()
@click.argument("data", nargs=-1, type=click.Path())
@_wish(
    "--k",
    "-k",
    "k",
    type=int,
    help=f"How many itemsets to release.  [default: {DEFAULT_K}; {EMBEDDED_K} for the embedded baskets]",
)
@_wish("--epsilon", "-e", help="The privacy budget ε of this release; required for your own data.")
@_wish("--delta", help="The δ of (ε, δ)-differential privacy, for example 1e-6. Left out, the guarantee is pure ε.")
@_wish("--theta", help="Release the itemsets of at least this frequency, for example 0.01, instead of k of them.")
@_wish("--k-max", type=int, help="With --theta: how many itemsets there can be at most.")
@_wish("--max-length", type=int, help="The longest itemset to release.")
@_wish(
    "--downward-closed",
    is_flag=True,
    help="Release an itemset only if all its subsets are released too, as `privmine rules` needs.",
)
@_wish(
    "--n-public",
    is_flag=True,
    help="Publish the exact number of transactions; the receipt states the price.",
)
@_wish(
    "--strict",
    is_flag=True,
    help="Refuse data whose item universe is not given by --items, or whose layout was detected.",
)
@data_options(units=True)
@pipeline_options
@click.option(
    "--trust",
    multiple=True,
    metavar="DIST",
    panel=PIPELINE_PANEL,
    help="Allow this distribution's own queries; can be repeated.",
)
@_account(
    "--ledger", metavar="FILE", help="Charge the budget that this ledger keeps: a file, or postgresql://user@host/name."
)
@_account("--dataset", help="The name of the data in the ledger.")
@_account("--account", help="Pay from what this account of the dataset was granted.")
@_account("--part", help="DATA is the rows of this part of the dataset's people alone: charge only them.")
@_account("--dry-run", is_flag=True, help="Check everything and show the plan; draw and charge nothing.")
@_result(
    "--output", "-o", type=click.Path(path_type=Path), help="Save to a .csv, .json, .parquet, .xlsx or .html file."
)
@_result(
    "--plain", is_flag=True, help="Save a .csv that any program opens as it is; the receipt is in a file beside it."
)
@_result("--force", "overwrite", is_flag=True, help="Replace the file of --output if it exists.")
@_result("--json", "as_json", is_flag=True, help="Print the release as JSON.")
@_result("--no-hint", is_flag=True, help="Do not tell, on a terminal, whether another method would have found more.")
@_research("--simulate", is_flag=True, help="Fast noise for research that protects nobody.")
@_research("--seed", type=int, help="Make a simulation repeatable.")
def mine(
    data: tuple[str, ...],
    k: int | None,
    epsilon: str | None,
    method: str | None,
    file: Path | None,
    settings: tuple[str, ...],
    trust: tuple[str, ...],
    dry_run: bool,
    as_json: bool,
    no_hint: bool,
    reading: DataOptions,
    **options: Any,
) -> None:
    """Release the most frequent itemsets of DATA under differential privacy.

    DATA is a file of transactions, several of them, or a pattern such as orders/*.parquet: CSV, TSV, Parquet, Feather,
    Excel, JSON lines, basket lines, or FIMI text. The layout is detected unless you specify it; privmine prints what
    it detected. Without DATA and --sql the embedded grocery baskets are mined, with ε = 1 unless another is given.

    Example:  privmine mine orders.csv --transaction order_id --item product --k 100 --epsilon 1 --output top100.csv
    """
    embedded = not reading.names_data(data)
    if embedded and epsilon is None:
        epsilon = EMBEDDED_EPSILON
    if k is None and options["theta"] is None:
        k = EMBEDDED_K if embedded else DEFAULT_K
    wish = Wish(k, epsilon, **options)
    spec = pipeline_spec(method, file, settings)
    _check_trust(trust)
    pipeline = Pipeline.from_spec(spec, trust=trust)  # What is wrong with it shows before the data is read.
    if wish.output is not None:
        reading.spare(data, wish.output)
    elif sys.stdout is None:
        raise InputError("The release would be lost: standard output is closed. Open it, or add --output FILE.")
    if not embedded and not reading.is_store(data):
        asked = reading.asked
        wish.check(asked.protected, universe_given=asked.items is not None, private_items=is_private(asked.items))
    transactions = (
        groceries() if embedded else reading.read(data, lambda origin: wish.check_origin(origin, shell_words(origin)))
    )
    if dry_run:
        planned = pipeline.preview(wish, transactions)
        print_json(planned.to_dict()) if as_json else show_dry_run(planned)
        return
    with progress("Starting …") as observers:
        end_if_interrupted()
        release = _run(pipeline, wish, transactions, observers)
    try:
        if as_json:
            click.echo(to_json(release), nl=False)
        else:
            show_release(release, wish.output)
            show_remaining(wish)
        sys.stdout.flush()
    except (OSError, KeyboardInterrupt):
        kept = f"in {wish.output}" if wish.output is not None else _rescued(release)
        drop_output()
        made = "made and charged" if release.receipt.private else "made"
        fail(f"The release is {made}, but it could not be shown completely. It is {kept}.", 1)
    usual = method in (None, DEFAULT_METHOD) and file is None and not settings
    if usual and not (no_hint or as_json or embedded):
        show_hint(release, wish.max_length)


def _check_trust(trust: tuple[str, ...]) -> None:
    """Refuse to trust what is not installed: most likely a name is misspelt."""
    for name in trust:
        try:
            distribution(name)
        except (PackageNotFoundError, ValueError):
            known = {found.distribution for found in registry().components.values()}
            raise UnknownNameError("installed distribution", name, known, hint="Those have components.") from None


def _run(pipeline: Pipeline, wish: Wish, transactions: Transactions, observers: Iterable[object]) -> Release:
    """Run; Ctrl-C says what is gone. It is caught here, because click would turn it into a bare "Aborted"."""
    try:
        return pipeline.fulfil(wish, transactions, observers)
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
        return "above, as JSON on standard error, because no file could be written"
    return f"in {path}"


def show_dry_run(planned: DryRun) -> None:
    """What a run would do, and a table of its stages."""
    out = console()
    request, universe = planned.request, planned.request.public.universe
    items = f"{len(universe):,}, taken from the data; use --items to name them"
    if universe.given:
        items = f"{len(universe):,}, " + ("given by --items" if request.public.origin.layout else "a fixed list")
    elif universe.private:
        items = "private; a run finds those that are frequent enough"
    most = f", of which at most {request.k} can exist" if request.k < request.requested else ""
    wanted = f"k = {request.requested}" if request.above is None else str(request.above)
    out.print(f"[bold]Dry run:[/] {wanted}{most}, {request.budget}; nothing was drawn or charged.")
    out.print(f"[bold]Data:[/] {text(planned.data)}")
    if planned.columns:
        out.print(f"[bold]Columns:[/] {text(planned.columns)}")
    out.print(f"[bold]Protects:[/] {text(planned.protects)}")
    if request.public.n is not None:
        out.print(f"[bold]With the number of transactions published:[/] {planned.guarantee} in that sense")
    out.print(f"[bold]Items:[/] {items}\n")
    rows = table("stage", "component", f"share of {request.budget.definition.symbol}")
    for stage in dict.fromkeys((*planned.shares.keys() - planned.stages.keys(), *planned.stages)):
        share = planned.shares[stage].number if stage in planned.shares else ""
        rows.add_row(stage, text(planned.stages.get(stage, "privmine itself")), share)
    out.print(rows)
    out.print("\nWhat a stage does not spend goes to the next stage.")
    if planned.remaining is not None:
        out.print(f"[bold]Ledger:[/] {Guarantee(planned.remaining)} would remain for {text(planned.dataset)}.")


def show_remaining(wish: Wish) -> None:
    """What the ledger has left for whoever paid."""
    if wish.ledger is not None and wish.dataset is not None:
        left = wish.ledger.budget(wish.dataset, account=wish.account, part=wish.part)
        worth = Guarantee(left.remaining_epsilon, left.remaining_delta)
        console().print(f"[bold]Remaining:[/] {worth} for {text(left.label)}")


def show_hint(release: Release, max_length: int | None = None) -> None:
    """On a terminal, whether another method would have found more; made of the release alone, which is shown by now."""
    if not (sys.stdout.isatty() and sys.stderr.isatty()):
        return
    from privmine.planning.better_method import hint

    with activity("Comparing methods on made-up baskets, Ctrl-C to skip …"):
        try:
            found = hint(release, max_length)
        except KeyboardInterrupt:
            return
    if found is not None:
        console().print(f"[bold]Hint:[/] {text(in_shell(found))}", style="dim")
