"""Noise for second moments: random elements of the cone that moment matrices lie in, rounded exactly.

The moments of p variables with values ±1, G = Σ x·xᵀ, form a symmetric matrix whose diagonal has one value. Such
matrices are a space of M = 1 + p·(p−1)/2 dimensions, and those without negative eigenvalues are a convex cone in it.
The noise is A − B with A and B independent, each of density ∝ e^(−a₀/scale) on the cone, where a₀ is the value of the
diagonal. So A = a₀·R with a₀ ~ Gamma(M) and R uniform on the correlation matrices, which is the set that is called the
elliptope. R is the matrix of inner products of p uniform unit vectors with p + 1 coordinates.

A real number is never computed, only bounds on it from the random bits that have been drawn. G is whole, so rounding
G + A − B to whole numbers is adding the rounded A − B: the noise never sees the data. Where bounds leave a rounding
open, more bits of the same numbers are drawn. docs/privacy-samplers.md has the proofs.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from itertools import chain, combinations
from math import prod
from typing import NamedTuple

import numpy as np
from attrs import frozen

from privmine.errors import InputError
from privmine.model import FloatArray
from privmine.noise.exponential import working_context
from privmine.noise.spheres import Precision, SpherePoint
from privmine.noise.uniform import FIRST_BITS, RandomBits, Uniform


class Bounded(NamedTuple):
    """A number in units, and a bound on its distance from the exact one."""

    middle: int
    error: int


def moment_count(variables: int) -> int:
    """M: how many different values a moment matrix has, the diagonal and the pairs of variables."""
    return 1 + variables * (variables - 1) // 2


def vector_dimension(variables: int) -> int:
    """In how many dimensions inner products of uniform unit vectors are uniform on the correlation matrices."""
    return variables + 1


@frozen
class ConeElement:
    """The random numbers behind a₀·R, an element of the cone for scale 1.

    Attributes:
        factors: a₀ is −ln of their product, a sum of M exponential variables.
        vectors: R has their inner products.
    """

    factors: list[Uniform]
    vectors: list[SpherePoint]

    @classmethod
    def draw(cls, variables: int, random_bits: RandomBits, bits: int = FIRST_BITS) -> ConeElement:
        """Draw an element of the cone of so many variables."""
        factors = [Uniform.draw(random_bits, bits) for _ in range(moment_count(variables))]
        dimension = vector_dimension(variables)
        return cls(factors, [SpherePoint.draw(dimension, random_bits, bits) for _ in range(variables)])

    def extend(self, bits: int, random_bits: RandomBits) -> None:
        """Draw more bits of each number of which fewer are known."""
        for uniform in chain(self.factors, *(vector.uniforms for vector in self.vectors)):
            while uniform.bits < bits:
                uniform.extend(random_bits)

    def within(self, precision: Precision) -> list[Bounded] | None:
        """The diagonal, then the pairs in the order of combinations; None where the precision is far too low."""
        diagonal = _gamma(self.factors, precision)
        points = [vector.within(precision) for vector in self.vectors]
        if diagonal is None:
            return None
        values = [diagonal]
        for one, other in combinations(points, 2):
            if one is None or other is None:
                return None
            # |x̃·ỹ − x·y| ≤ |x̃ − x|·|y| + |x̃|·|ỹ − y|, with |y| = 1 and |x̃| ≤ 1 + |x̃ − x|.
            inner = sum(map(int.__mul__, one.coordinates, other.coordinates)) >> precision.point
            error = one.error + other.error + (one.error * other.error >> precision.point) + 2
            # |ã·r̃ − a·r| ≤ |ã|·|r̃ − r| + |ã − a|·|r|, with |r| ≤ 1.
            spread = (abs(diagonal.middle) * error >> precision.point) + 1 + diagonal.error + 1
            values.append(Bounded(diagonal.middle * inner >> precision.point, spread))
        return values


def _gamma(factors: list[Uniform], precision: Precision) -> Bounded | None:
    """−ln of the product of the factors; None where a factor may be 0.

    With numerators n the product P of them gives the largest possible value g = −ln(P/2^(bits·M)), and the smallest
    is less than Σ 1/n below it. The logarithm is taken of the first point + 16 bits of P, which is off by less than
    2^(−point−14). In decimal places there are at least point + 64 bits beyond the point and more before it, so that all
    roundings there together are below 2^(−point): 2 units cover both, and one more the conversion to an integer.
    """
    numerators = [factor.leading(precision.bits) for factor in factors]
    if not all(numerators):
        return None
    product = prod(numerators)
    length, kept = product.bit_length(), precision.point + 16
    leading = product >> (length - kept) if length > kept else product << (kept - length)
    context = working_context((precision.point + 64) // 3 + len(str(precision.bits * len(factors))) + 4)
    halvings = context.multiply(Decimal(precision.bits * len(factors) - length), context.ln(Decimal(2)))
    rest = context.ln(context.divide(Decimal(leading), Decimal(1 << kept)))
    largest = int(context.multiply(context.subtract(halvings, rest), Decimal(1 << precision.point)))
    spread = sum((1 << precision.point) // numerator + 1 for numerator in numerators)
    return Bounded(largest - spread // 2, spread // 2 + 1 + 3)


def elliptope_noise(
    variables: int, scale: Fraction, *, random_bits: RandomBits = secrets.randbits, first_bits: int = FIRST_BITS
) -> list[int]:
    """Whole numbers: scale·(A − B), each value rounded to the nearest.

    Args:
        variables: p, the size of the matrix.
        scale: the exact scale; positive.
        random_bits: where the noise comes from.
        first_bits: how many bits of each number to begin with; the distribution is the same for all.

    Returns:
        The value of the diagonal, then those of all pairs of variables in the order of `itertools.combinations`.
    """
    if variables < 1 or scale <= 0:
        raise InputError(f"Noise of the cone needs a variable and a scale above 0, not {variables} and {scale}.")
    plus = ConeElement.draw(variables, random_bits, first_bits)
    minus = ConeElement.draw(variables, random_bits, first_bits)
    precision = Precision(first_bits)
    while (rounded := rounded_difference(plus, minus, scale, precision)) is None:
        precision = Precision(2 * precision.bits)
        plus.extend(precision.bits, random_bits)
        minus.extend(precision.bits, random_bits)
    return rounded


def rounded_difference(
    plus: ConeElement, minus: ConeElement, scale: Fraction, precision: Precision
) -> list[int] | None:
    """scale·(A − B), each value rounded to the nearest whole number; None where that is not certain of all."""
    first, second = plus.within(precision), minus.within(precision)
    if first is None or second is None:
        return None
    differences = (Bounded(a.middle - b.middle, a.error + b.error) for a, b in zip(first, second, strict=True))
    return _rounded(differences, scale, precision)


def _rounded(values: Iterable[Bounded], scale: Fraction, precision: Precision) -> list[int] | None:
    """⌊scale·x + ½⌋ of each; None if that is not the same at both ends of some bound."""
    numerator, denominator = 2 * scale.numerator, 2 * scale.denominator << precision.point
    half = denominator // 2
    rounded = []
    for middle, error in values:
        low = (numerator * (middle - error) + half) // denominator
        if low != (numerator * (middle + error) + half) // denominator:
            return None
        rounded.append(low)
    return rounded


def simulated_elliptope_noise(variables: int, scale: float, generator: np.random.Generator) -> FloatArray:
    """The same noise in floating point, not rounded, for simulations."""
    noise = np.zeros(moment_count(variables))
    rows, columns = np.triu_indices(variables, 1)
    for sign in (1, -1):
        vectors = generator.normal(size=(variables, vector_dimension(variables)))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        diagonal = generator.gamma(moment_count(variables))
        noise += sign * diagonal * np.concatenate([[1.0], (vectors @ vectors.T)[rows, columns]])
    return scale * noise
