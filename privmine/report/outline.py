"""The parts of a report in their fixed order, and how they are called."""

from __future__ import annotations

FOR_EVERYBODY = {
    "short": "In short",
    "found": "What was found",
    "rules": "What goes together",
    "trust": "How far to trust it",
    "protected": "Who is protected, and how well",
}
FOR_THE_OFFICER = {
    "unit": "Unit and neighbours",
    "definition": "Definition and parameters",
    "charges": "Every charge",
    "composition": "All releases of the dataset, and what is left",
    "contribution": "Contribution bounds",
    "public": "What is assumed public",
    "not-protected": "What is not protected",
    "mechanisms": "Mechanisms",
    "floating-point": "Floating point and entropy",
    "side-channels": "Timing and side channels",
    "holders": "Who holds the data, the ledger and the report",
    "versions": "Versions",
    "audit": "Audit",
    "date": "Date",
    "fill-in": "What a person must fill in",
    "questions": "Questions, and where they are answered",
}
#: Parts of parts, each with the part that it stands in.
WITHIN = {
    "bias": ("trust", "For whom the numbers are worse"),
    "odds": ("protected", "What ε means in odds"),
    "why-epsilon": ("definition", "Why these parameters"),
    "payments": ("composition", "What paid for each release"),
    "post-processing": ("mechanisms", "Post-processing"),
    "tuning": ("mechanisms", "Tuning"),
    "model": ("holders", "Model of trust"),
    "access": ("holders", "Access"),
    "unchanged": ("date", "Whether the files are unchanged"),
}


def title_of(anchor: str) -> str:
    """The heading of a part; those for the officer are numbered."""
    if anchor in WITHIN:
        return WITHIN[anchor][1]
    if anchor in FOR_EVERYBODY:
        return FOR_EVERYBODY[anchor]
    return f"{list(FOR_THE_OFFICER).index(anchor) + 1}. {FOR_THE_OFFICER[anchor]}"


def place_of(anchor: str) -> str:
    """Where a part stands, for somebody with a print in hand."""
    return f"{title_of(WITHIN[anchor][0])}: {WITHIN[anchor][1]}" if anchor in WITHIN else title_of(anchor)
