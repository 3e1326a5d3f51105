"""The threshold of private items, against exact probabilities of discrete Gaussian noise."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import exp, isqrt, log, prod

import pytest
from scipy import stats

from privmine.errors import InputError
from privmine.privacy import Sensitivity
from privmine.privacy.definition import ZCDP, PureDP
from privmine.privacy.noise import DiscreteGaussian, DiscreteLaplace
from privmine.privacy.rare_items import least_weight

#: Small numbers, so that all that a unit may hold can be listed.
FULL, LONGEST = 8, 5
WEIGHTS = (0, *(isqrt(FULL**2 // size) for size in range(1, LONGEST + 1)))


class Gauss:
    """Exact tails of discrete Gaussian noise, by adding up its probabilities."""

    def __init__(self, scale: Fraction) -> None:
        self._reach = int(40 * scale) + 40
        weights = [exp(-(x * x) / (2 * float(scale) ** 2)) for x in range(-self._reach, self._reach + 1)]
        total, above, self._tail = sum(weights), 0.0, {}
        for x in range(self._reach, -self._reach - 1, -1):
            above += weights[x + self._reach]
            self._tail[x] = above / total

    def reaches(self, x: int) -> float:
        """Pr[X ≥ x]."""
        return self._tail.get(x, 0.0 if x > 0 else 1.0)


def held_weights(sizes: tuple[int, ...], overlap: int) -> list[int]:
    """The weights of a unit's own items, where its transactions have so many of them in common."""
    common = sum(WEIGHTS[size] for size in sizes if size >= overlap)
    alone = [WEIGHTS[size] for size in sizes for _ in range(size - overlap if size >= overlap else size)]
    return [common] * (overlap if any(size >= overlap for size in sizes) else 0) + alone


@pytest.mark.parametrize("scale", [Fraction(3), Fraction(25, 2), Fraction(60)])
@pytest.mark.parametrize("baskets", [1, 2, 3])
@pytest.mark.parametrize("delta", ["0.2", "1e-3", "1e-9"])
def test_no_unit_has_an_item_of_its_own_named_more_often(scale: Fraction, baskets: int, delta: str) -> None:
    """For everything that a unit may hold: transactions of any size, with any number of items in common."""
    threshold, gauss = least_weight(WEIGHTS, scale, baskets, Fraction(delta)), Gauss(scale)
    worst = 0.0
    for count in range(1, baskets + 1):
        for sizes in combinations_with_replacement(range(1, LONGEST + 1), count):
            for overlap in range(max(sizes) + 1):
                weights = held_weights(sizes, overlap)
                worst = max(worst, 1 - prod(1 - gauss.reaches(threshold - weight) for weight in weights))
    assert worst <= float(Fraction(delta))
    if baskets == 1 and threshold > FULL + 1:
        # Not far too careful either: two less would be too little. The bound is one step looser than the noise.
        assert max(
            sum(gauss.reaches(threshold - 2 - WEIGHTS[size]) for _ in range(size)) for size in range(1, LONGEST + 1)
        ) > float(Fraction(delta)) * (1 - float(Fraction(delta)))


def test_it_grows_as_noise_units_and_promises_do() -> None:
    """More noise, more transactions a unit, a smaller δ: a higher threshold."""
    usual = least_weight(WEIGHTS, Fraction(20), 2, Fraction("1e-6"))
    assert least_weight(WEIGHTS, Fraction(30), 2, Fraction("1e-6")) > usual
    assert least_weight(WEIGHTS, Fraction(20), 3, Fraction("1e-6")) > usual
    assert least_weight(WEIGHTS, Fraction(20), 2, Fraction("1e-7")) > usual


@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_which_items_are_named_is_private_for_neighbours_with_new_items(epsilon: str) -> None:
    """Exactly: no set of sets of named items is more than e^ε times as likely, plus δ, in either direction.

    Five items: three that others have, and two that only the added transaction has.
    """
    definition = ZCDP(Fraction("0.02"), Fraction("0.01"))
    cost = definition.budget(Fraction(epsilon))
    noise = definition.noise_for(Sensitivity(FULL * 3, FULL**2, FULL), cost)
    threshold, gauss = definition.least_weight(WEIGHTS, noise, 1), Gauss(noise.scale)
    promised = definition.guarantee(cost)
    bound = exp(float(promised.epsilon))
    assert float(promised.delta) == 0.02
    for size, shared in product(range(1, LONGEST + 1), range(4)):
        before = [int(threshold - noise.scale), threshold, 3]
        own = min(size - shared, 2)
        if own < 0:
            continue
        after = [weight + (WEIGHTS[size] if place < shared else 0) for place, weight in enumerate(before)]
        named = [gauss.reaches(threshold - weight) for weight in before] + [0.0] * own
        with_unit = [gauss.reaches(threshold - weight) for weight in after] + [
            gauss.reaches(threshold - WEIGHTS[size])
        ] * own
        for one, other in ((named, with_unit), (with_unit, named)):
            exceeds = sum(
                max(0.0, likelihood(one, chosen) - bound * likelihood(other, chosen))
                for chosen in product((False, True), repeat=len(one))
            )
            assert exceeds <= 0.02


