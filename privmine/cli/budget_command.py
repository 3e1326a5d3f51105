"""`privmine budget`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import rich_click as click

from privmine.cli.budget_chart import show_chart
from privmine.cli.screen import console, print_json, print_whole_words, table, text
from privmine.errors import InputError
from privmine.exact import amount
from privmine.ledger import DatasetBudget, Entry, Ledger
from privmine.ledger.entries import RHO, SUMS
from privmine.ledger.rho_budget import RhoBudget
from privmine.ledger.verification import PAID, UNCHECKED
from privmine.privacy.guarantee import Guarantee
from privmine.release.payments import verify_payments

ledger_option = click.option(
    "--ledger", "path", metavar="FILE", required=True, help="The ledger: a file, or postgresql://user@host/name."
)
dataset_option = click.option("--dataset", required=True, help="The name of the data.")
note_option = click.option("--note", default="", help="A line for the log.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")


@click.group()
def budget() -> None:
    """Keep the privacy budget of your datasets in a ledger.

    Example:  privmine budget show --ledger budget.db
    """


@budget.command()
@ledger_option
@click.option("--dataset", required=True, help="A name for the data.")
@click.option("--epsilon", "-e", required=True, help="The total ε that can ever be spent on it.")
@click.option("--delta", help="The total δ, for budgets of (ε, δ).")
@click.option(
    "--unit",
    default="transaction",
    show_default=True,
    help="Who is protected by every release: a transaction, or the owner of the transactions by a "
    "column such as customer_id.",
)
@click.option("--until", metavar="DATE", help="The last day of the first period, for budgets that can be renewed.")
@click.option(
    "--composition",
    type=click.Choice([RHO, SUMS]),
    help="With a δ: add up the ρ of releases, of which many cost much less together, or sums of their ε and δ.  "
    "[default: rho]",
)
@click.option("--private-items", is_flag=True, help="Keep a half of δ for releases with --items private.")
def init(
    path: str,
    dataset: str,
    epsilon: str,
    delta: str | None,
    unit: str,
    until: str | None,
    composition: str | None,
    private_items: bool,
) -> None:
    """Give a dataset a total budget; the ledger is created if there is none.

    Example:  privmine budget init --ledger budget.db --dataset orders-2026 --epsilon 3 --unit customer_id
    """
    ledger = Ledger(path)
    made = ledger.init(
        dataset, epsilon, delta, unit=unit, until=until, composition=composition, private_items=private_items
    )
    total = Guarantee(made.total_epsilon, made.total_delta)
    period = "" if made.until is None else f" until {made.until}"
    console().print(
        f"{text(made.name)} has a budget of {total} for one {text(made.unit)}{period} in {text(ledger.path)}."
    )
    if isinstance(made, RhoBudget):
        console().print("It adds up the ρ of releases: privmine mine … --delta D. A release under pure ε counts ε²/2.")
    elif made.total_delta is not None:
        console().print("Releases that it pays for need a δ as well: privmine mine … --delta D")


@budget.command()
@ledger_option
@dataset_option
@click.option("--to", required=True, help="A name for the account, such as that of an analyst or a team.")
@click.option("--epsilon", "-e", required=True, help="The ε that the account may spend.")
@click.option("--delta", help="Its δ, for budgets of (ε, δ).")
@note_option
def grant(path: str, dataset: str, to: str, epsilon: str, delta: str | None, note: str) -> None:
    """Give an account a part of a dataset's budget; it is set aside at once.

    Example:  privmine budget grant --ledger budget.db --dataset orders-2026 --to marketing --epsilon 0.5
    """
    made = Ledger(path).grant(dataset, to, epsilon, delta, note=note)
    given = Guarantee(made.total_epsilon, made.total_delta)
    console().print(
        f"{text(made.account)} may spend {given} of {text(made.name)}: privmine mine … --dataset {text(made.name)} "
        f"--account {text(made.account)}"
    )


@budget.command()
@ledger_option
@dataset_option
@click.option("--from", "account", required=True, help="The account.")
@note_option
def revoke(path: str, dataset: str, account: str, note: str) -> None:
    """Give what an account has not spent back to its dataset.

    Example:  privmine budget revoke --ledger budget.db --dataset orders-2026 --from marketing
    """
    made = Ledger(path).revoke(dataset, account, note=note)
    left = Guarantee(made.remaining_epsilon, made.remaining_delta)
    console().print(f"{text(account)} has nothing left. {text(made.name)} has {left} left.")


@budget.command()
@ledger_option
@dataset_option
@click.option("--until", metavar="DATE", required=True, help="The last day of the new period.")
@click.option("--epsilon", "-e", required=True, help="The ε of the new period.")
@click.option("--delta", help="Its δ, for budgets of (ε, δ).")
@note_option
def renew(path: str, dataset: str, until: str, epsilon: str, delta: str | None, note: str) -> None:
    """Open the next period of a dataset's budget, after the last one has ended.

    What was spent stays spent, and what was not lapses, that of accounts included.

    Example:  privmine budget renew --ledger budget.db --dataset orders --until 2027-12-31 --epsilon 1
    """
    made = Ledger(path).renew(dataset, until, epsilon, delta, note=note)
    left, lost = (
        Guarantee(made.remaining_epsilon, made.remaining_delta),
        Guarantee(made.spent_epsilon, made.spent_delta),
    )
    console().print(f"{text(made.name)} has {left} until {made.until}. Earlier periods have cost {lost}.")


@budget.command()
@ledger_option
@dataset_option
@click.option(
    "--people",
    type=click.Choice(["new", "same"]),
    help="Whose the new rows are: of new people, none of whom is in the data already, or of the same ones.",
)
@click.option("--part", default="", help="A name for new people.")
@click.option("--epsilon", "-e", help="The ε that all releases may cost new people.")
@click.option("--delta", help="Their δ, for budgets of (ε, δ).")
@note_option
def grow(
    path: str, dataset: str, people: str | None, part: str, epsilon: str | None, delta: str | None, note: str
) -> None:
    """Note that rows came to a dataset, and say whose they are.

    Rows of the same people change nothing. New people get a budget of their own: releases of their rows alone
    (privmine mine … --part NAME) are charged to them alone, releases of all rows to everybody.

    Example:  privmine budget grow --ledger budget.db --dataset orders --people new --part 2027 --epsilon 1
    """
    if people is None:
        if not sys.stdin.isatty():
            raise InputError("Say whose the new rows are: --people new or --people same. If you do not know: same.")
        known = click.confirm("May anybody in the new rows be in the data already?", default=True)
        people = "same" if known else "new"
    made = Ledger(path).grow(dataset, people, part, epsilon, delta, note=note)
    if people == "same":
        left = Guarantee(made.remaining_epsilon, made.remaining_delta)
        console().print(f"Noted. What was spent on the people of {text(made.name)} stays spent: {left} is left.")
        return
    console().print(
        f"{text(made.part)} has a budget of {Guarantee(made.total_epsilon, made.total_delta)}. Releases of its rows "
        f"alone: --dataset {text(made.name)} --part {text(made.part)}"
    )


@budget.command("verify")
@click.argument("releases", metavar="RELEASE…", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--ledger", "path", metavar="FILE", help="The ledger: a file, or postgresql://user@host/name.")
@json_option
def verify_paid(releases: tuple[Path, ...], path: str | None, as_json: bool) -> None:
    """Tell which releases the ledger has paid for, and whether two claim one row.

    Without --ledger the releases are compared with each other only. The exit code is 0 if all is well, 1 if not, and 2
    if a file is no release or the ledger was edited. `privmine verify` tells whether a release was changed.

    Example:  privmine budget verify may.csv june.csv --ledger budget.db
    """
    found = verify_payments(releases, path)
    if as_json:
        print_json(found.to_dict())
    else:
        rows = table("release", "row", "verdict", "why")
        for finding in found.findings:
            fine = "" if finding.verdict in (PAID, UNCHECKED) else "[bold red]"
            row = "" if finding.row is None else str(finding.row)
            rows.add_row(text(finding.name), row, f"{fine}{text(finding.verdict)}", text(finding.reason))
        print_whole_words(rows)
        if found.ledger is not None:
            console().print(f"The chain of ledger {found.ledger} holds over all {found.rows:,} rows.")
            if found.unclaimed:
                listed = ", ".join(map(str, found.unclaimed[:20])) + (" …" if len(found.unclaimed) > 20 else "")
                console().print(f"Rows of charges that none of these releases claims: {listed}")
    if not found.holds:
        raise SystemExit(1)


@budget.command()
@ledger_option
@click.option("--chart", is_flag=True, help="Draw what was spent over time.")
@json_option
def show(path: str, chart: bool, as_json: bool) -> None:
    """Show what each dataset may cost, has cost and has left, with its accounts and parts.

    Example:  privmine budget show --ledger budget.db
    """
    ledger = Ledger(path)
    if chart:
        if as_json:
            raise InputError("Choose one of --chart and --json.")
        show_chart(ledger.log())
        return
    budgets = ledger.show()
    if as_json:
        print_json([made.to_dict() for made in budgets])
        return
    with_delta = any(made.total_delta is not None for made in budgets)
    shared, periods = any(made.account for made in budgets), any(made.until is not None for made in budgets)
    kinds = ("total", "spent", *(["granted, unspent"] if shared else []), "remaining")
    rows = table(
        "dataset",
        "unit",
        *(f"{kind} {symbol}" for symbol in "εδ"[: 1 + with_delta] for kind in kinds),
        *(["until"] if periods else []),
    )
    for made in budgets:
        epsilons = [made.total_epsilon, made.spent_epsilon, made.remaining_epsilon]
        deltas = [made.total_delta, made.spent_delta, made.remaining_delta] if with_delta else []
        if shared:
            epsilons.insert(2, made.reserved_epsilon)
        if shared and with_delta:
            deltas.insert(2, None if made.total_delta is None else made.reserved_delta)
        rows.add_row(
            text(made.label),
            text(made.unit),
            *("" if value is None else amount(value) for value in (*epsilons, *deltas)),
            *([str(made.until or "")] if periods else []),
        )
    print_whole_words(rows)
    _tell_rho(budgets)


@budget.command()
@ledger_option
@click.option("--dataset", help="Only this dataset.")
@click.option("--csv", "as_csv", is_flag=True, help="Print it as CSV.")
@json_option
def log(path: str, dataset: str | None, as_csv: bool, as_json: bool) -> None:
    """Show every charge and how its release ended.

    Example:  privmine budget log --ledger budget.db --csv > log.csv
    """
    ledger = Ledger(path)
    if as_csv and as_json:
        raise InputError("Choose one of --csv and --json.")
    if as_csv or as_json:
        click.echo(ledger.export("csv" if as_csv else "json", dataset), nl=False)
        return
    budgets, entries = ledger.look_up(dataset)
    with_delta = any(entry.delta is not None for entry in entries)
    with_rho = any(entry.rho is not None for entry in entries)
    symbols = ["ε", *(["δ"] if with_delta else []), *(["ρ"] if with_rho else [])]
    rows = table("no.", "time (UTC)", "dataset", "event", *symbols, "state", "by", "note")
    for entry in entries:
        rows.add_row(
            str(entry.sequence),
            f"{entry.time:%Y-%m-%d %H:%M:%S}",
            text(entry.dataset),
            entry.event if entry.charge is None else f"{entry.event} (no. {entry.charge})",
            "" if entry.epsilon is None else amount(entry.epsilon),
            *(["" if entry.delta is None else amount(entry.delta)] if with_delta else []),
            *(["" if entry.rho is None else amount(entry.rho)] if with_rho else []),
            text(entry.state),
            text(f"{entry.by}@{entry.host}" if entry.host else entry.by),
            text(_said(entry)),
        )
    print_whole_words(rows)
    _tell_rho(budgets)


def _tell_rho(budgets: Sequence[DatasetBudget]) -> None:
    """How the totals of budgets that add up ρ were reached."""
    for made in budgets:
        if isinstance(made, RhoBudget):
            console().print(text(made.account_of_rho))


def _said(entry: Entry) -> str:
    """The note, with for whom and from what the entry is."""
    facts = {"account": entry.account, "part": entry.part, "people": entry.people, "until": entry.until}
    told = [f"{name} {value}" for name, value in facts.items() if value]
    # The unit is the same for all that happens to a dataset, so that it is said once.
    unit = f"for one {entry.unit}" if entry.event == "init" else ""
    return ", ".join(filter(None, (entry.note or unit, *told, entry.origin and f"from {entry.origin}")))
