"""What a look at the data costs: sensitivities, the noise they ask for, charges and receipts.

Everything here is exact: budgets, shares and scales are fractions, and nothing is rounded before
the sampler, which rounds towards more noise.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from itertools import chain
from math import exp, expm1
from types import NoneType
from typing import Any, Literal

from attrs import asdict, field, frozen

from privmine.errors import InputError
from privmine.model import Unit, exact, text_tuple
from privmine.printable import printable

_NO_RECEIPT = "This is not a receipt that this version of privmine can read."
#: Denominators of sums of ε stay far below this unless somebody makes them grow.
_MOST_BITS = 1 << 14


@frozen
class Sensitivity:
    """How far a query's exact answer can move when one unit of protection comes or goes.

    Attributes:
        l1: the bound on the sum of absolute changes.
        l2_squared: the bound on the sum of squared changes; squared, so that it stays rational.
        linf: the bound on the change of any one value.
        monotone: whether all values move in one direction, or not at all.
    """

    l1: Fraction = field(converter=Fraction)
    l2_squared: Fraction = field(converter=Fraction)
    linf: Fraction = field(converter=Fraction)
    monotone: bool = False

    def times(self, transactions: int) -> Sensitivity:
        """What up to so many transactions, added or removed together, can move.

        Each one moves the answer by at most this sensitivity, so by the triangle inequality the norms
        grow in proportion. One direction stays one direction for every query of privmine's own,
        where an addition never lowers a value.
        """
        return Sensitivity(
            self.l1 * transactions, self.l2_squared * transactions**2, self.linf * transactions, self.monotone
        )


@frozen
class Noise:
    """The distribution of the noise in an answer, as a later stage may use it.

    Attributes:
        distribution: "discrete laplace" from the exact sampler, "laplace" from the simulation.
        scale: the exact scale that the budget asks for.
    """

    distribution: Literal["discrete laplace", "laplace"]
    scale: Fraction

    @property
    def is_discrete(self) -> bool:
        """Whether a draw is a whole number, as that of the exact sampler is."""
        return self.distribution.startswith("discrete")

    @property
    def variance(self) -> float:
        """The variance of one draw."""
        scale = float(self.scale)
        if self.distribution == "laplace":
            return 2 * scale * scale
        # Σ x²·p(x) of the discrete Laplace distribution in closed form: 2q / (1−q)² with q = e^(−1/scale).
        return 2 * exp(-1 / scale) / expm1(-1 / scale) ** 2


@frozen
class PureDP:
    """Pure ε-differential privacy: Laplace noise by the L1 norm, exponential selection by the L∞ norm."""

    name = "pure ε-differential privacy"

    def scale(self, sensitivity: Sensitivity, epsilon: Fraction) -> Fraction:
        """The Laplace scale at which a measurement costs ε: Pr ratios are e^(Δ₁/scale)."""
        return sensitivity.l1 / epsilon

    def rate(self, sensitivity: Sensitivity, epsilon: Fraction, draws: int) -> Fraction:
        """The factor r of the weights e^(r·score) at which `draws` selections without replacement cost ε.

        One draw at rate r costs 2·r·Δ∞: the weight of the drawn candidate and the sum of all weights
        each move by a factor of at most e^(r·Δ∞). Where scores are monotone they move the same way
        and only one of the two factors counts (the paper, end of Section 2.1).
        """
        return epsilon / draws / (sensitivity.linf * (1 if sensitivity.monotone else 2))

    def top_scale(self, sensitivity: Sensitivity, epsilon: Fraction, chosen: int) -> Fraction:
        """The scale of Laplace noise at which naming the `chosen` largest noisy scores, in order, costs ε.

        A neighbour's outcome is the same if the noise of each chosen candidate changes by Δ∞ less the
        change of its score, with all other noise as it was: at most 2·Δ∞, or Δ∞ where scores are
        monotone. Density falls by e^(change/scale) for each chosen candidate. See docs/tf.md.
        """
        return chosen * sensitivity.linf * (1 if sensitivity.monotone else 2) / epsilon


@frozen
class Charge:
    """One payment: who looked, at what, by which mechanism, for how much.

    Attributes:
        verified: False where the sensitivity is a third party's word rather than privmine's.
    """

    stage: str
    component: str
    query: str
    mechanism: str
    epsilon: Fraction = field(converter=exact)
    verified: bool = True

    @property
    def caveat(self) -> str:
        """What a reader must know of a charge whose sensitivity nobody verified."""
        return "" if self.verified else " [sensitivity declared, not verified]"


#: The types of the plain values of a charge and of a receipt, by name.
_CHARGE_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("stage", "component", "query", "mechanism", "epsilon"), (str,)),
    "verified": (bool,),
}
_RECEIPT_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("epsilon", "definition", "protects", "noise", "version"), (str,)),
    **dict.fromkeys(("private", "n_public"), (bool,)),
    **dict.fromkeys(("charges", "assumptions", "notes"), (list, tuple)),
    "pipeline": (dict,),
    "dataset": (str, NoneType),
    "entry": (int, NoneType),
    "unit": (dict, NoneType),
}


def _fits(values: Any, types: dict[str, tuple[type, ...]]) -> bool:
    """Whether these are plain values of those types. A truth value is no number here."""
    return isinstance(values, dict) and all(type(value) in types.get(name, ()) for name, value in values.items())


def _is_plain_receipt(values: Any) -> bool:
    if not _fits(values, _RECEIPT_TYPES):
        return False
    texts = (*values.get("assumptions", ()), *values.get("notes", ()), *chain(*values.get("pipeline", {}).items()))
    unit = values.get("unit")
    return (
        all(isinstance(text, str) for text in texts)
        and all(_fits(charge, _CHARGE_TYPES) for charge in values.get("charges", ()))
        and (unit is None or isinstance(unit.get("name"), str))
    )


def _is_writable(values: Any) -> bool:
    """Whether all text can be written to a file again; a lone surrogate cannot."""
    try:
        json.dumps(values, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


#: The mechanism of what a run was charged for and did not use.
UNSPENT = "left unspent"


def _charges(values: Any) -> tuple[Charge, ...]:
    return tuple(value if isinstance(value, Charge) else Charge(**value) for value in values)


def _unit(value: Any) -> Unit | None:
    return Unit(**value) if isinstance(value, dict) else value


@frozen
class Receipt:
    """What a release cost, under which definition, for whose protection and on which assumptions.

    Attributes:
        dataset: the name of the data in the ledger that was charged, if there was one.
        entry: the number of the charge in that ledger's log.
        unit: who is protected; None in receipts that were written before it was noted.
    """

    epsilon: Fraction = field(converter=exact)
    definition: str
    protects: str
    noise: str
    private: bool
    charges: tuple[Charge, ...] = field(converter=_charges)
    pipeline: dict[str, str] = field(factory=dict)
    assumptions: tuple[str, ...] = field(default=(), converter=text_tuple)
    notes: tuple[str, ...] = field(default=(), converter=text_tuple)
    dataset: str | None = None
    version: str = ""
    n_public: bool = False
    entry: int | None = None
    unit: Unit | None = field(default=None, converter=_unit)

    @property
    def guaranteed(self) -> Fraction:
        """The ε of the guarantee. With N published neighbours replace a transaction: one goes, one comes."""
        return 2 * self.epsilon if self.n_public else self.epsilon

    @property
    def spent(self) -> Fraction:
        """The sum of all charges."""
        return sum((charge.epsilon for charge in self.charges), Fraction(0))

    @property
    def whom(self) -> str:
        """Who is protected, in a few words."""
        return self.protects.partition(": ")[0]

    @property
    def counted(self) -> str:
        """What counts are of, as part of a sentence."""
        if self.unit is None or self.unit.is_transaction:
            return "transactions"
        if self.unit.merged:
            return f"transactions, one for each {self.unit.name}"
        return f"counted transactions, at most {self.unit.baskets} of each {self.unit.name}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; fractions become text, so that nothing is rounded."""
        return asdict(self, value_serializer=lambda _owner, _field, value: _plain(value))

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Receipt:
        """Read what `to_dict` wrote, and nothing else: a file may come from anybody.

        Raises:
            InputError: a value is missing or of another type, the charges do not sum to ε, or the receipt contradicts
                itself.
        """
        if not _is_plain_receipt(values) or not _is_writable(values):
            raise InputError(_NO_RECEIPT)
        try:
            receipt = cls(**values)
        except TypeError:
            raise InputError(_NO_RECEIPT) from None
        if receipt.epsilon <= 0 or any(charge.epsilon <= 0 for charge in receipt.charges):
            raise InputError("A receipt states an ε that is not above 0; do not rely on it.")
        if _bounded_sum(charge.epsilon for charge in receipt.charges) != receipt.epsilon:
            raise InputError("The charges of a receipt do not sum to the ε that it states; do not rely on it.")
        if receipt.definition != PureDP.name:
            raise InputError("A receipt names a definition of privacy that this version of privmine does not know.")
        says_nobody = receipt.protects.startswith("nobody") or "not private" in receipt.noise
        if receipt.private and says_nobody:
            raise InputError("A receipt says that a simulated release is private; do not rely on it.")
        return receipt

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The receipt in words, one statement a line."""
        charges = [
            f"Charge: ε = {amount(charge.epsilon)}  {charge.stage} ({charge.component}): "
            f"{charge.query}, {charge.mechanism}" + charge.caveat
            for charge in self.charges
        ]
        return [*self.head(), *map(printable, charges), *self.foot()]

    def head(self) -> list[str]:
        """What is promised, to whom, by what noise."""
        promise = (
            f"Privacy: {self.definition}, ε = {amount(self.guaranteed)}"
            if self.private
            else f"NOT PRIVATE: simulated noise, for research only (nominal ε = {amount(self.epsilon)})"
        )
        number = "" if self.entry is None else f", no. {self.entry} in the ledger's log"
        account = [] if self.dataset is None else [f"Charged to: {self.dataset}{number}"]
        names = " → ".join(description.partition("(")[0] for description in self.pipeline.values())
        pipeline = [f"Pipeline: {names}"] if names else []
        lines = [promise, f"Protects: {self.protects}", f"Noise: {self.noise}", *pipeline, *account]
        return [printable(line) for line in lines]

    def foot(self) -> list[str]:
        """The sum, what it all assumes, and what the components had to say."""
        charges = "1 charge" if len(self.charges) == 1 else f"{len(self.charges)} charges"
        total = f"Total: ε = {amount(self.spent)} in {charges}"
        if self.n_public:
            total += (
                f" for one that comes or goes; where one replaces another both happen: ε = {amount(self.guaranteed)}"
            )
        assumptions = [f"Assumes: {sentence}" for sentence in self.assumptions]
        notes = [f"Note: {sentence}" for sentence in self.notes]
        return [total, *map(printable, [*assumptions, *notes])]


def _bounded_sum(amounts: Iterable[Fraction]) -> Fraction | None:
    """The sum, or None where its digits grow beyond all that budgets need: adding up would take for ever."""
    total = Fraction(0)
    for value in amounts:
        total += value
        if total.denominator.bit_length() > _MOST_BITS:
            return None
    return total


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Fraction) else value


def amount(value: Fraction) -> str:
    """A budget as people read it: decimal where that is exact and short, else the fraction with its value."""
    try:
        text = f"{float(value):.6g}"
    except OverflowError:
        return "a number beyond all bounds"
    if Fraction(text) == value:
        return text
    return f"{value} ≈ {text}" if len(str(value)) <= 20 else f"≈ {text}"
