"""What an officer must know of a guarantee: whom it protects, by which definition, on what it rests, what it omits."""

from __future__ import annotations

from collections.abc import Iterable

from privmine.privacy import Receipt
from privmine.privacy.cost import UNSPENT
from privmine.privacy.definition import ZCDP
from privmine.privacy.unit import Unit
from privmine.report.contents import Contents
from privmine.report.markup import Html, element, grid, listing, paragraph, part_of_release, section
from privmine.report.odds import one_in
from privmine.report.paid import NamedRelease

#: What a receipt of an earlier version does not tell.
_NOT_NOTED = "not noted by the version that made it"


def unit(contents: Contents) -> Html:
    """Who is protected, and what neighbours differ by."""
    receipts = [paid.named.receipt for paid in contents.paid]
    table = contents.by_release(
        "Who is protected in each release",
        {
            "protects": [receipt.whom for receipt in receipts],
            "neighbours differ by": [_change(receipt) for receipt in receipts],
        },
    )
    sentences = [
        "Two data sets are neighbours if they differ in this and in nothing else. The promise holds for every such "
        "pair, also for the strangest person in it.",
        "The unit is what a column says. Somebody with two numbers is two units; a family with one card is one.",
    ]
    if any((receipt.unit or Unit()).is_transaction for receipt in receipts if receipt.private):
        sentences.append(
            f"Where one transaction is protected, a person with m of them is protected with {_of_many(receipts)}. If "
            "people have more than one, that is not a promise to a person."
        )
    return section("unit", table, listing(sentences))


def _of_many(receipts: Iterable[Receipt]) -> str:
    """What m of those who are protected lose together."""
    if not any(isinstance(receipt.definition, ZCDP) for receipt in receipts):
        return "m times ε"
    return "m times ε, and where there is a δ with m² times ρ, which is worth more than m times ε at that δ"


def _change(receipt: Receipt) -> str:
    return _NOT_NOTED if receipt.unit is None else receipt.unit.change(replaced=receipt.n_public)


def definition(contents: Contents) -> Html:
    """The definition of privacy, its parameters and what they mean."""
    receipts = [paid.named.receipt for paid in contents.paid]
    table = contents.by_release(
        "Definition and parameters of each release",
        {
            "definition": [receipt.definition.name for receipt in receipts],
            "guarantee": [
                str(receipt.guarantee) if receipt.private else f"none; nominal {receipt.cost}" for receipt in receipts
            ],
            "cost": [str(receipt.cost) for receipt in receipts],
        },
    )
    promises = dict.fromkeys(f"{receipt.protects}." for receipt in receipts)
    deltas = dict.fromkeys(receipt.guarantee.delta for receipt in receipts if receipt.guarantee.delta)
    risky = [f"δ = {one_in(float(delta))}: with at most this probability nothing is promised." for delta in deltas]
    why = section("why-epsilon", contents.filled.asked("epsilon-reason", "necessity"))
    return section("definition", table, listing([*promises, *risky]), why)


def charges(contents: Contents) -> Html:
    """Every charge of every release."""
    rows = []
    for paid in contents.paid:
        receipt = paid.named.receipt
        rows += [
            (
                paid.named.name,
                str(charge.cost),
                f"{charge.stage} ({charge.component})",
                charge.query,
                charge.mechanism + charge.caveat,
            )
            for charge in receipt.charges
        ]
        rows.append((paid.named.name, element("strong", str(receipt.spent)), element("strong", "total"), "", ""))
    headings = ("release", "cost", "stage (component)", "asked for", "mechanism")
    return section(
        "charges",
        paragraph(
            "A charge comes before its answer and is never paid back, not even after a failure. The charges of a "
            "release sum to its cost exactly: they are counted as fractions."
        ),
        grid("What each release was charged for", headings, rows, number="-n"),
    )


def contribution(contents: Contents) -> Html:
    """How much one unit can have in the data that is counted."""
    receipts = [paid.named.receipt for paid in contents.paid]
    table = contents.by_release(
        "Contribution bounds",
        {
            "of one unit count": [_bound(receipt) for receipt in receipts],
            "counts are of": [receipt.counted for receipt in receipts],
        },
    )
    return section(
        "contribution",
        table,
        listing(
            (
                "A transaction is a set: an item that stands in it twice counts once.",
                "Which transactions of a unit are kept is decided by a hash of that unit's name and of what is in "
                "them, and by nothing that depends on others. So the data of one unit changes at most as many "
                "transactions as the bound says.",
                "Noise grows with the bound in proportion. The bound must be chosen without a look at the data.",
                "Sums of other contributions are clipped to their bound before they are added.",
            )
        ),
    )


