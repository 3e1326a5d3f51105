"""Numbers from outside: as the fractions that their text means, and as whole numbers."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from fractions import Fraction
from math import isfinite
from typing import Any, SupportsIndex

from attrs import Attribute

from privmine.errors import ContractError, InputError

#: What a message calls a number whose name it does not know.
A_NUMBER = "The number"


def exact(value: Any, what: str = A_NUMBER) -> Fraction:
    """Turn a number into the fraction that its decimal text means: 0.1 is 1/10, not its binary neighbour."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool):
        raise InputError(f"{what} must be a number, not {value!r}.")
    if isinstance(value, float) and not isfinite(value):
        raise InputError(f"{what} must be finite, not {value!r}.")
    text = str(value).strip().lower()
    # An exponent of nine digits is a number of a billion digits; writing it out would take for ever.
    digits, _, exponent = text.partition("e")
    if len(digits) > 1000 or len(exponent.lstrip("+-0")) > 3:
        raise InputError(f"{what} has too many digits. Write a number such as 0.5 or 1/3.")
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise InputError(f"{what} must be a number such as 0.5 or 1/3, not {value!r}.") from None


def whole_number(value: Any, what: str) -> int:
    """Refuse what is not a whole number of at least 1; `what` begins the sentence."""
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise InputError(f"{what} must be a whole number, not {value!r}.")
    number = operator.index(value)
    if number < 1:
        raise InputError(f"{what} must be at least 1, not {value!r}.")
    return number


def whole_from(least: int, most: int | None = None) -> Callable[[object, Attribute[Any], Any], None]:
    """An attrs validator for whole numbers within limits: those of Python, since those of numpy may overflow."""
    limits = f"of at least {least}" if most is None else f"from {least} to {most:,}"

    def check(_: object, attribute: Attribute[Any], value: Any) -> None:
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or value < least or (most is not None and value > most):
            raise InputError(f"{attribute.name} must be a whole number {limits}, not {value!r}.")

    return check


def amount(value: Fraction) -> str:
    """A number as people read it: decimal where that is exact and short, else the fraction with its value."""
    try:
        text = f"{float(value):.6g}"
    except OverflowError:
        return "a number beyond all bounds"
    if Fraction(text) == value:
        return text
    return f"{value} ≈ {text}" if len(str(value)) <= 20 else f"≈ {text}"


def text_tuple(values: Iterable[str]) -> tuple[str, ...]:
    """Sentences as a tuple; one text is refused, because it would become a tuple of letters."""
    found = tuple(values)
    if isinstance(values, str) or not all(isinstance(text, str) for text in found):
        raise ContractError("Sentences such as notes must be a list of texts. Put a single one into a list.")
    return found
