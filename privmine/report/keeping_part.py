"""What an officer must know of how a guarantee is kept: numbers, entropy, timing, holders, versions, audits, dates."""

from __future__ import annotations

from privmine.report.contents import Contents
from privmine.report.fill_ins import WANTED
from privmine.report.markup import Html, coded, element, grid, listing, paragraph, section
from privmine.report.officer_questions import QUESTIONS
from privmine.report.outline import place_of


def floating_point(contents: Contents) -> Html:
    """How noise is drawn."""
    receipts = [paid.named.receipt for paid in contents.paid]
    return section(
        "floating-point",
        contents.by_release("Sources of noise", {"noise": [receipt.noise for receipt in receipts]}),
        listing(
            (
                "A private release is measured in whole numbers, and its noise is discrete and drawn exactly: there "
                "are no rounded floating-point numbers whose last digits could give an answer away.",
                "Scales are rounded up wherever a number is not exact; costs are exact fractions.",
                "Randomness is the operating system's. No seed exists that could repeat or foretell the noise.",
                "Simulated noise is of floating-point numbers from a seed. It protects nobody, and says so.",
            )
        ),
    )


def side_channels(_: Contents) -> Html:
    """What the guarantee does not cover of a running program."""
    return section(
        "side-channels",
        listing(
            (
                "How long a run takes, how much memory it needs and what it does to a shared machine is not "
                "protected. No timing is part of a release.",
                "Errors and warnings name no data. Whether reading the data succeeds can depend on it: whoever runs "
                "privmine must be trusted with the data.",
                "Plugins run inside the same program, and could read the data. Install only those that you would let.",
                "The release, its receipt and this report are made from noisy answers and public facts alone.",
            )
        ),
    )


def holders(contents: Contents) -> Html:
    """Who holds what."""
    return section(
        "holders",
        section(
            "model",
            paragraph(
                "Central: one party holds the exact data and runs privmine on it; readers of the release need not "
                "trust each other. privmine sends nothing anywhere, and keeps no copy of the data after a run."
            ),
        ),
        section(
            "access",
            paragraph(
                "Not interactive: readers get these files and cannot ask further questions of the data. Whoever runs "
                "privmine can, as far as the budget goes."
            ),
        ),
        listing(
            (
                "The exact data: only whoever runs privmine needs it.",
                "The ledger: names of datasets, amounts, times, notes, who charged from which machine, and the name "
                "of the source. It holds no data.",
                "The release and this report: noisy counts, and how they came about. This report holds the ledger's "
                "lines for these datasets as well, with the names of those who charged them: take care to whom you "
                "pass it on.",
            )
        ),
        contents.filled.asked("controller", "data-holder", "ledger-holder", "recipients"),
    )


def versions(contents: Contents, own: str) -> Html:
    """What software made each release."""
    receipts = [paid.named.receipt for paid in contents.paid]
    return section(
        "versions",
        contents.by_release(
            "Software that made each release",
            {
                "privmine": [receipt.version or "not noted" for receipt in receipts],
                "components": [
                    "; ".join(
                        dict.fromkeys(
                            text.rpartition(" from ")[2] for text in receipt.pipeline.values() if " from " in text
                        )
                    )
                    or "not noted"
                    for receipt in receipts
                ],
                "samplers": [receipt.noise for receipt in receipts],
            },
        ),
        paragraph(f"This report was made by privmine {own}."),
    )


def audit(contents: Contents) -> Html:
    """What audits concluded of these pipelines."""
    rows = [
        (
            paid.named.name,
            verdict.subject,
            element("strong", verdict.verdict),
            f"{verdict.pairs:,} pairs that differ by {verdict.differ_by} ({verdict.effort})",
            verdict.version,
        )
        for paid in contents.paid
        for verdict in contents.verdicts
        if verdict.concerns(paid.named.receipt)
    ]
    silent = [
        f"{paid.named.name}: no audit of its pipeline was given."
        for paid in contents.paid
        if not any(verdict.concerns(paid.named.receipt) for verdict in contents.verdicts)
    ]
    advice = "`privmine audit METHOD --json > audit.json`, then `privmine report … --audit audit.json`, adds one."
    table = grid(
        "Verdicts of audits on the same components",
        ("release", "audited", "verdict", "replayed on", "privmine"),
        rows,
    )
    return section(
        "audit",
        paragraph(
            "An audit looks for violations: it replays runs on pairs of neighbours and compares how often outcomes "
            "occur. It can show that a promise is broken; that it is kept follows from proofs. An audit is of the "
            "software, not of this data."
        ),
        table if rows else Html(),
        listing([*silent, coded(advice)]) if silent else Html(),
    )


def date(contents: Contents) -> Html:
    """When the releases and the report were made, and whether files can have been changed."""
    times = [paid.time for paid in contents.paid]
    return section(
        "date",
        contents.by_release(
            "When each release was charged",
            {
                "charged": [
                    element("mark", "Not recorded: to be filled in by a person", class_="open")
                    if time is None
                    else f"{time:%Y-%m-%d %H:%M:%S} UTC"
                    for time in times
                ]
            },
        ),
        paragraph(f"This report was made on {contents.made:%Y-%m-%d at %H:%M} UTC."),
        section(
            "unchanged",
            paragraph(
                "privmine refuses a file whose charges do not sum to its cost, or whose words contradict its "
                "numbers. That "
                "finds mistakes, not every change by hand: a changed count looks like any other. A signature finds "
                "every "
                "change, if the public key came by another way than the file."
            ),
            contents.by_release(
                "Signatures",
                {
                    "signature": [
                        paid.named.signed
                        if paid.named.signed and paid.named.unchanged
                        else element("strong", paid.named.signed or "not checked")
                        for paid in contents.paid
                    ]
                },
            ),
            listing([coded("`privmine report … --signer KEY.pub` checks signatures, and `privmine sign` makes them.")])
            if not all(paid.named.signed for paid in contents.paid)
            else Html(),
        ),
    )


def fill_in(contents: Contents) -> Html:
    """What a person must say, with what they said."""
    rows = [(name, question, contents.filled.shown(name)) for name, question in WANTED.items()]
    missing = len(contents.filled.missing)
    return section(
        "fill-in",
        paragraph(
            f"{missing} of {len(WANTED)} answers are open.",
            coded('`--fill NAME="answer"` puts one into the report; an open one can be written on the print.'),
        ),
        grid("Answers by people", ("name", "question", "answer"), rows),
    )


def questions(_: Contents) -> Html:
    """Where each question is answered."""
    rows = [
        (question.text, question.source, element("a", place_of(question.anchor), href=f"#{question.anchor}"))
        for question in QUESTIONS
    ]
    return section(
        "questions",
        paragraph("The subjects are those of NIST SP 800-226, of the registry of deployments, and of a DPIA."),
        grid("Questions of an officer", ("question", "asked by", "answered in"), rows),
    )
