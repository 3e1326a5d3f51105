"""`privmine budget`."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from privmine.cli.screen import console, print_json, print_whole_words, table, text
from privmine.errors import InputError
from privmine.exact import amount
from privmine.ledger import Ledger
from privmine.privacy.guarantee import Guarantee

ledger_option = click.option(
    "--ledger", "path", required=True, type=click.Path(path_type=Path), help="The ledger file."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")


@click.group()
def budget() -> None:
    """Keep the privacy budget of your datasets in a ledger file.

    Example:  privmine budget show --ledger budget.db
    """


@budget.command()
@ledger_option
@click.option("--dataset", required=True, help="A name for the data.")
@click.option("--epsilon", required=True, help="The total ε that can ever be spent on it.")
@click.option("--delta", help="The total δ, for budgets of (ε, δ).")
@click.option(
    "--unit",
    default="transaction",
    show_default=True,
    help="Who is protected by every release: a transaction, or the owner of the transactions by a "
    "column such as customer_id.",
)
def init(path: Path, dataset: str, epsilon: str, delta: str | None, unit: str) -> None:
    """Give a dataset a total budget; the ledger file is created if there is none.

    Example:  privmine budget init --ledger budget.db --dataset orders-2026 --epsilon 3 --unit customer_id
    """
    made = Ledger(path).init(dataset, epsilon, delta, unit=unit)
    total = Guarantee(made.total_epsilon, made.total_delta)
    console().print(f"{text(made.name)} has a budget of {total} for one {text(made.unit)} in {text(path)}.")
    if made.total_delta is not None:
        console().print(
            "`privmine mine` releases under pure ε and cannot charge this budget. Its releases need a budget without δ."
        )


@budget.command()
@ledger_option
@json_option
def show(path: Path, as_json: bool) -> None:
    """Show what each dataset may cost, has cost and has left.

    Example:  privmine budget show --ledger budget.db
    """
    budgets = Ledger(path).show()
    if as_json:
        print_json([made.to_dict() for made in budgets])
        return
    with_delta = any(made.total_delta is not None for made in budgets)
    kinds = ("total", "spent", "remaining")
    rows = table("dataset", "unit", *(f"{kind} {symbol}" for symbol in "εδ"[: 1 + with_delta] for kind in kinds))
    for made in budgets:
        deltas = (made.total_delta, made.spent_delta, made.remaining_delta) if with_delta else ()
        rows.add_row(
            text(made.name),
            text(made.unit),
            amount(made.total_epsilon),
            amount(made.spent_epsilon),
            amount(made.remaining_epsilon),
            *("" if delta is None else amount(delta) for delta in deltas),
        )
    print_whole_words(rows)


@budget.command()
@ledger_option
@click.option("--dataset", help="Only this dataset.")
@click.option("--csv", "as_csv", is_flag=True, help="Print it as CSV.")
@json_option
def log(path: Path, dataset: str | None, as_csv: bool, as_json: bool) -> None:
    """Show every charge and how its release ended.

    Example:  privmine budget log --ledger budget.db --csv > log.csv
    """
    ledger = Ledger(path)
    if as_csv and as_json:
        raise InputError("Choose one of --csv and --json.")
    if as_csv or as_json:
        click.echo(ledger.export("csv" if as_csv else "json", dataset), nl=False)
        return
    entries = ledger.log(dataset)
    with_delta = any(entry.delta is not None for entry in entries)
    rows = table("no.", "time (UTC)", "dataset", "event", *"εδ"[: 1 + with_delta], "state", "note")
    for entry in entries:
        rows.add_row(
            str(entry.sequence),
            f"{entry.time:%Y-%m-%d %H:%M:%S}",
            text(entry.dataset),
            entry.event if entry.charge is None else f"{entry.event} (no. {entry.charge})",
            "" if entry.epsilon is None else amount(entry.epsilon),
            *(["" if entry.delta is None else amount(entry.delta)] if with_delta else []),
            text(entry.state),
            # The unit is the same for all that happens to a dataset, so that it is said once.
            text(entry.note or f"for one {entry.unit}" if entry.event == "init" else entry.note),
        )
    print_whole_words(rows)
