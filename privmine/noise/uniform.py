"""Uniform numbers that are known as precisely as they have to be."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from attrs import define

#: Draws that many random bits, as a whole number.
RandomBits: TypeAlias = Callable[[int], int]

#: How many bits of a number are drawn at first.
FIRST_BITS = 64


@define
class Uniform:
    """A uniform number from numerator/2^bits to (numerator + 1)/2^bits, known better when it must be."""

    numerator: int
    bits: int = FIRST_BITS

    @classmethod
    def draw(cls, random_bits: RandomBits, bits: int = FIRST_BITS) -> Uniform:
        """A number of which so many bits are known."""
        return cls(random_bits(bits), bits)

    def extend(self, random_bits: RandomBits) -> None:
        """Draw as many bits again; a new number in its place would favour what is decided easily."""
        self.numerator = self.numerator << self.bits | random_bits(self.bits)
        self.bits *= 2

    def leading(self, bits: int) -> int:
        """The first bits: the number lies from this to one more, divided by 2^bits."""
        return self.numerator >> (self.bits - bits)
