"""Noisy counts: what the last stage hands over to be ranked and released."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from attrs import field, frozen
from attrs.validators import in_

from privmine.errors import ContractError
from privmine.model.itemsets import Itemsets
from privmine.model.numbers import FloatArray, IntArray, float_array, int_array, same_array

#: How the noise in different counts can hang together.
JOINT = ("", "bases", "independent")


def _amount(value: Any) -> float:
    if isinstance(value, bool):
        raise ContractError(f"The number of transactions must be a number, not {value!r}.")
    return float(value)


def _amounts(values: Any) -> FloatArray:
    if np.asarray(values).dtype.kind == "b":
        raise ContractError("Counts and standard errors must be numbers, not True or False.")
    return float_array(values)


def _positions(values: Any) -> IntArray:
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iu":
        raise ContractError(f"law_of must hold whole numbers, not {array.dtype}.")
    return int_array(array)


def _laws(values: Iterable[NoiseLaw]) -> tuple[NoiseLaw, ...]:
    return tuple(values)


def _as_itemsets(value: Any) -> Itemsets:
    return value if isinstance(value, Itemsets) else Itemsets.of(value)


class NoiseLaw(Protocol):
    """The distribution of the noise in a count, symmetric about zero; `NoiseSum` is one."""

    def half_width(self, level: float) -> float:
        """The least h such that the noise lies within ±h with a probability of at least `level`."""


@frozen
class NoisyCounts:
    """The noisy supports of all candidates, and the noisy number of transactions.

    Attributes:
        itemsets: the candidates; an `Itemsets` or any collection of itemsets.
        counts: the noisy support of each.
        standard_errors: the standard deviation of the noise in each count.
        total: the noisy number of transactions, which frequencies are computed with.
        total_error: its standard deviation.
        laws: the distributions that occur as the noise of a count, each once.
        law_of: for each count the position of its distribution in `laws`. A component that does not
            know how its noise is distributed leaves both empty; intervals are then normal ones.
        total_law: the distribution of the noise in the total, if it is known.
        joint: how the noise in different counts hangs together, one of `JOINT`: "bases" where a count is the mean,
            weighted by inverse variance, over all measured bases that contain its itemset; "independent" where each
            count was measured on its own; empty where neither is so. The metrics of rules depend on it.
        estimates: for each itemset what the component would rather rank and show than the count, or empty. They
            may be biased; the release shows them with the intervals of the counts, which may not be.
        believed: whether counts are means of beliefs, and laws what is believed of the exact counts around them.
            Beliefs allow for how large counts usually are, so that intervals need no allowance for the choice.
    """

    itemsets: Itemsets = field(converter=_as_itemsets)
    counts: FloatArray = field(converter=_amounts, eq=same_array, repr=False)
    standard_errors: FloatArray = field(converter=_amounts, eq=same_array, repr=False)
    total: float = field(converter=_amount)
    total_error: float = field(converter=_amount)
    laws: tuple[NoiseLaw, ...] = field(default=(), converter=_laws)
    law_of: IntArray = field(factory=tuple, converter=_positions, eq=same_array, repr=False)
    total_law: NoiseLaw | None = None
    joint: str = field(default="", validator=in_(JOINT))
    estimates: FloatArray = field(factory=tuple, converter=_amounts, eq=same_array, repr=False)
    believed: bool = False

    def __attrs_post_init__(self) -> None:
        if not len(self.itemsets) == len(self.counts) == len(self.standard_errors):
            raise ContractError(
                "NoisyCounts needs one count and one standard error for each itemset. There are "
                f"{len(self.itemsets)} itemsets, {len(self.counts)} counts and "
                f"{len(self.standard_errors)} standard errors."
            )
        known = self.law_of.min(initial=0) >= 0 and self.law_of.max(initial=-1) < len(self.laws)
        if len(self.law_of) not in (0, len(self.itemsets)) or not known:
            raise ContractError(
                f"NoisyCounts needs a law for each of its {len(self.itemsets)} itemsets, or none at "
                f"all. There are {len(self.law_of)} positions in law_of, and {len(self.laws)} laws."
            )

        if len(self.estimates) not in (0, len(self.itemsets)):
            raise ContractError(
                f"NoisyCounts needs an estimate for each of its {len(self.itemsets)} itemsets, or none at all; there "
                f"are {len(self.estimates)}."
            )

    @property
    def shown(self) -> FloatArray:
        """What is ranked and shown: the estimates where there are any, else the counts."""
        return self.estimates if len(self.estimates) else self.counts

    def top(self, k: int, max_length: int | None = None) -> list[int]:
        """Positions of the k largest, by what is shown; ties go to the shorter, then to the public item order.

        The empty itemset is never among them (Alg. 1, l. 27 would admit it; see docs/paper.md).
        """
        lengths = self.itemsets.lengths
        eligible = lengths > 0
        if max_length is not None:
            eligible &= lengths <= max_length
        positions = np.flatnonzero(eligible)
        if 0 < k < len(positions):
            values = self.shown[positions]
            threshold = np.partition(values, len(values) - k)[len(values) - k]
            positions = positions[values >= threshold]
        ranked = sorted(
            positions.tolist(),
            key=lambda position: (-self.shown[position], lengths[position], self.itemsets[position]),
        )
        return ranked[:k]
