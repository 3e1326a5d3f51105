"""What a ledger accepts: names, notes and amounts, converted at the edge or refused in a sentence."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction
from typing import Any
from unicodedata import normalize

from privmine.errors import BudgetError, InputError
from privmine.exact import exact
from privmine.ledger.entries import RHO, SUMS, TRANSACTION, DatasetBudget, Price
from privmine.privacy import amount
from privmine.privacy.conversion import epsilon_of

LONGEST_NAME = 200
LONGEST_NOTE = 1000
LARGEST_AMOUNT = 10**12
#: Numerators and denominators stay below 2^4096: Python refuses to print integers past 4300 digits,
#: and a sum over ever new denominators would otherwise grow without end.
MOST_BITS = 4096
DONE = {"charge": "charged", "grant": "granted"}
NOTHING_LEFT = "Nothing more can be released from this budget: what is spent does not come back."


def dataset_name(value: Any) -> str:
    """Check a dataset's name; two spellings that look the same become the same name."""
    return _name(value, "A dataset's name")


def account_name(value: Any) -> str:
    """Check the name of an account."""
    return _name(value, "An account's name")


def part_name(value: Any) -> str:
    """Check the name of the people who came to a dataset later."""
    return _name(value, "The name of a part")


def last_day(value: Any) -> date:
    """Check the last day of a period."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        raise InputError(f"The last day of a period must be a date such as 2027-12-31, not {value!a}.") from None


def unit_name(value: Any) -> str:
    """Check the name of a unit of protection, which is "transaction" or that of a column."""
    return _name(value, "The name of a unit of protection")


def _name(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{what} must be text, not {type(value).__name__}.")
    # Without this, é typed on two systems could be two datasets with a budget each.
    name = normalize("NFC", value)
    if not name or name != name.strip():
        raise InputError(f"{what} must not be empty, and must not start or end with a space: {name!r}.")
    if not name.isprintable():
        raise InputError(f"{what} must not contain control or invisible characters: {name[:LONGEST_NAME]!a}.")
    if len(name) > LONGEST_NAME:
        raise InputError(f"{what} must have at most {LONGEST_NAME} characters, not {len(name)}.")
    return name


def note_text(note: Any) -> str:
    """Check a note: one printable line."""
    if not isinstance(note, str) or not note.isprintable() or len(note) > LONGEST_NOTE:
        raise InputError(f"A note must be one line of at most {LONGEST_NOTE} printable characters.")
    return note


def epsilon_amount(value: Any, what: str) -> Fraction:
    """Check an ε: more than 0 and exact."""
    epsilon = exact(value, what)
    if epsilon <= 0:
        raise InputError(f"{what} must be more than 0. Try 1 or 0.5.")
    return of_bearable_size(epsilon, what)


def delta_amount(value: Any, what: str) -> Fraction | None:
    """Check a δ: between 0 and 1, both excluded, or None for pure ε."""
    if value is None:
        return None
    delta = exact(value, what)
    if not 0 < delta < 1:
        raise InputError(f"{what} must be more than 0 and less than 1, such as 1e-6. Leave it out for pure ε.")
    return of_bearable_size(delta, what)


def composition_name(value: Any, delta: Fraction | None) -> str:
    """Check how what releases cost is added up; without a δ there is one way only."""
    if value is None:
        return SUMS if delta is None else RHO
    if value not in (SUMS, RHO):
        raise InputError(
            f"A budget adds up the sums of ε and δ, or ρ: composition must be 'sums' or 'rho', not {value!a}."
        )
    if value == RHO and delta is None:
        raise InputError("A budget that adds up ρ needs a δ at which ρ is stated as ε, for example delta=1e-6.")
    return str(value)


def rho_amount(value: Any) -> Fraction | None:
    """Check a ρ: more than 0 and exact, or None."""
    if value is None:
        return None
    rho = exact(value, "The ρ of a charge")
    if rho <= 0:
        raise InputError("The ρ of a charge must be more than 0.")
    return of_bearable_size(rho, "The ρ of a charge")


def items_delta_amount(value: Any, delta: Fraction | None) -> Fraction:
    """Check the part of a δ that is for private items: at least 0, and less than δ."""
    items_delta = exact(value, "The part of δ for private items")
    if not 0 <= items_delta < (1 if delta is None else delta) or (items_delta and delta is None):
        raise InputError("The part of δ for private items must be at least 0 and less than δ.")
    return of_bearable_size(items_delta, "The part of δ for private items")


def refuse_understated(price: Price) -> None:
    """Refuse a ρ that is worth more than the ε and δ that are stated beside it."""
    if price.rho is None or price.delta is None:
        return
    worth = epsilon_of(price.rho, price.delta - price.items_delta)
    if worth > price.epsilon:
        raise InputError(
            f"ρ = {amount(price.rho)} is worth ε = {amount(worth)} at this δ, more than the stated ε = "
            f"{amount(price.epsilon)}. Nothing was charged. State an ε that is at least as large."
        )


def of_bearable_size(value: Fraction, what: str) -> Fraction:
    """Refuse what is too large, or has too many digits."""
    if value > LARGEST_AMOUNT:
        raise InputError(f"{what} must be at most {LARGEST_AMOUNT:,}.")
    if max(value.numerator, value.denominator).bit_length() > MOST_BITS:
        raise InputError(f"{what} has too many digits to be counted exactly. Use a shorter decimal number.")
    return value


def refuse_past(last: date, today: date) -> None:
    """Refuse a period that has ended before it begins."""
    if last < today:
        raise InputError(
            f"{last} is in the past: it is {today} now (UTC). Nothing was changed. Name a day that is still to come."
        )


def refuse_renewal(budget: DatasetBudget, last: date, today: date) -> None:
    """Refuse a new period of a budget that has none, before the last one has ended, or that is already over."""
    if budget.until is None:
        raise InputError(
            f"The budget of {budget.name!r} was opened without a period, for the whole life of the data. It cannot be "
            "renewed."
        )
    if last <= budget.until:
        raise InputError(
            f"The period of {budget.name!r} lasts until {budget.until} already. Nothing was changed. Name a later day."
        )
    if today <= budget.until:
        raise InputError(
            f"The period of {budget.name!r} lasts until {budget.until}, and it is {today} now (UTC). Nothing was "
            "changed. Renew it after that day."
        )
    refuse_past(last, today)


def refuse_after_period(budget: DatasetBudget, today: date) -> None:
    """Refuse a charge after the last day of the budget's period."""
    if budget.until is not None and today > budget.until:
        raise InputError(
            f"The period of the budget of {budget.name!r} ended on {budget.until}. Nothing was charged. Open the next "
            "one with `privmine budget renew` or `Ledger.renew`."
        )


