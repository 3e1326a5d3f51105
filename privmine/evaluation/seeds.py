"""The runs of an experiment, and the seed that each derives from what it is.

A seed depends on nothing but the run itself: not on the order of runs, on the number of workers or
on what else an experiment holds. So any run can be done again alone, with the same result.
"""

from __future__ import annotations

from fractions import Fraction
from hashlib import blake2b
from typing import Any

from attrs import frozen

from privmine.evaluation.result_rows import Key
from privmine.exact import exact
from privmine.privacy.guarantee import at_epsilon


@frozen(order=True)
class Cell:
    """One run: a dataset, a pipeline, k and ε, and which repeat it is, from 0."""

    data: str
    pipeline: str
    k: int
    epsilon: str
    repeat: int

    @property
    def key(self) -> Key:
        """What identifies the run in a results file."""
        return self.data, self.pipeline, self.k, self.epsilon, self.repeat

    def __str__(self) -> str:
        return f"{self.pipeline} on {self.data}, k = {self.k}, {at_epsilon(self.epsilon)}, repeat {self.repeat}"


def seed_of(cell: Cell) -> int:
    """The seed of a run, from its data, k, ε and repeat, and on purpose not from its pipeline.

    Two pipelines then see the same random numbers in the same repeat. Those that share their first
    stages make the same choices there, so that a paired comparison sees the difference of the
    others undisturbed.
    """
    text = "\n".join((cell.data, str(cell.k), cell.epsilon, str(cell.repeat)))
    return int.from_bytes(blake2b(text.encode(), digest_size=7).digest(), "big")


def epsilon_text(value: Any) -> str:
    """ε in the one way that keys and seeds write it: 0.10 is 0.1; a decimal where that is exact, else a fraction."""
    budget = exact(value, "ε")
    text = f"{float(budget):.12g}"
    return text if Fraction(text) == budget else str(budget)
