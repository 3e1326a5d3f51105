"""e^(−x) of an exact fraction to as many digits as asked, with a proven bound on its error."""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction


def working_context(digits: int) -> Context:
    """Decimal arithmetic in which each operation has a relative error of at most 10^(1−digits)/2."""
    return Context(prec=digits, rounding=ROUND_HALF_EVEN, Emin=MIN_EMIN, Emax=MAX_EMAX)


def exp_minus(x: Fraction, digits: int) -> Decimal:
    """e^(−x) for 0 ≤ x < 10^17, with a relative error below 10^(−digits).

    Let P be the precision below and ℓ the number of digits of ⌊x⌋. Rounding x moves it by at most
    x·10^(1−P)/2 < 10^(ℓ+1−P)/2 = 10^(−digits−1)/2, which moves e^(−x) by a factor of about 1 ± that
    much. `Context.exp` is correctly rounded and adds 10^(1−P)/2. Together that is below 10^(−digits).
    """
    context = working_context(digits + len(str(int(x))) + 2)
    argument = context.divide(Decimal(-x.numerator), Decimal(x.denominator))
    return context.exp(argument)