def refuse_small_part(budget: DatasetBudget) -> None:
    """Refuse new people whose budget does not cover what accounts may spend on everybody."""
    if budget.is_overdrawn:
        raise InputError(
            f"Accounts of {budget.name!r} may still spend ε = {amount(budget.reserved_epsilon)} on everybody, the new "
            "people included. Nothing was changed. Give the new people at least that much, in ε and in δ."
        )


def refuse_another_unit(budget: DatasetBudget, unit: str) -> None:
    """Refuse a charge for a run that protects another unit than the dataset's budget."""
    if unit == budget.unit:
        return
    advice = (
        "Read the data without a unit"
        if budget.unit == TRANSACTION
        else f"Read the data with unit={budget.unit!r} or merge_by={budget.unit!r}"
    )
    raise InputError(
        f"The budget of {budget.name!r} is counted for one {budget.unit}, but this run protects one "
        f"{unit}, and the two costs do not add up. Nothing was charged. {advice}, or charge a dataset "
        f"whose budget was opened for one {unit}."
    )


def refuse_excess(
    event: str, name: str, symbol: str, requested: Fraction, remaining: Fraction, total: Fraction
) -> None:
    """Refuse a charge or a grant of more than is left of one symbol."""
    if requested <= remaining:
        return
    advice = f"Ask for at most {symbol} = {amount(remaining)}." if remaining else NOTHING_LEFT
    raise BudgetError(
        f"A {event} of {symbol} = {amount(requested)} exceeds the budget of {name!r}: {symbol} = "
        f"{amount(remaining)} is left of {amount(total)}. Nothing was {DONE[event]}. {advice}",
        requested=requested,
        remaining=remaining,
    )
