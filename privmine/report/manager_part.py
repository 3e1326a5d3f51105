"""The first pages of a report, in words for people who never heard of ε: what was found, and what it is worth."""

from __future__ import annotations

from math import isfinite

from privmine.privacy.unit import Unit
from privmine.release.display import DEFAULT_LEVEL, caveat, headline, interval_text, items_text, percent, whole
from privmine.release.html_chart import SHOWN, interval_chart, support_chart
from privmine.release.rules.listing import Wanted, list_rules, words
from privmine.release.verdict import told_from_zero
from privmine.report.markup import (
    GridCell,
    Html,
    coded,
    element,
    grid,
    joined,
    labels,
    listing,
    paragraph,
    part_of_release,
    section,
)
from privmine.report.odds import BELIEFS, belief_after, chance, promise
from privmine.report.paid import Books, NamedRelease, charges_text, together

#: More rows than these make a page that no browser sorts; the release file has all of them.
MOST_ROWS = 5_000
MOST_RULES = 200


def in_short(books: Books, missing: int) -> Html:
    """The whole report in a few sentences."""
    sentences: list[object] = [element("strong", f"To look into: {doubt}") for doubt in books.doubts]
    for paid in books.paid:
        release, name = paid.named.release, paid.named.name
        sentences.append(joined((element("strong", name), f": {headline(release)}.")))
        if len(release):
            first, within = release[0], release.intervals()[0]
            sentences.append(
                joined(
                    (
                        "Found most often: ",
                        labels(first.items),
                        f", in about {first.support:.1%}".replace("%", " %"),
                        f" of them ({interval_text(within)}).",
                    )
                )
            )
        sentences += release.verdict.lines(release)[:1]
        if paid.named.receipt.private:
            receipt = paid.named.receipt
            sentences.append(f"Protected: {receipt.whom}, with {receipt.guarantee}.")
            odds, _, _, *exception = promise(receipt.guarantee, _one(receipt.unit or Unit()))
            sentences += [odds, *exception]
        else:
            sentences.append(element("strong", "NOT PRIVATE: the noise is simulated. Nobody is protected."))
    sentences += [
        f"All releases of {name} together{_as_known(books)}: {account.spent} in {charges_text(account.charges)}; "
        f"{account.left} is left."
        for name, account in books.accounts.items()
    ]
    if missing:
        link = element("a", f"{missing} questions", href="#fill-in")
        sentences.append(joined((link, " must still be answered by a person; they are marked.")))
    return section("short", listing(sentences))


def _as_known(books: Books) -> str:
    """A ledger that does not fit its releases may have forgotten some."""
    return ", as far as this ledger knows" if books.misfits else ""


def found(books: Books) -> Html:
    """What was found, release by release."""
    parts = [
        part_of_release(
            "found",
            number,
            paid.named.name,
            paragraph(f"{headline(paid.named.release)}."),
            _itemsets(paid.named),
            Html(support_chart(paid.named.release, DEFAULT_LEVEL)),
        )
        for number, paid in enumerate(books.paid, 1)
    ]
    return section(
        "found",
        paragraph(
            "Each line is a set of items that occur together. The count is how often, with noise that protects people.",
            f"The true count lies within the interval with a probability of at least {percent(DEFAULT_LEVEL)}.",
            "A support is the count as a share of all.",
        ),
        *parts,
    )


def _itemsets(named: NamedRelease) -> Html:
    release = named.release
    if not len(release):
        return paragraph("Nothing is listed.")
    clear = told_from_zero(release)
    rows = [
        (
            GridCell(str(rank), rank),
            labels(one.items),
            GridCell(str(len(one.items)), len(one.items)),
            GridCell(f"{100 * one.support:.2f} %", one.support),
            GridCell(whole(one.count), one.count),
            GridCell(interval_text(within), within.low),
            "yes" if is_clear else "no",
        )
        for rank, (one, within, is_clear) in enumerate(
            zip(release.itemsets[:MOST_ROWS], release.intervals(), clear, strict=False), 1
        )
    ]
    headings = ("rank", "itemset", "items", "support", "count", f"{percent(DEFAULT_LEVEL)} interval", "clearly above 0")
    more = len(release) - len(rows)
    return joined(
        (
            grid(f"Itemsets of {named.name}", headings, rows, number="n-nnnn", sorts=True),
            paragraph(caveat(release)) if caveat(release) else Html(),
            paragraph(f"{more:,} more itemsets stand in the release file.") if more else Html(),
        )
    )


def rules(books: Books) -> Html:
    """Rules with their error bars."""
    parts = [
        part_of_release("rules", number, paid.named.name, *_rules(paid.named))
        for number, paid in enumerate(books.paid, 1)
    ]
    return section(
        "rules",
        paragraph(
            "A rule says: where these items are, those are more often than elsewhere. The confidence is how often; "
            "the lift is how many times as often as one would expect by chance, which is 1.",
            "Only rules that noise does not explain are listed. Rules are computed from what is released, so that "
            "they tell nothing more about anybody.",
        ),
        *parts,
    )


