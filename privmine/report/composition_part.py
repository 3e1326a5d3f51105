"""What all releases of a dataset cost together, what is left, and which row of the ledger paid for what."""

from __future__ import annotations

from fractions import Fraction

from privmine.exact import amount
from privmine.ledger.entries import DatasetBudget
from privmine.privacy.guarantee import Guarantee
from privmine.report.contents import Contents
from privmine.report.markup import Html, definitions, element, grid, paragraph, part_of_release, section
from privmine.report.paid import Account, together

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
            "Releases of the same data add up: their ε are summed, and so are their δ (sequential composition). This "
            "holds also where a later question depends on earlier answers. Failed releases stay counted."
        ),
        *given,
        *datasets,
        _payments(contents),
    )


def _dataset(contents: Contents, account: Account) -> list[Html]:
    budget = account.budget
    files = {
        paid.row.sequence: paid.named.name
        for paid in contents.paid
        if paid.row is not None and paid.row.dataset == budget.name
    }
    running = Fraction(0)
    rows = []
    for entry in account.charges:
        running += entry.epsilon or Fraction(0)
        rows.append(
            (
                str(entry.sequence),
                element("time", f"{entry.time:%Y-%m-%d %H:%M} UTC"),
                "" if entry.epsilon is None else f"ε = {amount(entry.epsilon)}",
                *(["" if entry.delta is None else f"δ = {amount(entry.delta)}"] if budget.total_delta else []),
                f"ε = {amount(running)}",
                entry.state,
                files.get(entry.sequence, "not in this report"),
                ", ".join(filter(None, (entry.by and f"{entry.by} on {entry.host}", entry.origin))),
                entry.note,
            )
        )
    with_delta = ("δ",) if budget.total_delta else ()
    headings = ("row", "time", "ε", *with_delta, "sum so far", "state", "release", "charged by, for", "note")
    return [
        definitions(
            (
                ("Protects", f"one {budget.unit}"),
                ("Counted in", budget.definition),
                ("Budget", Guarantee(budget.total_epsilon, budget.total_delta)),
                ("Spent", Guarantee(budget.spent_epsilon, budget.spent_delta)),
                ("Left", Guarantee(budget.remaining_epsilon, budget.remaining_delta)),
            )
        ),
        _picture(budget, [entry.epsilon or Fraction(0) for entry in account.charges]),
        grid(f"Every charge to {budget.name}", headings, rows, number="n-n" + ("nn" if with_delta else "n")),
    ]


def _picture(budget: DatasetBudget, spent: list[Fraction]) -> Html:
    """The budget as a bar: a part for each charge, and what is left."""
    left, parts = 0.0, []
    for charge in spent:
        width = _WIDTH * float(charge / budget.total_epsilon)
        parts.append(
            f"<rect x='{left:.1f}' y='1' width='{max(width, 0.5):.1f}' height='{_HEIGHT - 2}' fill='#0072B2' "
            "stroke='#fff'/>"
        )
        left += width
    words = (
        f"The budget of {budget.name}: ε = {amount(budget.spent_epsilon)} of {amount(budget.total_epsilon)} spent in "
        f"{len(spent)} charges"
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
