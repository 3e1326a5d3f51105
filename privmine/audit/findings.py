"""What a replay can find, and how serious it is."""

from __future__ import annotations

from attrs import frozen

#: The rules that a replay checks, with what it means if one is broken.
RULES = {
    "request": "what is asked for, or told as public, depends on the data",
    "calls": "what is asked depends on the data",
    "query": "the parameters of a query or its price depend on the data",
    "candidates": "what can be chosen depends on the data, or something else is answered than was drawn",
    "sensitivity": "exact answers move further than their query declares",
    "direction": "exact answers that are declared monotone move both ways",
    "unpaid": "noise was drawn that was not asked for, or not paid for before",
    "scale": "less noise was drawn than the charge pays for",
    "budget": "more was charged than the budget or the share allows, or the receipt is wrong",
    "result": "a stage's result depends on the data, although all noisy answers are the same",
    "release": "the release depends on the data, although all noisy answers are the same",
    "tampering": "a stage's result was changed after the stage had ended",
    "failure": "whether or how the run fails depends on the data",
    "warning": "what a run warns of or logs depends on the data",
    "refused": "the engine stopped the run",
    "failed": "a component failed by itself, on both databases alike",
    "input": "a component does not take this request; it is public, so nothing is lost",
}
#: The rules that leak nothing if they are broken: both runs end alike.
HARMLESS = ("refused", "failed", "input")


@frozen
class Finding:
    """One rule that was broken: by whom, and how."""

    rule: str
    stage: str
    message: str

    @property
    def violates(self) -> bool:
        """Whether it is a leak, or an account that is wrong; an end that is alike on both databases leaks nothing."""
        return self.rule not in HARMLESS

    def __str__(self) -> str:
        where = f" ({self.stage})" if self.stage else ""
        return f"{self.rule}{where}: {self.message}"