def _rules(named: NamedRelease) -> list[Html]:
    listed = list_rules(named.release, Wanted())
    columns = listed.columns
    notes = [
        sentence.replace("The columns _low and _high", "The numbers in brackets")
        for sentence in words(named.release, listed)
    ]
    if not len(listed):
        return [paragraph("No rule is clearly more than chance."), listing(notes)]
    order = sorted(range(len(listed)), key=lambda row: -columns["lift_low"][row])[:MOST_RULES]
    rows = [
        (
            labels(columns["antecedents"][row]),
            labels(columns["consequents"][row]),
            *(
                GridCell(_ranged(*(columns[name + end][row] for end in ("", "_low", "_high"))), columns[name][row])
                for name in ("confidence", "lift")
            ),
            GridCell(f"{100 * columns['support'][row]:.2f} %", columns["support"][row]),
        )
        for row in order
    ]
    drawn = [
        (
            f"{items_text(columns['antecedents'][row])} → {items_text(columns['consequents'][row])}",
            float(columns["lift"][row]),
            float(columns["lift_low"][row]),
            float(columns["lift_high"][row]),
        )
        for row in order[:SHOWN]
    ]
    level = percent(listed.level)
    chart = interval_chart(
        drawn, f"Lift of {len(drawn)} rules with {level} intervals; the dashed line is chance", dots=True, mark=1.0
    )
    more = len(listed) - len(order)
    return [
        grid(
            f"Rules of {named.name}", ("if", "then", "confidence", "lift", "support"), rows, number="--nnn", sorts=True
        ),
        paragraph(coded(f"{more:,} more rules: `privmine rules` lists them.")) if more else Html(),
        Html(chart),
        listing(notes),
    ]


def _ranged(value: float, low: float, high: float) -> str:
    until = f"{high:.2f}" if isfinite(high) else "any"
    return f"{value:.2f} [{low:.2f} to {until}]"


def trust(books: Books) -> Html:
    """How far the numbers can be trusted, and for whom they are worse."""
    parts = [
        part_of_release(
            "trust",
            number,
            paid.named.name,
            listing(paid.named.release.verdict.lines(paid.named.release)),
            *_total(paid.named),
        )
        for number, paid in enumerate(books.paid, 1)
    ]
    bias = section(
        "bias",
        listing(
            (
                "Noise has the same size for every itemset, so that rare ones drown first: what few people do is "
                "missing or uncertain, also where those few are a group that matters.",
                "Itemsets are listed because their noisy counts are large; the intervals allow for that.",
                "Where only some transactions of each unit are counted, those who come often weigh less than in the "
                "data.",
                "The intervals are about noise only. Whether the data represents the people in question, they do not "
                "say.",
            )
        ),
    )
    return section("trust", *parts, bias)


def _total(named: NamedRelease) -> list[Html]:
    release = named.release
    if release.receipt.n_public:
        return [paragraph(f"There were {release.total:,.0f} transactions; that number is published as it is.")]
    within = interval_text(release.total_interval())
    return [paragraph(f"There were about {release.total:,.0f} {release.receipt.counted} ({within}).")]


def protected(books: Books) -> Html:
    """Who is protected, and what ε and δ mean in odds."""
    parts = [
        part_of_release("protected", number, paid.named.name, *_promise(paid.named))
        for number, paid in enumerate(books.paid, 1)
    ]
    return section("protected", *parts, _odds(books))


def _promise(named: NamedRelease) -> list[Html]:
    receipt = named.receipt
    if not receipt.private:
        return [paragraph(element("strong", "Nobody: the noise is simulated. Do not publish this release."))]
    unit = receipt.unit or Unit()
    sentences = [f"Protected is {receipt.whom}, with {receipt.guarantee}.", *promise(receipt.guarantee, _one(unit))]
    if unit.is_transaction:
        sentences.append(
            "A person with several transactions is protected less: ten transactions of one person have ten times this "
            "ε."
        )
    return [listing(sentences)]


def _one(unit: Unit) -> str:
    return f"one {unit.name}"


def _odds(books: Books) -> Html:
    """Beliefs before and after, for each release and for all together."""
    worth = [(paid.named.name, paid.named.receipt.guarantee) for paid in books.paid if paid.named.receipt.private]
    several = len(worth) > 1
    worth += [(f"all of {name}{_as_known(books)}", account.spent) for name, account in books.accounts.items()]
    total, _ = together([paid.named.receipt for paid in books.paid])
    if total is not None and several and (not books.accounts or books.misfits):
        worth.append(("all of these", total))
    if not worth:
        return section("odds", paragraph("There are none to tell: nobody is protected."))
    rows = []
    for name, guarantee in worth:
        ends = (belief_after(before, guarantee) for before in BELIEFS)
        rows.append((name, str(guarantee), *(f"{chance(low)} to {chance(high)}" for low, high in ends)))
    headings = ("after reading", "with", *(f"believed {before:.0%} before".replace("%", " %") for before in BELIEFS))
    return section(
        "odds",
        paragraph(
            "Somebody believes with some probability that the data of one of those who are protected was used. They "
            "know everything else. This is how far reading can move that belief in the worst case."
        ),
        grid("Belief after reading, by the belief before", headings, rows, number="-nnnnn"),
        paragraph("Where there is a δ, it can be moved further with that probability.")
        if any(guarantee.delta for _, guarantee in worth)
        else Html(),
        paragraph(
            "It is a bound and no forecast: most readers know less and learn less. What is true of people in general "
            "is not hidden: a release is made to tell it."
        ),
    )
