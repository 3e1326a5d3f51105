"""How far one unit of protection can move an exact answer."""

from __future__ import annotations

from fractions import Fraction

from attrs import field, frozen


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

    @property
    def score_moves(self) -> Fraction:
        """How far the score of one candidate can move against another's: Δ∞ if all move one way, else twice that."""
        return self.linf if self.monotone else 2 * self.linf

    @property
    def of_gap(self) -> Sensitivity:
        """That of the gap of a set: the largest score outside less the smallest inside.

        Each of the two moves by at most Δ∞, so that the gap moves by at most `score_moves`; but either way.
        """
        moves = self.score_moves
        return Sensitivity(moves, moves**2, moves)


@frozen
class ConeSensitivity(Sensitivity):
    """A unit of protection adds or removes a sum of moment matrices, and changes nothing else.

    The moment matrix x·xᵀ of a transaction has 1 on its diagonal and no negative eigenvalue. Matrices of this kind form
    a cone, and noise that has the shape of the cone is far smaller than what any norm of them asks for. The norms hold
    as well, for definitions of privacy and mechanisms that go by norms.

    Attributes:
        variables: the size of the matrices. An answer has the value of the diagonal, then those above it, row by row.
        elements: of how many moment matrices the sum is made, at most: the bound on the change of the diagonal.
    """

    variables: int = field(kw_only=True)
    elements: int = field(default=1, kw_only=True)

    def times(self, transactions: int) -> ConeSensitivity:
        """What up to so many transactions, added or removed together, can move: so many times as many matrices.

        Transactions that come together add a sum of their matrices; no unit adds some and takes others away.
        """
        norms = super().times(transactions)
        return ConeSensitivity(
            norms.l1,
            norms.l2_squared,
            norms.linf,
            norms.monotone,
            variables=self.variables,
            elements=self.elements * transactions,
        )
