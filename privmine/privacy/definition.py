"""What mechanisms cost, which noise they need, how costs add up, and what a total guarantees.

Another definition of privacy is a subclass of `Definition`. A mechanism that it has no proof for needs no code: the
base class refuses it. A mechanism of its own is one method more here, which refuses, and one that answers in the
definitions that have a proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, ClassVar, NoReturn

import attrs
from attrs import fields, frozen

from privmine.errors import InputError
from privmine.exact import exact
from privmine.privacy.conversion import epsilon_of, rho_of, root
from privmine.privacy.cost import Cost
from privmine.privacy.guarantee import Guarantee
from privmine.privacy.noise import DiscreteElliptope, DiscreteGaussian, DiscreteLaplace, Noise
from privmine.privacy.rare_items import least_weight
from privmine.privacy.sensitivity import ConeSensitivity, Sensitivity


@frozen
class Definition:
    """A definition of privacy: the prices of mechanisms, and what a total is worth.

    Costs must add up: mechanisms that cost a and b cost a + b together, also where the second depends on what the
    first answered. Each mechanism has two methods that are inverse to each other, the noise for a cost and the
    cost of the noise; an audit compares them. A unit of several transactions is in the sensitivity already.

    Attributes:
        name: what receipts call it.
        symbol: the letter of its costs.
        field: the name of its costs in files.
        promise: what it promises, as the end of a sentence that begins with who comes or goes.
    """

    name: ClassVar[str]
    symbol: ClassVar[str]
    field: ClassVar[str]
    promise: ClassVar[str]

    def to_dict(self) -> dict[str, str]:
        """Its name and its parameters, for JSON."""
        parameters = ((own, getattr(self, own.name)) for own in fields(type(self)))
        return {"definition": self.name} | {own.name: str(value) for own, value in parameters if value != own.default}

    def cost(self, value: Any) -> Cost:
        """An amount as a cost."""
        return Cost(exact(value, self.symbol), self)

    def total(self, costs: Iterable[Cost]) -> Cost:
        """What all of it costs together."""
        return sum(costs, self.cost(0))

    def budget(self, epsilon: Fraction) -> Cost:
        """The cost that may be spent for what the user wrote as ε."""
        raise NotImplementedError

    def guarantee(self, total: Cost, *, replaced: bool = False) -> Guarantee:
        """What a total is worth.

        Args:
            total: all that was spent on one unit of protection that comes or goes.
            replaced: whether neighbours replace one unit by another: one goes and one comes.
        """
        raise NotImplementedError

    def price(self, total: Cost) -> dict[str, Any]:
        """What a ledger is told of a total beside its guarantee, by the names of `Ledger.charge`."""
        return {}

    def noise_for(self, sensitivity: Sensitivity, cost: Cost) -> Noise:
        """The noise on every value with which a measurement has this cost."""
        self._refuse("noise on every value")

    def cost_of_noise(self, sensitivity: Sensitivity, noise: Noise) -> Cost:
        """What a measurement with this noise costs."""
        self._refuse(f"noise of the kind {noise.distribution}")

    def rate_for(self, sensitivity: Sensitivity, cost: Cost, draws: int) -> Fraction:
        """The factor r of the weights e^(r·score) with which so many draws without replacement have this cost."""
        self._refuse("the exponential mechanism")

    def cost_of_draws(self, sensitivity: Sensitivity, rate: Fraction, draws: int) -> Cost:
        """What so many draws with the weights e^(rate·score) cost."""
        self._refuse("the exponential mechanism")

    def top_scale_for(self, sensitivity: Sensitivity, cost: Cost, chosen: int) -> Fraction:
        """The scale of Laplace noise with which naming the largest noisy scores, in order, has this cost."""
        self._refuse("choosing the largest of noisy scores")

    def cost_of_top(self, sensitivity: Sensitivity, scale: Fraction, chosen: int) -> Cost:
        """What naming the largest scores after Laplace noise of this scale costs."""
        self._refuse("choosing the largest of noisy scores")

    def least_weight(self, weights: Sequence[int], noise: Noise, baskets: int) -> int:
        """The noisy weight from which on an item may be named without anybody knowing before that it exists.

        Args:
            weights: weights[s] is what a transaction of s items adds to the weight of each of them.
            noise: what is added to the weight of every item that occurs.
            baskets: how many transactions one unit may have.
        """
        self._refuse("finding out which items occur")

    def _refuse(self, mechanism: str) -> NoReturn:
        raise InputError(
            f"There is no proof that {mechanism} satisfies {self.name}, and nothing was charged for it. "
            "Use another component, or another definition of privacy."
        )


@frozen
class PureDP(Definition):
    """Pure ε-differential privacy: Laplace noise by the L1 norm, exponential selection by the L∞ norm."""

    name = "pure ε-differential privacy"
    symbol = "ε"
    field = "epsilon"
    promise = "changes the probability of any outcome by a factor of at most e^ε"

    def budget(self, epsilon: Fraction) -> Cost:
        """ε itself."""
        return self.cost(epsilon)

    def guarantee(self, total: Cost, *, replaced: bool = False) -> Guarantee:
        """The total itself, and twice that where one replaces another: both steps multiply by e^ε."""
        return Guarantee(2 * total.amount if replaced else total.amount)

    def noise_for(self, sensitivity: Sensitivity, cost: Cost) -> Noise:
        """Laplace noise of scale Δ₁/ε: probabilities move by a factor of at most e^(Δ₁/scale).

        For moment matrices, noise of their cone with the scale m/ε, where one unit adds up to m of them: each moves
        probabilities by a factor of at most e^(1/scale). See docs/privacy-samplers.md.
        """
        if isinstance(sensitivity, ConeSensitivity):
            return DiscreteElliptope(sensitivity.elements / cost.amount, sensitivity.variables)
        return DiscreteLaplace(sensitivity.l1 / cost.amount)

    def cost_of_noise(self, sensitivity: Sensitivity, noise: Noise) -> Cost:
        """Δ₁ divided by the scale of Laplace noise, or the number of moment matrices by that of noise of their cone."""
        if isinstance(noise, DiscreteElliptope):
            if not isinstance(sensitivity, ConeSensitivity) or sensitivity.variables != noise.variables:
                return super().cost_of_noise(sensitivity, noise)
            return self.cost(sensitivity.elements / noise.scale)
        if noise.distribution not in ("laplace", "discrete laplace"):
            return super().cost_of_noise(sensitivity, noise)
        return self.cost(sensitivity.l1 / noise.scale)

    def rate_for(self, sensitivity: Sensitivity, cost: Cost, draws: int) -> Fraction:
        """ε divided by the draws and by 2·Δ∞, or Δ∞ where scores are monotone.

        In one draw the weight of the drawn candidate and the sum of all weights each move by a factor of at most
        e^(r·Δ∞). Where scores are monotone they move the same way and only one of the two factors counts (the
        paper, end of Section 2.1).
        """
        return cost.amount / draws / sensitivity.score_moves

    def cost_of_draws(self, sensitivity: Sensitivity, rate: Fraction, draws: int) -> Cost:
        """What `rate_for` divides by, times the rate."""
        return self.cost(rate * draws * sensitivity.score_moves)

    def top_scale_for(self, sensitivity: Sensitivity, cost: Cost, chosen: int) -> Fraction:
        """2·Δ∞, or Δ∞ where scores are monotone, for each chosen candidate, divided by ε.

        A neighbour's outcome is the same if the noise of each chosen candidate changes by Δ∞ less the
        change of its score, with all other noise as it was: at most 2·Δ∞, or Δ∞ where scores are
        monotone. Density falls by e^(change/scale) for each chosen candidate. See docs/tf.md.
        """
        return chosen * sensitivity.score_moves / cost.amount

    def cost_of_top(self, sensitivity: Sensitivity, scale: Fraction, chosen: int) -> Cost:
        """What `top_scale_for` multiplies with, divided by the scale."""
        return self.cost(chosen * sensitivity.score_moves / scale)


def _delta(value: Any) -> Fraction:
    delta = exact(value, "δ")
    if not 0 < delta < 1:
        raise InputError("δ must be more than 0 and less than 1, such as 1e-6.")
    return delta


@frozen
class ZCDP(Definition):
    """Zero-concentrated differential privacy, stated as (ε, δ): Gaussian noise by the L2 norm, draws by bounded range.

    Costs are ρ, which add up under adaptive composition (Bun and Steinke 2016, Lemma 2.3). A unit of m transactions is
    in the sensitivities, where it counts as m² in ρ. docs/delta.md has the proofs.

    Attributes:
        delta: the δ at which a total is stated as ε.
        items_delta: the part of δ with which an item may be named that only one unit has, where items are private.
    """

    name = "zero-concentrated differential privacy"
    symbol = "ρ"
    field = "rho"
    promise = "changes the probability of any outcome by a factor of at most e^ε, but for a probability of δ"

    delta: Fraction = attrs.field(converter=_delta)  # `field` is the name of costs in files
    items_delta: Fraction = Fraction(0)

    def __attrs_post_init__(self) -> None:
        if not 0 <= self.items_delta < self.delta:
            raise InputError("The part of δ for private items must be at least 0 and less than δ.")

    @property
    def _noise_delta(self) -> Fraction:
        """What the rest of δ is for: the tails of the noise."""
        return self.delta - self.items_delta

    def budget(self, epsilon: Fraction) -> Cost:
        """The largest ρ that is worth ε at this δ, rounded down."""
        return self.cost(rho_of(epsilon, self._noise_delta))

    def guarantee(self, total: Cost, *, replaced: bool = False) -> Guarantee:
        """The ε of the total at this δ, rounded up; ρ counts four times where one unit replaces another.

        One goes and one comes: that is a group of two, and Rényi divergences of groups grow with the square (Bun and
        Steinke 2016, Proposition 1.9). Naming an item that only one unit has is counted in δ once: the two databases
        are both compared with what they have in common. docs/private-items.md has the proof.
        """
        return Guarantee(
            epsilon_of((self.of_replaced(total) if replaced else total).amount, self._noise_delta), self.delta
        )

    def of_replaced(self, total: Cost) -> Cost:
        """The ρ of a total where one unit replaces another."""
        return 4 * total

    def price(self, total: Cost) -> dict[str, Any]:
        """ρ, which adds up with that of other releases, and the part of δ for private items, which adds up too."""
        return {"rho": total.amount, "items_delta": self.items_delta}

    def noise_for(self, sensitivity: Sensitivity, cost: Cost) -> Noise:
        """Gaussian noise with σ² = Δ₂²/(2ρ), σ rounded up.

        Discrete Gaussian noise on whole numbers costs what continuous noise does (Canonne, Kamath and Steinke 2020,
        Theorem 14). For moment matrices too: noise of their cone, priced as below, is never smaller.
        """
        return DiscreteGaussian(root(sensitivity.l2_squared / (2 * cost.amount), up=True))

    def cost_of_noise(self, sensitivity: Sensitivity, noise: Noise) -> Cost:
        """Δ₂²/(2σ²) of Gaussian noise; of other noise half the square of its ε, where it has one.

        What is ε-differentially private is ε²/2-zCDP (Bun and Steinke 2016, Proposition 1.4).
        """
        if noise.distribution in ("gaussian", "discrete gaussian"):
            return self.cost(sensitivity.l2_squared / (2 * noise.scale**2))
        return self._of_pure(_PURE.cost_of_noise(sensitivity, noise))

    def rate_for(self, sensitivity: Sensitivity, cost: Cost, draws: int) -> Fraction:
        """√(8·ρ/draws), rounded down, divided by 2·Δ∞, or Δ∞ where scores are monotone.

        In one draw with weights e^(r·score), ln of the ratio of two databases' probabilities is r times the move of
        the candidate's own score, plus the same number for all candidates. So it lies in a range of length
        ε₀ = r·Δ∞ where all scores move one way, and 2·r·Δ∞ else: bounded range, which is ε₀²/8-zCDP (Cesar and Rogers
        2021, Lemma 3.4). Draws without replacement are composed, each with what the ones before it left.
        """
        return root(8 * cost.amount / draws, up=False) / sensitivity.score_moves

    def cost_of_draws(self, sensitivity: Sensitivity, rate: Fraction, draws: int) -> Cost:
        """ε₀²/8 for each draw, ε₀ being what `rate_for` divides by, times the rate."""
        return self.cost(draws * (rate * sensitivity.score_moves) ** 2 / 8)

    def top_scale_for(self, sensitivity: Sensitivity, cost: Cost, chosen: int) -> Fraction:
        """The scale with which it is ε-differentially private for ε = √(2ρ), rounded down: that is ε²/2-zCDP."""
        return _PURE.top_scale_for(sensitivity, _PURE.cost(root(2 * cost.amount, up=False)), chosen)

    def cost_of_top(self, sensitivity: Sensitivity, scale: Fraction, chosen: int) -> Cost:
        """Half the square of the ε that it is differentially private for."""
        return self._of_pure(_PURE.cost_of_top(sensitivity, scale, chosen))

    def least_weight(self, weights: Sequence[int], noise: Noise, baskets: int) -> int:
        """See `privacy/rare_items.py`."""
        if not self.items_delta or noise.distribution not in ("gaussian", "discrete gaussian"):
            return super().least_weight(weights, noise, baskets)
        return least_weight(tuple(weights), noise.scale, baskets, self.items_delta)

    def _of_pure(self, pure: Cost) -> Cost:
        return self.cost(pure.amount**2 / 2)


_PURE = PureDP()

#: The definitions that a receipt may name.
DEFINITIONS: dict[str, type[Definition]] = {definition.name: definition for definition in (PureDP, ZCDP)}


def definition_from_dict(values: dict[str, Any]) -> Definition:
    """Take out what `Definition.to_dict` wrote, and read it."""
    kind = DEFINITIONS.get(values.pop("definition"))
    if kind is None:
        raise InputError("A receipt names a definition of privacy that this version of privmine does not know.")
    # A parameter with a default may be missing: a receipt states it where it differs.
    stated = [own.name for own in fields(kind) if own.name in values or own.default is attrs.NOTHING]
    return kind(**{name: exact(values.pop(name), name) for name in stated})
