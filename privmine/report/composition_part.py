"""What all releases of a dataset cost together, what is left, and which row of the ledger paid for what."""

from __future__ import annotations

from fractions import Fraction

from privmine.exact import amount
from privmine.ledger.entries import DatasetBudget, Entry
from privmine.ledger.rho_budget import RhoBudget
from privmine.privacy.conversion import epsilon_of
from privmine.privacy.guarantee import Guarantee, at_epsilon, equation
from privmine.report.contents import Contents
from privmine.report.markup import Html, definitions, element, grid, joined, paragraph, part_of_release, section
from privmine.report.paid import Account, charges_text, together

_WIDTH, _HEIGHT = 720, 26


def composition(contents: Contents) -> Html:
    """The sums, with and without a ledger."""
    books = contents.books
    total, why = together([paid.named.receipt for paid in contents.paid])
    given = [
        paragraph(
            element("strong", f"The releases in this report together: {total}." if total is not None else "No sum."),
            why,
        )
        if len(contents.paid) > 1 or not books.accounts
        else Html()
    ]
    if not books.ledger:
        given.append(
            paragraph(
                element("mark", "No ledger was given"),
                ", so that other releases of the same data may exist that this report does not know of.",
                class_="open",
            )
        )
    datasets = [
        part_of_release("dataset", number, f"Dataset {name}", *_dataset(contents, account))
        for number, (name, account) in enumerate(books.accounts.items(), 1)
    ]
    return section(
        "composition",
        paragraph(
            "Releases of the same data add up: their ε are summed, and so are their δ (sequential composition), or "
            "their ρ where the budget of the ledger adds up ρ. This "
            "holds also where a later question depends on earlier answers. Failed releases stay counted."
        ),
        *given,
        *datasets,
        _payments(contents),
    )


def _dataset(contents: Contents, account: Account) -> list[Html]:
    budget = account.whole
    facts: list[tuple[object, object]] = [
        ("Protects", f"one {budget.unit}"),
        ("Counted in", budget.definition),
        ("Budget", Guarantee(budget.total_epsilon, budget.total_delta)),
        ("Spent", account.spent),
        ("Left", account.left),
    ]
    if budget.reserved_epsilon:
        granted = Guarantee(budget.reserved_epsilon, budget.reserved_delta or None)
        facts.insert(-1, ("Granted to accounts, not spent", granted))
    if budget.until is not None:
        facts.append(("Until", f"{budget.until:%Y-%m-%d}"))
    if isinstance(budget, RhoBudget):
        facts.insert(2, ("Added up", f"{budget.account_of_rho} A release under pure ε counts ε²/2."))
    for_all = [_counted(entry) for entry in account.charges if not entry.part]
    return [
        definitions(facts),
        _picture(budget, for_all),
        _shares(account),
        _charges(contents, account),
        _others(account),
    ]


def _shares(account: Account) -> Html:
    """Who shares the budget, if anybody does."""
    if len(account.budgets) == 1:
        return Html()
    rows = [
        (
            budget.label,
            Guarantee(budget.total_epsilon, budget.total_delta),
            Guarantee(budget.spent_epsilon, budget.spent_delta),
            Guarantee(budget.reserved_epsilon, budget.reserved_delta or None),
            Guarantee(budget.remaining_epsilon, budget.remaining_delta),
        )
        for budget in account.budgets
    ]
    headings = ("budget", "total", "spent", "granted and not spent", "left")
    return joined(
        (
            grid(f"Who shares the budget of {account.whole.name}", headings, rows, number="-nnnn"),
            paragraph(
                "An account (after “/”) has a share of the dataset's budget and cannot exceed it. A part (after "
                "“+”) is of "
                "people who came later: what was released before them cost them nothing."
            ),
        )
    )


def _charges(contents: Contents, account: Account) -> Html:
    budget = account.whole
    files = {
        paid.row.sequence: paid.named.name
        for paid in contents.paid
        if paid.row is not None and paid.row.dataset == budget.name
    }
    running = {"": Fraction(0)}
    rows = []
    for entry in account.entries:
        if entry.event == "grow" and entry.part:
            running[entry.part] = Fraction(0)
        if entry.event != "charge":
            continue
        for part in [entry.part] if entry.part else running:
            running[part] += _counted(entry)
        rows.append(
            (
                str(entry.sequence),
                _time(entry),
                *_amounts(entry, budget),
                _so_far(budget, max(running.values())),
                entry.state,
                files.get(entry.sequence, "not in this report"),
                _who(entry),
                entry.note,
            )
        )
    headings = ("row", "time", *_symbols(budget), "sum so far", "state", "release", "charged by, for", "note")
    charges = grid(f"Every charge to {budget.name}", headings, rows, number="n-n" + "n" * len(_symbols(budget)))
    if len(account.of_people) == 1:
        return charges
    said = "A charge to a part costs its people alone: the sum so far is the most that anybody had lost by then."
    return joined((charges, paragraph(said)))


