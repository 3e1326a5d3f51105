"""What a privacy officer asks of a release, and where a report answers it.

The questions are in our own words. Their subjects come from NIST SP 800-226 (the parts of its pyramid), from the fields
of the registry of deployments, and from what a data-protection impact assessment must hold (Article 35 of the GDPR).
"""

from __future__ import annotations

from attrs import frozen

NIST, REGISTRY, DPIA = "NIST SP 800-226", "deployments registry", "DPIA"


@frozen
class OfficerQuestion:
    """A question, where it comes from, and the anchor of its answer in every report."""

    text: str
    source: str
    anchor: str


QUESTIONS = tuple(
    OfficerQuestion(*values)
    for values in (
        ("What was released, and what does it say?", DPIA, "found"),
        ("How accurate is it?", NIST, "trust"),
        ("For which groups is it less accurate?", NIST, "bias"),
        ("Who is protected: a person, a household, an event?", NIST, "unit"),
        ("Which data sets count as neighbours?", REGISTRY, "unit"),
        ("Which definition of privacy is it?", REGISTRY, "definition"),
        ("What are ε, δ and ρ?", NIST, "definition"),
        ("What does that ε mean for one person?", DPIA, "odds"),
        ("Why was this ε chosen, and by whom?", REGISTRY, "why-epsilon"),
        ("What was the budget spent on, step by step?", NIST, "charges"),
        ("How do the costs of several releases add up?", REGISTRY, "composition"),
        ("What has been spent on these people in all, and what is left?", DPIA, "composition"),
        ("Is the release paid for in the ledger, and by which row?", DPIA, "payments"),
        ("Which other releases of the same data exist, also without noise?", NIST, "composition"),
        ("How much may one person contribute, and how is that enforced?", NIST, "contribution"),
        ("Which data could have been in the domain?", REGISTRY, "public"),
        ("What is taken for public?", NIST, "public"),
        ("Which numbers are published without noise?", REGISTRY, "not-protected"),
        ("What can still be learnt about people?", DPIA, "not-protected"),
        ("Which mechanisms were used, with which noise?", REGISTRY, "mechanisms"),
        ("Is a sensitivity declared by somebody and not verified?", NIST, "mechanisms"),
        ("What was done to the answers afterwards?", REGISTRY, "post-processing"),
        ("Was anything tuned on the data, and was that paid for?", REGISTRY, "tuning"),
        ("Is the noise safe against floating-point attacks?", NIST, "floating-point"),
        ("Where does the randomness come from?", NIST, "floating-point"),
        ("What do timing and other side channels tell?", NIST, "side-channels"),
        ("Which model of trust is it: central, local, or another?", REGISTRY, "model"),
        ("Who can see the exact data, and how is access controlled?", NIST, "holders"),
        ("Who holds the ledger, the release and this report?", DPIA, "holders"),
        ("Can somebody ask further questions of the data?", REGISTRY, "access"),
        ("Which versions of the software made it?", REGISTRY, "versions"),
        ("Was the implementation checked, and how?", NIST, "audit"),
        ("When was it made?", REGISTRY, "date"),
        ("Is the file unchanged since then?", DPIA, "unchanged"),
        ("What is the purpose, and on which legal basis?", DPIA, "fill-in"),
        ("Is the release necessary and proportionate?", DPIA, "fill-in"),
        ("How was the data collected, and what were people told?", NIST, "fill-in"),
        ("How long is everything kept?", DPIA, "fill-in"),
        ("Whom can people ask, and what are their rights?", DPIA, "fill-in"),
    )
)