def _bound(receipt: Receipt) -> str:
    if receipt.unit is None:
        return _NOT_NOTED
    if receipt.unit.is_transaction:
        return "one transaction; how many a person has is not bounded"
    if receipt.unit.merged:
        return "one transaction, into which all of the unit's were merged"
    return f"at most {receipt.unit.baskets} transaction{'' if receipt.unit.baskets == 1 else 's'}"


def public(contents: Contents) -> Html:
    """What is assumed to be public: universe, sizes, layout."""
    parts = []
    for number, paid in enumerate(contents.paid, 1):
        receipt = paid.named.receipt
        universe = _universe(paid.named)
        size = (
            "The number of transactions: published as it is."
            if receipt.n_public
            else "The number of transactions: private. What is shown has noise."
        )
        stated = [f"Assumed: {sentence}." for sentence in receipt.assumptions]
        parts.append(
            part_of_release(
                "public",
                number,
                paid.named.name,
                listing((universe, size, *(stated or ["The receipt states no other assumption."]))),
            )
        )
    return section(
        "public",
        paragraph(
            "The domain is any number of sets of the possible items. Public in every release are the list of items and "
            "their order (unless it says otherwise below), how the data is laid out (columns, separators), what was "
            "asked "
            "for (the number of itemsets, their length, ε), the pipeline with its parameters, and the bound on what "
            "a unit "
            "contributes."
        ),
        *parts,
    )


def _universe(named: NamedRelease) -> str:
    """Where the list of items came from, as the sentences of the receipt say."""
    if named.has_private_items:
        return "The list of possible items: private. Those in the release were found under noise."
    if any("universe" in sentence for sentence in named.receipt.assumptions):
        return "The list of possible items: taken from the data, see below."
    return "The list of possible items: named by whoever made the release. Other items are dropped in silence."


def not_protected(contents: Contents) -> Html:
    """What the guarantee leaves out."""
    sentences = [
        "What is true of people in general. Whoever knows one item of somebody can guess others from the release, as "
        "if that person had never been in the data.",
        "That a release of this data was made, when, by whom, and what was asked for.",
        "Which items exist, unless the list is private (see part 6).",
        f"Groups: m units together have {_of_many(paid.named.receipt for paid in contents.paid)}.",
        "The exact data itself, where it lies.",
        "What is published about the same people by other means.",
        "Whether a query of the data's reader succeeds, and how long a run takes (see part 10).",
    ]
    exact = [
        f"{paid.named.name}: the number of transactions, {paid.named.release.total:,.0f}, is published without noise."
        for paid in contents.paid
        if paid.named.receipt.n_public
    ]
    simulated = [
        f"{paid.named.name}: nothing is protected, because its noise is simulated."
        for paid in contents.paid
        if not paid.named.receipt.private
    ]
    clear = exact or ["No number in these releases is published without noise."]
    return section(
        "not-protected",
        listing([*simulated, *sentences, *clear]),
        contents.filled.asked("other-releases"),
    )


def mechanisms(contents: Contents) -> Html:
    """The mechanisms and the components, what follows them, and what came before."""
    rows = [
        (paid.named.name, stage, described)
        for paid in contents.paid
        for stage, described in paid.named.receipt.pipeline.items()
    ]
    used = dict.fromkeys(
        charge.mechanism
        for paid in contents.paid
        for charge in paid.named.receipt.charges
        if charge.mechanism != UNSPENT
    )
    declared = [
        f"{paid.named.name}: {charge.query} ({charge.component}){charge.caveat}."
        for paid in contents.paid
        for charge in paid.named.receipt.charges
        if not charge.verified
    ]
    notes = [f"{paid.named.name}: {note}." for paid in contents.paid for note in paid.named.receipt.notes]
    return section(
        "mechanisms",
        paragraph("Used: " + "; ".join(used) + "."),
        grid("The components of each release, with their parameters", ("release", "stage", "component"), rows)
        if rows
        else paragraph("The receipts name no components."),
        listing(declared or ["Every sensitivity is privmine's own or enforced by clipping; none is only declared."]),
        section(
            "post-processing",
            paragraph(
                "Done with noisy answers alone, so that it costs nothing: counts of itemsets are put together from "
                "noisy bins, the largest are listed, supports are kept within 0 and 1, and intervals, verdict and "
                "rules are computed. What the components noted:"
            ),
            listing(notes or ["The components noted nothing."]),
        ),
        section(
            "tuning",
            paragraph(
                "What a run estimates from the data, such as how many items matter, is paid for and stands among the "
                "charges. What a person chose after a look at the data is not, and must be told:"
            ),
            contents.filled.asked("tuning"),
        ),
    )
