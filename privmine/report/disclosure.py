"""A draft for the registry of differential privacy deployments, in its fields.

The fields and the values that it allows are those of schemas/deployments-schema.yaml in
github.com/opendp/deployments-registry-data, as of its commit 3e9c812 of July 2026.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from privmine.errors import InputError
from privmine.ledger.entries import RHO
from privmine.privacy import ZCDP, PureDP, Receipt
from privmine.privacy.cost import UNSPENT
from privmine.privacy.definition import Definition
from privmine.privacy.guarantee import Guarantee
from privmine.privacy.unit import Unit
from privmine.report.paid import Account, Books, NamedRelease, Paid, charges_text
from privmine.report.yaml_text import Noted, yaml_text

#: What stands in a field that only a person can fill.
OPEN = "TO BE FILLED IN BY A PERSON"
#: What the registry calls the definitions of privacy. Another one is open.
_VARIANTS: dict[type[Definition], Any] = {PureDP: "Pure DP", ZCDP: "Zero-concentrated DP"}
#: A date that nobody takes for one; the registry's own template has it.
NO_DATE = "1900-01-01"


@frozen
class Disclosure:
    """A draft for the registry: its fields, and which of them are open."""

    fields: dict[str, Any]

    @property
    def open_fields(self) -> list[str]:
        """The fields that a person must fill in or check, by their paths."""
        return [path for path, value in _leaves(self.fields) if isinstance(value, Noted)]

    def to_yaml(self) -> str:
        """The draft as a file; its first lines list what is open."""
        head = (
            "A draft for the registry of differential privacy deployments, made from a receipt by privmine.",
            "Fields: github.com/opendp/deployments-registry-data, schemas/deployments-schema.yaml (commit 3e9c812).",
            "Open, to be filled in or checked by a person:",
            *(f"  {path}" for path in self.open_fields),
        )
        return yaml_text(self.fields, head)


def disclosure_of(books: Books) -> Disclosure:
    """Fill in what the receipt and the ledger of one release say.

    Raises:
        InputError: the release is simulated, or there is more than one.
    """
    if len(books.paid) != 1:
        raise InputError("A draft is about one release. Make one for each.")
    (paid,) = books.paid
    receipt = paid.named.receipt
    if not receipt.private:
        raise InputError(
            f"{paid.named.name} is simulated: it protects nobody, so that there is nothing to disclose. Make a private "
            "release."
        )
    account = books.accounts.get(receipt.dataset or "") if paid.row is not None else None
    return Disclosure(
        {
            "url_slug": _slug(receipt.dataset or paid.named.name),
            "status": "Draft",
            "tier": 3,
            "deployment": {
                "basic": _basic(paid),
                "dp_variant": _variant(paid.named),
                "privacy_loss": _privacy_loss(paid.named, account),
                "deployment_model": _model(account),
                "accounting": _accounting(paid, account),
                "implementation": _implementation(receipt),
                "administrative": _administrative(paid),
            },
        }
    )


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "release"


def _asked(question: str, value: Any = OPEN) -> Noted:
    return Noted(value, f"OPEN: {question}")


def _basic(paid: Paid) -> dict[str, Any]:
    release, receipt = paid.named.release, paid.named.receipt
    items = f"{release.requested} or fewer" if len(release) < release.requested else f"{len(release)}"
    time = paid.time
    return {
        "name": _asked("the name of the data product"),
        "data_curators": _asked("who publishes it", [OPEN]),
        "intended_use": _asked("what it is for"),
        "data_product_type": "Summary statistics",
        "data_product_region": _asked("which region it describes, and whose law applies"),
        "description": (
            f"The most frequent itemsets ({items}) of about {release.total:,.0f} {receipt.counted}, with noisy counts, "
            "intervals and association rules."
        ),
        "publication_date": _asked(
            "the day of publication" + ("" if time is None else "; this is the day of the charge"),
            NO_DATE if time is None else f"{time:%Y-%m-%d}",
        ),
    }


def _variant(named: NamedRelease) -> dict[str, Any]:
    receipt = named.receipt
    unprotected = (
        "The number of transactions is published without noise."
        if receipt.n_public
        else "No number in the data product is published without noise."
    )
    public = "\n".join(f"- {sentence}" for sentence in receipt.assumptions)
    return {
        # To name an item that one unit alone has is an exception of its own, so that no ρ states all.
        "variant_name": "Approximate DP"
        if named.has_private_items
        else _VARIANTS.get(type(receipt.definition), _asked("Which variant of the registry is this?")),
        "data_domain": (
            "Any number of sets of items. Which items occur is private: those in the product were found under noise."
            if named.has_private_items
            else "Any number of sets of items from a fixed list, which is public. Items outside the list are dropped."
        )
        + " The layout of the data and what was asked for are taken to be public.",
        "unprotected_quantities": f"{unprotected}\nTaken to be public:\n{public}" if public else unprotected,
    }


def _privacy_loss(named: NamedRelease, account: Account | None) -> dict[str, Any]:
    receipt = named.receipt
    unit = receipt.unit or Unit()
    worth, definition = receipt.guarantee, receipt.definition
    parameters: dict[str, Any] = {"epsilon": float(worth.epsilon)}
    if worth.delta is not None:
        parameters["delta"] = float(worth.delta)
    if isinstance(definition, ZCDP) and not named.has_private_items:
        rho = definition.of_replaced(receipt.cost) if receipt.n_public else receipt.cost
        parameters["rho"] = float(rho.amount)
    details = f"{receipt.definition.name}, {worth}; cost {receipt.cost}, in {charges_text(receipt.charges)}."
    if account is not None:
        total = Guarantee(account.whole.total_epsilon, account.whole.total_delta)
        details += f" All releases of this data so far: {account.spent}; they may cost at most {total}."
    return {
        "privacy_unit": receipt.whom,
        "privacy_unit_details": receipt.protects
        if receipt.unit is None
        else (
            f"Neighbours: {unit.change(replaced=receipt.n_public)}, and nothing else. A transaction is a set of items. "
            + ("" if unit.is_transaction else f"Bound on contributions: {unit.limit}.")
        ).strip(),
        "privacy_parameters": parameters,
        "privacy_parameters_details": details,
    }


def _model(account: Account | None) -> dict[str, Any]:
    charges = 1 if account is None else len(account.charges)
    grows = account is not None and any(entry.event == "grow" for entry in account.entries)
    return {
        "model_name": "Central",
        "model_name_details": "One party holds the exact data and runs privmine on it.",
        "actors": _asked("who holds the exact data, who gets the release, and whom one must trust"),
        "release_type": _asked(
            "whether other releases exist"
            if account is None
            else "whether all releases of this data are in the ledger",
            "Many releases" if charges > 1 else "One release",
        ),
        "release_type_details": (
            "No ledger was given, so that other releases are not known."
            if account is None
            else f"{charges_text(account.charges)} to the ledger so far."
        ),
        "data_source_type": "Dynamic" if grows else _asked("whether the data grows", "Static"),
        "access_type": "Non-interactive",
        "access_type_details": "Readers get the release and cannot ask further questions of the data.",
    }


def _accounting(paid: Paid, account: Account | None) -> dict[str, Any]:
    receipt = paid.named.receipt
    steps = "\n".join(
        f"- {charge.cost}: {charge.stage} ({charge.component}), {charge.query}" for charge in receipt.charges
    )
    across = paid.words if account is None else f"{paid.words} A ledger refuses what would exceed the total."
    summed = "ρ is summed" if account is not None and account.whole.composition == RHO else "ε and δ are summed"
    notes = "\n".join(f"- {note}" for note in receipt.notes)
    done = (
        "Counts are put together from noisy answers, the largest are listed, supports are kept within 0 and 1, and "
        "intervals and rules are computed from noisy answers alone."
    )
    return {
        "post_processing": f"{done}\n{notes}" if notes else done,
        "composition": (
            f"Sequential, also where a step depends on earlier answers: the costs of all steps are summed.\n{steps}\n"
            f"Across releases: {summed}. {across}"
        ),
    }


def _implementation(receipt: Receipt) -> dict[str, Any]:
    used = dict.fromkeys(charge.mechanism for charge in receipt.charges if charge.mechanism != UNSPENT)
    parts = "\n".join(f"- {stage}: {described}" for stage, described in receipt.pipeline.items())
    declared = any(not charge.verified for charge in receipt.charges)
    return {
        "preprocessing_and_hyperparameter_tuning": _asked(
            "whether anything was chosen after a look at the data",
            "What is estimated from the data is part of the charges. Choices by people: " + OPEN,
        ),
        "mechanisms": _asked(
            "who can read the exact data, and how that is controlled",
            (
                f"- Mechanisms: {'; '.join(used)}.\n"
                f"- Library: privmine {receipt.version or 'of a version that is not noted'}.\n"
                f"- Noise: {receipt.noise}.\n"
                "- Floating point: answers are whole numbers, and the noise is discrete and drawn exactly.\n"
                "- Timing: not interactive; no timing is part of the release, and the time of a run is not protected.\n"
                f"- Sensitivities: {'some declared, not verified' if declared else 'verified or enforced'}.\n"
                f"- Access to the exact data: {OPEN}.\n" + parts
            ).rstrip(),
        ),
        "justification": _asked("why this ε, this unit and this method, and how that was reviewed"),
    }


def _administrative(paid: Paid) -> dict[str, Any]:
    payment = paid.named.receipt.payment
    return {
        "sources": _asked("where the release and its description can be found"),
        "notes": f"Payment: {payment}." if payment is not None else "No payment is recorded in the receipt.",
        "registry_authors": _asked("who filled in this record", [OPEN]),
    }


def _leaves(values: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in values.items():
        path = f"{before}{name}"
        found += _leaves(value, f"{path}.") if isinstance(value, Mapping) else [(path, value)]
    return found
