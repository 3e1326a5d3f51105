"""`privmine mine`."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import rich_click as click
from rich.console import Console

from privmine.cli.screen import console, fail, print_json, progress, table, text
from privmine.errors import BudgetError, InputError, RunInterrupted, UnsavedReleaseError
from privmine.io import groceries, read
from privmine.ledger import Ledger
from privmine.model import DATA_STAGES
from privmine.pipeline import DEFAULT_METHOD, Pipeline, check_conditions, make_request, noise_source
from privmine.privacy import amount
from privmine.release import Release
from privmine.release.display import headline, items_text
from privmine.release.files import check_output, to_json
from privmine.spec import override, read_spec
from privmine.store.transactions import Transactions

DEFAULT_K = 100
EMBEDDED_K = 30
EMBEDDED_EPSILON = "1"


@click.command()
@click.argument("data", required=False, type=click.Path(path_type=Path))
@click.option(
    "--k",
    "k",
    type=int,
    help=f"How many itemsets to release.  [default: {DEFAULT_K}; {EMBEDDED_K} of the embedded baskets]",
)
@click.option("--epsilon", help="The privacy budget ε of this release; required for data of your own.")
@click.option("--method", help=f"A whole pipeline by name, see `privmine plugins`.  [default: {DEFAULT_METHOD}]")
@click.option("--pipeline", "file", type=click.Path(path_type=Path), help="Read the pipeline from a TOML file.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="STAGE[.PARAM]=VALUE",
    help="Choose a stage's component, or set one of its parameters; may be repeated.",
)
@click.option("--items", type=click.Path(path_type=Path), help="The public item universe, one item a line.")
@click.option("--strict", is_flag=True, help="Refuse data whose item universe is not given by --items.")
@click.option("--max-length", type=int, help="The longest itemset to release.")
@click.option(
    "--n-public",
    is_flag=True,
    help="Publish the exact number of transactions; the receipt says at what price.",
)
@click.option("--ledger", type=click.Path(path_type=Path), help="Charge the budget that this ledger file keeps.")
@click.option("--dataset", help="The name of the data in the ledger.")
@click.option("--output", type=click.Path(path_type=Path), help="Save to a .csv, .json, .parquet or .html file.")
@click.option(
    "--trust", multiple=True, metavar="DIST", help="Let this distribution's own queries run; may be repeated."
)
@click.option("--simulate", is_flag=True, help="Fast noise for research that protects nobody.")
@click.option("--seed", type=int, help="Makes a simulation repeatable.")
@click.option("--dry-run", is_flag=True, help="Check everything and show the plan; draw and charge nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the release as JSON.")
def mine(
    data: Path | None,
    k: int | None,
    epsilon: str | None,
    method: str | None,
    file: Path | None,
    settings: tuple[str, ...],
    items: Path | None,
    strict: bool,
    trust: tuple[str, ...],
    dry_run: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Release the most frequent itemsets of DATA, a FIMI file: one transaction a line, items as numbers.

    Without DATA the embedded grocery baskets are mined, with ε = 1 unless another is given.

    Example:  privmine mine retail.dat --k 100 --epsilon 1 --output top100.csv
    """
    if data is None and items is not None:
        raise InputError("--items names the universe of DATA; the embedded baskets bring their own.")
    if data is None:
        epsilon, k = EMBEDDED_EPSILON if epsilon is None else epsilon, EMBEDDED_K if k is None else k
    if epsilon is None:
        raise InputError("How much privacy to spend is yours to say: add --epsilon, for instance --epsilon 1.")
    k = DEFAULT_K if k is None else k
    spec = _spec(method, file, settings)
    Pipeline.from_spec(spec, trust=trust)  # What is wrong with the pipeline shows before the data is read.
    if options["output"] is not None:
        check_output(options["output"])
    elif sys.stdout is None:
        raise InputError("The release would go nowhere: standard output is closed. Open it, or add --output FILE.")
    with progress("Reading the data …") as observers:
        transactions = groceries() if data is None else read(data, items=items)
        pipeline = Pipeline.from_spec(spec, trust=trust, observers=observers)
        if not dry_run:
            release = _run(pipeline, transactions, k, epsilon, strict=strict, **options)
    if dry_run:
        show_plan(pipeline, transactions, k, epsilon, strict, options, as_json)
        return
    try:
        if as_json:
            click.echo(to_json(release), nl=False)
        else:
            show_release(release, options["output"], options["ledger"])
        sys.stdout.flush()
    except (OSError, KeyboardInterrupt):
        kept = options["output"] or _rescued(release)
        # Whatever is left in the buffer cannot be written either, and must not fail once more at the exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        fail(f"The release is made and charged, but could not be shown; it is in {kept}.", 1)


