"""The law of a difference of two noisy frequencies: right where it is known in closed form, and for what is listed."""

from __future__ import annotations

from math import exp, inf, sqrt
from statistics import NormalDist

import numpy as np
import pytest
from attrs import evolve

import privmine as pm
from privmine.privacy.unit import Unit
from privmine.release.change_laws import NoisyShare, chance_of_difference, convolved, difference_law, share_of
from privmine.release.tails import NoiseTail

#: Laplace noise of scale 1.
LAPLACE = NoiseTail(np.array([0.0, 1.0]), np.log([0.5, 0.5]) - np.array([0.0, 1.0]))


def share(value: float, scale: float, cutoff: float = -inf, chance: float = 0.0, odds: float = 1.0) -> NoisyShare:
    """A frequency with Laplace noise."""
    return NoisyShare(value, LAPLACE, scale, chance, cutoff, 30, odds)


def test_two_laplace_noises_have_their_known_tail() -> None:
    """Pr[Z₁ − Z₂ ≥ x] = (1/2 + x/4)·e^−x for Laplace noise of scale 1, also far out."""
    law = convolved([(LAPLACE, 1.0), (LAPLACE, 1.0)], 0.0)
    for place in (0.0, 0.5, 2.0, 5.0, 12.0):
        assert float(law.above(place)) == pytest.approx((0.5 + place / 4) * exp(-place), rel=0.01)


def test_chance_alone_is_normal() -> None:
    """Without noise the law is the normal one of the two samples; noise of 0 adds nothing."""
    law = difference_law(share(0.3, 0.0, chance=3.0), share(0.3, 0.0, chance=4.0))
    for place in (1.0, 5.0, 15.0):
        assert float(law.above(place)) == pytest.approx(1 - NormalDist(0, 5).cdf(place), rel=0.01)


def test_the_noise_of_the_total_is_shared() -> None:
    """In one basis the total has part of the noise of a count, so that a frequency is known better than by itself."""
    release = pm.mine(pm.groceries(), 15, 1, simulate=True, seed=1)
    assert release.joint == "bases"
    found = release[0]
    alone = sqrt(found.standard_error**2 + (found.centre / release.total * release.total_error) ** 2) / release.total
    assert share_of(release, found).scale * found.standard_error < alone


def test_the_transactions_of_a_unit_may_be_alike() -> None:
    """Nine of each customer tell as much of the population as one, so that chance is three times as large."""
    release = pm.mine(pm.groceries(), 15, 1, simulate=True, seed=1)
    customers = evolve(release, receipt=evolve(release.receipt, unit=Unit("customer", 9)))
    alone, together = (share_of(one, one[0]).chance for one in (release, customers))
    value = release[0].support
    assert alone == pytest.approx(sqrt(value * (1 - value) / release.total))
    assert together == pytest.approx(3 * alone)


def test_an_unknown_choice_multiplies_the_chance() -> None:
    """Also where the other frequency is known to exceed its cutoff."""
    least, most = 0.01, 0.9
    known = share(0.3, 0.1, cutoff=0.25)
    chances = []
    for odds in (1.0, 3.0):
        other = share(0.9, 0.1, odds=odds)
        chances.append(chance_of_difference(known, other, difference_law(known, other), least, most))
    gamma = 0.1 * least
    assert chances[1] - gamma == pytest.approx(3 * (chances[0] - gamma))
    assert chances[0] > 2 * gamma


@pytest.mark.parametrize(
    ("cutoffs", "theta"),
    [
        ((0.5, 0.5), 0.2),
        pytest.param((1.0, 0.1), 0.3, marks=pytest.mark.statistics),
        pytest.param((0.4, -inf), 0.5, marks=pytest.mark.statistics),
    ],
)
def test_listed_pairs_are_no_change_more_often_than_they_may(cutoffs: tuple[float, float], theta: float) -> None:
    """Of pairs that noise listed, and that are equally frequent, at most 5 % have a probability below 5 %."""
    generator = np.random.default_rng(5)
    scale, pairs, small, naive = 0.1, 80, 0, 0
    drawn = []
    while len(drawn) < pairs:
        values = theta + scale * generator.laplace(size=2)
        if values[0] > cutoffs[0] and values[1] > cutoffs[1]:
            drawn.append(values)
    for first, second in drawn:
        one, other = share(first, scale, cutoffs[0]), share(second, scale, cutoffs[1])
        law = difference_law(one, other)
        small += chance_of_difference(one, other, law, 0.05, 1.0) <= 0.05
        naive += 2 * float(law.above(abs(first - second))) <= 0.05
    assert small <= 0.05 * pairs + 3 * sqrt(0.05 * 0.95 * pairs)
    if cutoffs == (1.0, 0.1):
        assert naive > 0.5 * pairs, "this is the case that needs the correction"


def test_a_large_change_is_one_in_spite_of_cutoffs() -> None:
    """What is far above both cutoffs and differs by far more than the noise is a change; estimates cost evidence."""
    one, other = share(0.9, 0.01, 0.2), share(0.6, 0.01, 0.25)
    law = difference_law(one, other)
    chance = chance_of_difference(one, other, law, 0.01, 0.05)
    assert chance < 0.01
    unknown, other = share(0.65, 0.01, odds=40.0), share(0.6, 0.01)
    law = difference_law(unknown, other)
    assert chance_of_difference(unknown, other, law, 0.01, 1.0) == pytest.approx(80 * float(law.above(0.05)))