def _others(account: Account) -> Html:
    """What else happened: how the budget was opened, shared and renewed, and how the data grew."""
    quiet = ("charge", "finished", "failed")
    rows = [
        (str(entry.sequence), _time(entry), entry.event, *_amounts(entry, account.whole), _who(entry), entry.note)
        for entry in account.entries
        if entry.event not in quiet
    ]
    headings = ("row", "time", "event", *_symbols(account.whole), "by, for", "note")
    return grid(f"How the budget of {account.whole.name} was set", headings, rows, number="n--n")


def _counted(entry: Entry) -> Fraction:
    """What the budget adds up: ε, or ρ."""
    return (entry.epsilon if entry.rho is None else entry.rho) or Fraction(0)


def _so_far(budget: DatasetBudget, total: Fraction) -> str:
    """What charges add up to."""
    if isinstance(budget, RhoBudget):
        worth = Guarantee(epsilon_of(total, budget.noise_delta), budget.noise_delta)
        return f"{equation('ρ', amount(total))}: {worth}"
    return at_epsilon(amount(total))


def _symbols(budget: DatasetBudget) -> tuple[str, ...]:
    return ("ε", "δ", "ρ") if isinstance(budget, RhoBudget) else ("ε", "δ") if budget.total_delta else ("ε",)


def _amounts(entry: Entry, budget: DatasetBudget) -> list[str]:
    told = zip(_symbols(budget), (entry.epsilon, entry.delta, entry.rho), strict=False)
    return ["" if value is None else f"{symbol} = {amount(value)}" for symbol, value in told]


def _time(entry: Entry) -> Html:
    return element("time", f"{entry.time:%Y-%m-%d %H:%M} UTC")


def _who(entry: Entry) -> str:
    """Who wrote a row and from where, for which source, account, people and period."""
    told = (
        entry.by and f"{entry.by} on {entry.host}",
        entry.origin,
        entry.account and f"account {entry.account}",
        entry.part and f"part {entry.part}",
        entry.people and f"rows of {entry.people} people",
        entry.until and f"until {entry.until}",
    )
    return ", ".join(filter(None, told))


def _picture(budget: DatasetBudget, spent: list[Fraction]) -> Html:
    """The budget as a bar: a part for each charge, and what is left."""
    left, parts = 0.0, []
    whole = budget.total_rho if isinstance(budget, RhoBudget) else budget.total_epsilon
    for charge in spent:
        width = _WIDTH * float(charge / whole)
        parts.append(
            f"<rect x='{left:.1f}' y='1' width='{max(width, 0.5):.1f}' height='{_HEIGHT - 2}' fill='#0072B2' "
            "stroke='#fff'/>"
        )
        left += width
    words = (
        f"The budget of {budget.name}: ε = {amount(budget.spent_epsilon)} of {amount(budget.total_epsilon)} spent in "
        f"{charges_text(spent)}"
    )
    svg = element(
        "svg",
        Html("".join(parts)),
        Html(f"<rect x='.5' y='.5' width='{_WIDTH - 1}' height='{_HEIGHT - 1}' fill='none' stroke='currentColor'/>"),
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=words,
    )
    return element("figure", svg, element("figcaption", element("small", f"{words}.")))


def _payments(contents: Contents) -> Html:
    """What paid for each release."""
    return section(
        "payments",
        contents.by_release(
            "Payments",
            {
                "payment": [element("strong", paid.words) if paid.doubtful else paid.words for paid in contents.paid],
                "recorded in the receipt": [
                    paid.named.receipt.payment or "no payment recorded" for paid in contents.paid
                ],
            },
        ),
        paragraph(_which(contents)),
    )


def _which(contents: Contents) -> str:
    books = contents.books
    return f"Ledger: {books.ledger}, identity {books.identity}." if books.ledger else "No ledger was given."