def _run(pipeline: Pipeline, transactions: Transactions, k: int, epsilon: str, **options: Any) -> Release:
    """Run; Ctrl-C says what is gone. It is caught here, because click would turn it into a bare "Aborted"."""
    try:
        return pipeline.run(transactions, k, epsilon, **options)
    except RunInterrupted as error:
        fail(f"Interrupted: {error.fate}, and nothing was released.", 130)
    except UnsavedReleaseError as error:
        fail(f"{error} It was saved to {_rescued(error.release)} instead.", 1)


def _rescued(release: Release) -> str:
    """Save a release that is paid for and has nowhere to go."""
    handle, path = tempfile.mkstemp(prefix="privmine-release-", suffix=".json")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(to_json(release))
    return path


def _spec(method: str | None, file: Path | None, settings: tuple[str, ...]) -> dict[str, Any]:
    spec = {} if file is None else read_spec(file)
    if method is not None:
        if "method" in spec:
            raise InputError(f"{file} names the method {spec['method']!r} itself; drop --method, or the line.")
        spec["method"] = method
    return override(spec, settings)


def show_release(release: Release, saved: Path | None, ledger: Path | None = None) -> None:
    """A table, and the budget below it."""
    out = console()
    rows = table(
        "rank", "itemset", "support", "count", "± std. error", right=("rank", "support", "count", "± std. error")
    )
    for rank, found in enumerate(release, start=1):
        rows.add_row(
            str(rank),
            text(items_text(found.items)),
            f"{found.support:.4f}",
            f"{found.count:,.0f}",
            f"{found.standard_error:,.0f}",
        )
    out.print(f"[bold]{text(headline(release))}[/]\n")
    out.print(rows)
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
        remaining = Ledger(ledger).budget(receipt.dataset).remaining_epsilon
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


def show_plan(
    pipeline: Pipeline,
    transactions: Transactions,
    k: int,
    epsilon: str,
    strict: bool,
    options: dict[str, Any],
    as_json: bool,
) -> None:
    """What a run would do, from public facts only."""
    request = make_request(transactions, k, epsilon, options["max_length"], options["n_public"])
    source = noise_source(None, options["simulate"], options["seed"])
    check_conditions(request, source, strict, options["ledger"], options["dataset"])
    plan = pipeline.prepare(request).plan()
    shares = {stage: getattr(plan, stage) * request.epsilon for stage in DATA_STAGES}
    remaining = None
    if options["ledger"] is not None and options["dataset"] is not None:
        left = Ledger(options["ledger"]).budget(options["dataset"]).remaining_epsilon
        remaining = left - request.epsilon
        if remaining < 0:
            raise BudgetError(
                f"The run would be refused: it asks for ε = {amount(request.epsilon)}, "
                f"and ε = {amount(left)} remains for {options['dataset']}.",
                requested=request.epsilon,
                remaining=left,
            )
    facts = {
        "k": request.k,
        "epsilon": str(request.epsilon),
        "items": len(request.public.universe),
        "universe_given": request.public.universe.given,
        "stages": pipeline.describe(),
        "shares": {stage: str(share) for stage, share in shares.items()},
        "ledger_remaining_afterwards": None if remaining is None else str(remaining),
    }
    if as_json:
        print_json(facts)
        return
    out = console()
    out.print(f"[bold]Dry run:[/] k = {request.k}, ε = {amount(request.epsilon)}; nothing was drawn or charged.\n")
    rows = table("stage", "component", "share of ε")
    for stage, description in pipeline.describe().items():
        rows.add_row(stage, text(description), amount(shares[stage]) if stage in shares else "")
    out.print(rows)
    out.print("\nWhat a stage leaves of its share goes to the next one.")
    if remaining is not None:
        out.print(f"[bold]Ledger:[/] ε = {amount(remaining)} would remain for {text(options['dataset'])}.")
