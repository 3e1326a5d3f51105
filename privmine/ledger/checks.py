"""What a ledger accepts: names, notes and amounts, converted at the edge or refused in a sentence."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction
from typing import Any
from unicodedata import normalize

from privmine.errors import BudgetError, InputError
from privmine.exact import exact
from privmine.ledger.entries import TRANSACTION, DatasetBudget
from privmine.privacy import amount

LONGEST_NAME = 200
LONGEST_NOTE = 1000
LARGEST_AMOUNT = 10**12
#: Numerators and denominators stay below 2^4096: Python refuses to print integers past 4300 digits,
#: and a sum over ever new denominators would otherwise grow without end.
MOST_BITS = 4096
_DONE = {"charge": "charged", "grant": "granted"}


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
    return _of_bearable_size(epsilon, what)


def delta_amount(value: Any, what: str) -> Fraction | None:
    """Check a δ: between 0 and 1, both excluded, or None for pure ε."""
    if value is None:
        return None
    delta = exact(value, what)
    if not 0 < delta < 1:
        raise InputError(f"{what} must be more than 0 and less than 1, such as 1e-6. Leave it out for pure ε.")
    return _of_bearable_size(delta, what)


def _of_bearable_size(value: Fraction, what: str) -> Fraction:
    if value > LARGEST_AMOUNT:
        raise InputError(f"{what} must be at most {LARGEST_AMOUNT:,}.")
    if max(value.numerator, value.denominator).bit_length() > MOST_BITS:
        raise InputError(f"{what} has too many digits to be counted exactly. Use a shorter decimal number.")
    return value


def refuse_mixing(budget: DatasetBudget, delta: Fraction | None) -> None:
    """Refuse a charge that is not counted in the dataset's own privacy definition."""
    if budget.total_delta is None and delta is not None:
        raise InputError(
            f"The budget of {budget.name!r} is counted in pure ε, so a charge with a δ cannot be "
            "added to it. Release under pure ε, or use a dataset whose budget has a δ."
        )
    if budget.total_delta is not None and delta is None:
        raise InputError(
            f"The budget of {budget.name!r} is counted in (ε, δ), so a charge without a δ cannot be "
            "added to it. Release under (ε, δ), or use a dataset with a budget in pure ε."
        )


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


def refuse_overspending(
    budget: DatasetBudget, epsilon: Fraction, delta: Fraction | None, event: str = "charge"
) -> None:
    """Refuse a charge or a grant that exceeds what is left, in ε or in δ."""
    _of_bearable_size(budget.spent_epsilon + epsilon, "The sum of all charged ε")
    _refuse_excess(event, budget.label, "ε", epsilon, budget.remaining_epsilon, budget.total_epsilon)
    if delta is not None and budget.remaining_delta is not None and budget.total_delta is not None:
        _of_bearable_size(budget.total_delta - budget.remaining_delta + delta, "The sum of all charged δ")
        _refuse_excess(event, budget.label, "δ", delta, budget.remaining_delta, budget.total_delta)


def _refuse_excess(
    event: str, name: str, symbol: str, requested: Fraction, remaining: Fraction, total: Fraction
) -> None:
    if requested <= remaining:
        return
    advice = (
        f"Ask for at most {symbol} = {amount(remaining)}."
        if remaining
        else "Nothing more can be released from this budget: what is spent does not come back."
    )
    raise BudgetError(
        f"A {event} of {symbol} = {amount(requested)} exceeds the budget of {name!r}: {symbol} = "
        f"{amount(remaining)} is left of {amount(total)}. Nothing was {_DONE[event]}. {advice}",
        requested=requested,
        remaining=remaining,
    )
