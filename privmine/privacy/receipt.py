"""What a release cost, as fields; the words are made from them here."""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from html import escape
from itertools import chain
from types import NoneType
from typing import Any

from attrs import asdict, field, frozen

from privmine.errors import InputError
from privmine.exact import exact, text_tuple
from privmine.printable import printable
from privmine.privacy.accounting_events import accounting_event
from privmine.privacy.cost import UNSPENT, Charge, Cost
from privmine.privacy.definition import Definition, definition_from_dict
from privmine.privacy.guarantee import Guarantee
from privmine.privacy.noise import noise_from_dict
from privmine.privacy.payment import Payment, check_time
from privmine.privacy.unit import Unit

#: What the name of a source says whose noise protects nobody, and what a receipt then says of whom it protects.
NOT_PRIVATE = "not private"
_NOBODY = "nobody"
_NO_RECEIPT = "This is not a receipt that this version of privmine can read."
#: Denominators of sums of costs stay far below this unless somebody makes them grow.
_MOST_BITS = 1 << 14


def _charges(values: Iterable[Charge]) -> tuple[Charge, ...]:
    return tuple(values)


@frozen(repr=False)
class Receipt:
    """What a release cost, under which definition, for whose protection and on which assumptions.

    Attributes:
        cost: what the release cost; its definition is that of the guarantee.
        noise: what the source of noise calls itself.
        private: whether that noise protects anybody; simulated noise does not.
        charges: what the cost was spent on; they sum to it.
        unit: who is protected; None in receipts that were written before it was noted.
        pipeline: for each stage the component with its parameters.
        assumptions: what the guarantee rests on.
        notes: what the components had to say.
        dataset: the name of the data in the ledger that was charged, if there was one.
        version: the version of privmine.
        n_public: whether the number of transactions is published.
        entry: the number of the charge in that ledger's log.
        former_protects: who is protected, in the words of a receipt that has no unit.
        payment: the row of the ledger that paid; None of a release that nobody charged, or of an older version.
        time: when it was charged, or asked for where there is no ledger, in UTC as ISO 8601 writes it; None of a
            simulation, whose files are the same whenever it runs, and of older versions.
    """

    cost: Cost
    noise: str
    private: bool
    charges: tuple[Charge, ...] = field(converter=_charges)
    unit: Unit | None = Unit()
    pipeline: dict[str, str] = field(factory=dict)
    assumptions: tuple[str, ...] = field(default=(), converter=text_tuple)
    notes: tuple[str, ...] = field(default=(), converter=text_tuple)
    dataset: str | None = None
    version: str = ""
    n_public: bool = False
    entry: int | None = None
    former_protects: str = ""
    payment: Payment | None = None
    time: str | None = None

    @property
    def definition(self) -> Definition:
        """The definition of privacy that it is about."""
        return self.cost.definition

    @property
    def guarantee(self) -> Guarantee:
        """What the cost is worth. With N published neighbours replace a transaction: one goes, one comes."""
        return self.definition.guarantee(self.cost, replaced=self.n_public)

    @property
    def spent(self) -> Cost:
        """The sum of all charges."""
        return self.definition.total(charge.cost for charge in self.charges)

    @property
    def whom(self) -> str:
        """Who is protected, in a few words."""
        if not self.private:
            return _NOBODY
        return self.former_protects.partition(": ")[0] if self.unit is None else self.unit.whom

    @property
    def protects(self) -> str:
        """Who is protected, and how. Simulated noise protects nobody."""
        if self.unit is None:
            return self.former_protects
        return protects(self.unit, self.definition, private=self.private, n_public=self.n_public)

    @property
    def counted(self) -> str:
        """What counts are of, as part of a sentence."""
        return (self.unit or Unit()).counted

    def accounting_event(self) -> dict[str, Any]:
        """The charges as an event of dp-accounting, in plain values for JSON; see `privacy/accounting_events.py`."""
        return accounting_event(charge for charge in self.charges if charge.mechanism != UNSPENT)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; fractions become text, so that nothing is rounded."""
        return {
            self.definition.field: str(self.cost.amount),
            **self.definition.to_dict(),
            "protects": self.protects,
            "noise": self.noise,
            "private": self.private,
            "charges": [_charge_to_dict(charge) for charge in self.charges],
            "pipeline": dict(self.pipeline),
            "assumptions": self.assumptions,
            "notes": self.notes,
            "dataset": self.dataset,
            "version": self.version,
            "n_public": self.n_public,
            "entry": self.entry,
            "unit": None if self.unit is None else asdict(self.unit),
            **({} if self.payment is None else {"payment": self.payment.to_dict()}),
            **({} if self.time is None else {"time": self.time}),
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Receipt:
        """Read what `to_dict` wrote, and nothing else: a file may come from anybody.

        Raises:
            InputError: a value is missing or of another type, the charges do not sum to the cost, or the receipt
                contradicts itself.
        """
        if not _is_plain_receipt(values) or not _is_writable(values):
            raise InputError(_NO_RECEIPT)
        given = dict(values)
        try:
            receipt = _read(given)
        except (KeyError, TypeError):
            raise InputError(_NO_RECEIPT) from None
        _refuse_wrong_sums(receipt)
        _refuse_contradictions(receipt, values["protects"])
        return receipt

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """For notebooks: a statement a row, and the charges as a table of their own."""

        def row(*cells: str, tag: str = "td") -> str:
            return f"<tr>{''.join(f'<{tag}>{escape(printable(cell))}</{tag}>' for cell in cells)}</tr>"

        def statements(lines: list[str]) -> str:
            parted = (line.partition(": ") for line in lines)
            return f"<table><tbody>{''.join(row(subject, rest) for subject, _, rest in parted)}</tbody></table>"

        heading = row(f"charge {self.definition.symbol}", "stage", "asked for", "mechanism", tag="th")
        charges = "".join(
            row(
                charge.cost.number,
                f"{charge.stage} ({charge.component})",
                charge.query,
                charge.mechanism + charge.caveat,
            )
            for charge in self.charges
        )
        return (
            f"<div class='privmine'>{statements(self.head())}<table><thead>{heading}</thead><tbody>{charges}</tbody>"
            f"</table>{statements(self.foot())}</div>"
        )

    def lines(self) -> list[str]:
        """The receipt in words, one statement a line."""
        charges = [
            f"Charge: {charge.cost}  {charge.stage} ({charge.component}): {charge.query}, {charge.mechanism}"
            + charge.caveat
            for charge in self.charges
        ]
        return [*self.head(), *map(printable, charges), *self.foot()]

    @property
    def price(self) -> str:
        """The guarantee in a few words, for a heading; for a simulation, what it would be."""
        return str(self.guarantee) if self.private else f"simulated, nominal {self.cost}"

    def head(self) -> list[str]:
        """What is promised, to whom, by what noise."""
        promise = (
            f"Privacy: {self.definition.name}, {self.guarantee}"
            if self.private
            else f"NOT PRIVATE: simulated noise, for research only (nominal {self.cost})"
        )
        number = "" if self.entry is None else f", no. {self.entry} in the ledger's log"
        account = [] if self.dataset is None else [f"Charged to: {self.dataset}{number}"]
        names = " → ".join(description.partition("(")[0] for description in self.pipeline.values())
        pipeline = [f"Pipeline: {names}"] if names else []
        if self.payment is not None:
            account.append(f"Paid by: {self.payment}")
        date = [] if self.time is None else [f"Date: {self.time}"]
        lines = [promise, f"Protects: {self.protects}", f"Noise: {self.noise}", *pipeline, *account, *date]
        return [printable(line) for line in lines]

    def foot(self) -> list[str]:
        """The sum, the assumptions, and the notes of the components."""
        charges = "1 charge" if len(self.charges) == 1 else f"{len(self.charges)} charges"
        total = f"Total: {self.spent} in {charges}"
        if self.n_public:
            total += f" if one is added or removed; {self.guarantee} if one replaces another"
        assumptions = [f"Assumes: {sentence}" for sentence in self.assumptions]
        notes = [f"Note: {sentence}" for sentence in self.notes]
        return [total, *map(printable, [*assumptions, *notes])]


def protects(unit: Unit, definition: Definition, *, private: bool, n_public: bool) -> str:
    """Who is protected, and how. Simulated noise protects nobody."""
    if not private:
        return f"{_NOBODY}: the noise is simulated; a private run would protect {unit.whom}"
    return f"{unit.whom}: {unit.change(replaced=n_public)} {definition.promise}"


def _charge_to_dict(charge: Charge) -> dict[str, Any]:
    return {
        "stage": charge.stage,
        "component": charge.component,
        "query": charge.query,
        "mechanism": charge.mechanism,
        charge.cost.definition.field: str(charge.cost.amount),
        "verified": charge.verified,
        **({} if charge.noise is None else {"noise": charge.noise.to_dict()}),
    }


#: The types of the plain values of a charge and of a receipt, by name. Costs and parameters are text.
_CHARGE_TYPES: dict[str, tuple[type, ...]] = {"verified": (bool,), "noise": (dict,)}
_RECEIPT_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("private", "n_public"), (bool,)),
    **dict.fromkeys(("charges", "assumptions", "notes"), (list, tuple)),
    "pipeline": (dict,),
    "dataset": (str, NoneType),
    "entry": (int, NoneType),
    "unit": (dict, NoneType),
    "payment": (dict,),
}


def _fits(values: Any, types: dict[str, tuple[type, ...]]) -> bool:
    """Whether these are plain values of the named types, by default text. A truth value is not a number here."""
    return isinstance(values, dict) and all(type(value) in types.get(name, (str,)) for name, value in values.items())


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


def _read(values: dict[str, Any]) -> Receipt:
    """A receipt from plain values. It removes what it reads, and an unknown value is a TypeError."""
    definition = definition_from_dict(values)
    unit, words = values.pop("unit", None), values.pop("protects")
    payment = values.pop("payment", None)
    return Receipt(
        cost=_cost_from(values, definition),
        charges=[_charge_from_dict(dict(charge), definition) for charge in values.pop("charges")],
        unit=None if unit is None else Unit(**unit),
        former_protects=words if unit is None else "",
        payment=None if payment is None else Payment.from_dict(payment),
        **values,
    )


def _charge_from_dict(values: dict[str, Any], definition: Definition) -> Charge:
    noise = values.pop("noise", None)
    cost = _cost_from(values, definition)
    return Charge(cost=cost, noise=None if noise is None else noise_from_dict(noise), **values)


def _cost_from(values: dict[str, Any], definition: Definition) -> Cost:
    return definition.cost(exact(values.pop(definition.field), definition.symbol))


def _refuse_wrong_sums(receipt: Receipt) -> None:
    symbol = receipt.definition.symbol
    if receipt.cost.amount <= 0 or any(charge.cost.amount <= 0 for charge in receipt.charges):
        raise InputError(f"A receipt states an {symbol} that is not above 0. Do not rely on it.")
    if _bounded_sum(charge.cost.amount for charge in receipt.charges) != receipt.cost.amount:
        raise InputError(f"The charges of a receipt do not sum to the {symbol} that it states. Do not rely on it.")


def _refuse_contradictions(receipt: Receipt, stated: str) -> None:
    """Refuse fields that cannot all be true."""
    if receipt.private and (stated.startswith(_NOBODY) or NOT_PRIVATE in receipt.noise):
        raise InputError("A receipt says that a simulated release is private. Do not rely on it.")
    if receipt.private and receipt.unit is not None and stated != receipt.protects:
        raise InputError("The words and the fields of a receipt name different units of protection. Do not rely on it.")
    if receipt.time is not None:
        check_time(receipt.time)
    _refuse_another_payment(receipt)
    for charge in receipt.charges:
        if charge.noise is None:
            continue
        if str(charge.noise) != charge.mechanism or (receipt.private and not charge.noise.is_discrete):
            raise InputError("The mechanism and the noise of a charge contradict each other. Do not rely on it.")
        moved = charge.noise.least_sensitivity.times((receipt.unit or Unit()).baskets)
        if charge.verified and receipt.definition.cost_of_noise(moved, charge.noise) > charge.cost:
            raise InputError("A receipt states noise that costs more than was charged for it. Do not rely on it.")


def _refuse_another_payment(receipt: Receipt) -> None:
    paid = receipt.payment
    if paid is None:
        return
    if not receipt.private or receipt.dataset is None or (paid.row, paid.time) != (receipt.entry, receipt.time):
        raise InputError("A receipt contradicts itself about the charge that paid for it. Do not rely on it.")


def _bounded_sum(amounts: Iterable[Fraction]) -> Fraction | None:
    """The sum, or None if it has more digits than any budget needs: adding up would take too long."""
    total = Fraction(0)
    for value in amounts:
        total += value
        if total.denominator.bit_length() > _MOST_BITS:
            return None
    return total