def likelihood(probabilities: list[float], chosen: tuple[bool, ...]) -> float:
    """The probability that exactly these are named."""
    return prod(p if is_chosen else 1 - p for p, is_chosen in zip(probabilities, chosen, strict=True))


def test_a_part_of_delta_pays_for_it() -> None:
    """What is kept for items is not used for noise, and the promise states all of δ."""
    whole, shared = ZCDP(Fraction("1e-6")), ZCDP(Fraction("1e-6"), Fraction("5e-7"))
    assert shared.budget(Fraction(1)).amount == ZCDP(Fraction("5e-7")).budget(Fraction(1)).amount
    assert shared.budget(Fraction(1)).amount < whole.budget(Fraction(1)).amount
    assert shared.guarantee(shared.budget(Fraction(1))).delta == Fraction("1e-6")
    assert log(float(shared.guarantee(shared.budget(Fraction(1))).epsilon)) <= 0


def test_the_threshold_has_the_part_of_delta_that_is_kept_for_it() -> None:
    """With all of δ it would be lower, and what the noise uses of δ would be spent twice."""
    kept, weights, noise = Fraction("2e-7"), (0, 4096, 2896), DiscreteGaussian(20_000)
    threshold = ZCDP(Fraction("1e-6"), kept).least_weight(weights, noise, 2)
    assert threshold == least_weight(weights, noise.scale, 2, kept)
    assert threshold > least_weight(weights, noise.scale, 2, Fraction("1e-6"))


@pytest.mark.parametrize("parts", [("1e-6", "1e-6"), ("1e-6", "2e-6"), ("1e-6", "-1e-7"), ("1", "0.5"), ("0", "0")])
def test_parts_that_make_no_sense_are_refused(parts: tuple[str, str]) -> None:
    """A forged receipt cannot state them."""
    with pytest.raises(InputError, match="δ"):
        ZCDP(*map(Fraction, parts))


def test_without_a_proof_it_is_refused() -> None:
    """Pure ε, a δ of which nothing is kept for items, and noise of another kind."""
    noise = DiscreteGaussian(Fraction(10))
    for definition, drawn in (
        (PureDP(), noise),
        (ZCDP(Fraction("1e-6")), noise),
        (ZCDP(Fraction("1e-6"), Fraction("1e-7")), DiscreteLaplace(Fraction(10))),
    ):
        with pytest.raises(InputError, match="no proof that finding out which items occur"):
            definition.least_weight(WEIGHTS, drawn, 1)


def stated_bound(weights: dict[int, int], scale: int, baskets: int, threshold: int) -> float:
    """The docstring's bound for transactions of these sizes, by another library's normal distribution."""

    def named(weight: int) -> float:
        return float(stats.norm.sf(threshold - 1 - weight, scale=scale))

    return max(size * ((baskets - 1) * named(0) + named(baskets * weight)) for size, weight in weights.items())


@pytest.mark.parametrize("weights", [{1: 1}, {1: 8, 2: 5, 5: 3}, {7: 2, 900: 1}, {3: 4, 600: 4}], ids=str)
@pytest.mark.parametrize(("scale", "baskets"), [(3, 1), (60, 5), (900, 40)])
def test_it_is_the_smallest_whole_number_that_the_bound_allows(
    weights: dict[int, int], scale: int, baskets: int
) -> None:
    """Sizes of transactions that add nothing do not count, and neither does what has no items."""
    listed = [1000] + [weights.get(size, 0) for size in range(1, 2000)]
    for delta in (Fraction(2, 5), Fraction(1, 1000), Fraction(1, 10**9)):
        threshold = least_weight(tuple(listed), Fraction(scale), baskets, delta)
        assert type(threshold) is int
        assert stated_bound(weights, scale, baskets, threshold) <= delta
        assert stated_bound(weights, scale, baskets, threshold - 1) > delta


@pytest.mark.parametrize("baskets", [1, 2])
def test_it_is_above_all_that_a_unit_can_weigh(baskets: int) -> None:
    """Below, the bound is not convex, so that its proof does not hold, however large δ is."""
    assert least_weight((0, 8, 3), Fraction(3), baskets, Fraction(9, 10)) == 8 * baskets + 1


def test_errors_of_floating_point_cannot_lower_it() -> None:
    """A bound that is below δ by half a billionth is not trusted, one that is clearly below is."""
    bound = Fraction(stated_bound({1: 1}, 10, 1, 40))
    for share, expected in ((Fraction(1, 2 * 10**9), 41), (Fraction(1, 10**8), 40)):
        assert least_weight((0, 1), Fraction(10), 1, bound * (1 + share)) == expected
