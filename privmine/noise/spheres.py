"""Uniform points of the unit sphere, in integers with a proven bound on their error.

A complex coordinate of a uniform point of the sphere in an even dimension has a squared modulus and a phase. The
squared moduli are the gaps that uniform numbers cut the unit interval into, and the phases are uniform on the circle.
So no function but the square root is needed. A point in an odd dimension is one of the next dimension without its last
coordinate, stretched to length 1. docs/privacy-samplers.md has the proofs.

Nothing is ever drawn again: where a point is not known well enough, more bits of the same numbers are drawn.
"""

from __future__ import annotations

from itertools import chain, pairwise
from math import isqrt
from typing import NamedTuple

from attrs import define, frozen

from privmine.noise.uniform import FIRST_BITS, RandomBits, Uniform

#: By how many bits fixed-point numbers are finer than the uniform numbers that they are made of.
GUARD_BITS = 16


@frozen
class Precision:
    """How many bits of each uniform number are used, and the fixed-point numbers that are made of them."""

    bits: int

    @property
    def point(self) -> int:
        """How many bits a fixed-point number has after the point; its last one is called a unit."""
        return self.bits + GUARD_BITS


class Vector(NamedTuple):
    """A vector in units, and how far from it the exact one can be, by the Euclidean norm, in units."""

    coordinates: list[int]
    error: int


class _Coordinate(NamedTuple):
    """A complex number in units, and a bound on its distance from the exact one."""

    real: int
    imaginary: int
    error: int


@define
class Phase:
    """A uniform point of the circle: the square of the direction of a point of the quarter disc, or its negative."""

    x: Uniform
    y: Uniform
    negative: bool

    @classmethod
    def draw(cls, random_bits: RandomBits, bits: int = FIRST_BITS) -> Phase:
        """Draw points of the unit square until one lies in the disc; one on its border gets more bits first."""
        while True:
            x, y = Uniform.draw(random_bits, bits), Uniform.draw(random_bits, bits)
            while True:
                radius_squared = 1 << 2 * x.bits
                if (x.numerator + 1) ** 2 + (y.numerator + 1) ** 2 <= radius_squared:
                    return cls(x, y, bool(random_bits(1)))
                if x.numerator**2 + y.numerator**2 >= radius_squared:
                    break
                x.extend(random_bits)
                y.extend(random_bits)

    def times(self, modulus: tuple[int, int], precision: Precision) -> _Coordinate | None:
        """The phase times a modulus in bounds; None where the phase is not known at all.

        The corner (x, y) of the cell that the exact point lies in has the norm r, the exact point a larger one and a
        distance of at most √2. So the directions differ by at most √2/r, and their squares by 2·√2/r < 3/r. Each
        division and each product is rounded down, by less than a unit in both coordinates, which is less than 2 units.
        """
        point = precision.point
        x, y = self.x.leading(precision.bits), self.y.leading(precision.bits)
        norm_squared = x * x + y * y
        if not norm_squared:
            return None
        cosine = (x * x - y * y << point) // norm_squared
        sine = (2 * x * y << point) // norm_squared
        if self.negative:
            cosine, sine = -cosine, -sine
        phase_error = (3 << point) // isqrt(norm_squared) + 3
        low, high = modulus
        middle, modulus_error = (low + high) // 2, (high - low) // 2 + 1
        # |m̃·p̃ − m·p| ≤ m̃·|p̃ − p| + |m̃ − m|·|p|, and |p| = 1.
        error = (middle * phase_error >> point) + 1 + modulus_error + 2
        return _Coordinate(middle * cosine >> point, middle * sine >> point, error)


@frozen
class SpherePoint:
    """The random numbers behind a uniform point of the unit sphere.

    Attributes:
        dimension: how many coordinates it has.
        cuts: the numbers that cut the unit interval into the squared moduli.
        phases: one for each modulus.
    """

    dimension: int
    cuts: list[Uniform]
    phases: list[Phase]

    @classmethod
    def draw(cls, dimension: int, random_bits: RandomBits, bits: int = FIRST_BITS) -> SpherePoint:
        """Draw a point."""
        moduli = (dimension + 1) // 2
        cuts = [Uniform.draw(random_bits, bits) for _ in range(moduli - 1)]
        return cls(dimension, cuts, [Phase.draw(random_bits, bits) for _ in range(moduli)])

    @property
    def uniforms(self) -> chain[Uniform]:
        """All numbers that can be extended."""
        return chain(self.cuts, (phase.x for phase in self.phases), (phase.y for phase in self.phases))

    def within(self, precision: Precision) -> Vector | None:
        """The point at a precision; None where that is too little to know anything."""
        coordinates: list[int] = []
        error = 0
        for phase, modulus in zip(self.phases, self._moduli(precision), strict=True):
            part = phase.times(modulus, precision)
            if part is None:
                return None
            coordinates += (part.real, part.imaginary)
            error += part.error
        vector = Vector(coordinates, error)
        return vector if len(coordinates) == self.dimension else _without_last(vector, precision)

    def _moduli(self, precision: Precision) -> list[tuple[int, int]]:
        """Bounds on the moduli, in units.

        The j-th smallest of the exact numbers lies between the j-th smallest numerator and one more, whichever number
        it is. The ends of the interval are exact.
        """
        marks = [0, *sorted(cut.leading(precision.bits) for cut in self.cuts), 1 << precision.bits]
        # √(gap/2^bits)·2^point = √(gap·2^(2·point − bits))
        shift = 2 * precision.point - precision.bits
        last = len(marks) - 2
        bounds = []
        for place, (left, right) in enumerate(pairwise(marks)):
            least = max(0, right - left - (place > 0))
            most = right - left + (place < last)
            bounds.append((isqrt(least << shift), isqrt(most << shift) + 1))
        return bounds


def _without_last(vector: Vector, precision: Precision) -> Vector | None:
    """The vector without its last coordinate, stretched to length 1.

    Let g̃ be what is left, g the exact one and n ≤ |g̃| < n + 1. Then g̃/|g̃| and g/|g| differ by at most
    2·|g̃ − g|/|g̃| ≤ 2·error/n, and g̃/n from g̃/|g̃| by less than 1/n. Each quotient is rounded down by less than a unit.
    """
    kept = vector.coordinates[:-1]
    norm = isqrt(sum(x * x for x in kept))
    if not norm:
        return None
    error = ((2 * vector.error + 1) << precision.point) // norm + 1 + len(kept)
    return Vector([(x << precision.point) // norm for x in kept], error)
