"""The noise of the cone: its bounds against a referee in ball arithmetic, its law, and mistakes that must be noticed.

Random bits come from seeded generators, so every test gives the same result on every run. Where a test compares with a
law, it asks for less than 5.3 standard deviations: with other seeds it would fail by bad luck once in 10^7.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise, product
from math import exp, sqrt
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from scipy import stats

from privmine.errors import InputError
from privmine.noise import elliptope, secure, simulated, spheres
from privmine.noise.elliptope import (
    ConeElement,
    elliptope_noise,
    moment_count,
    rounded_difference,
    simulated_elliptope_noise,
)
from privmine.noise.secure import SecureNoise
from privmine.noise.simulated import SimulatedNoise
from privmine.noise.spheres import Phase, Precision, SpherePoint, Vector
from privmine.noise.uniform import Uniform
from privmine.privacy.noise import DiscreteElliptope

REFEREE_BITS = 1024
#: Two-sided, a normal variable is so far out once in 10^7.
FAR = 5.33


def seeded(seed):
    """Random bits that are the same on every run."""
    return Random(seed).getrandbits  # noqa: S311 - tests, not secrets


# The referee: the definition, term by term, in balls that contain the exact value.


def ball(uniform):
    """A uniform number with all its bits."""
    return arb((2 * uniform.numerator + 1, -uniform.bits - 1), (1, -uniform.bits - 1))


def unit_vector(point):
    """Square roots of gaps times phases; in an odd dimension without the last coordinate, and stretched."""
    marks = [arb(0), *map(ball, sorted(point.cuts, key=lambda cut: cut.numerator)), arb(1)]
    coordinates = []
    for (left, right), phase in zip(pairwise(marks), point.phases, strict=True):
        x, y = ball(phase.x), ball(phase.y)
        factor = (right - left).sqrt() / (x * x + y * y) * (-1 if phase.negative else 1)
        coordinates += [factor * (x * x - y * y), factor * 2 * x * y]
    if point.dimension % 2:
        coordinates.pop()
        norm = sum((x * x for x in coordinates), arb(0)).sqrt()
        coordinates = [x / norm for x in coordinates]
    return coordinates


def referee(element, source):
    """The values of a₀·R from 1,024 bits of each number."""
    ctx.prec = REFEREE_BITS + 64
    element.extend(REFEREE_BITS, source)
    diagonal = -sum((ball(factor).log() for factor in element.factors), arb(0))
    vectors = [unit_vector(point) for point in element.vectors]
    pairs = combinations(vectors, 2)
    return [diagonal, *(diagonal * sum((x * y for x, y in zip(*pair, strict=True)), arb(0)) for pair in pairs)]


def rounded(value):
    """The nearest whole number to a ball."""
    return int((value + arb(1) / 2).floor().unique_fmpz())


@pytest.mark.parametrize("bits", [8, 16, 64, 128])
@pytest.mark.parametrize("variables", [1, 2, 3, 4, 7, 8, 13])
def test_bounds_contain_the_exact_values(variables, bits):
    """At any precision the referee's values lie within the bounds, and the bounds shrink with the precision."""
    bits_source = seeded(variables * 1000 + bits)
    for _ in range(6):
        element = ConeElement.draw(variables, bits_source, bits)
        found = element.within(Precision(bits))
        exact = referee(element, bits_source)
        if found is None:
            assert bits <= 16
            continue
        unit = arb(2) ** -Precision(bits).point
        for value, bounds in zip(exact, found, strict=True):
            assert abs(value - bounds.middle * unit) < (bounds.error + 1) * unit
        if bits >= 64:
            # In units: 16 bits of guard, and a few more that small radii and long sums cost.
            assert max(bounds.error for bounds in found) < 2**36


@pytest.mark.parametrize("cuts", [(), (3,), (0,), (7,), (2, 5), (5, 2), (4, 4), (0, 7), (1, 3, 6)], ids=str)
def test_moduli_contain_all_that_more_bits_could_tell(cuts):
    """Three bits of each cut are known; whatever follows, the roots of the gaps lie within the bounds, and close."""
    numbers = [Uniform(cut, 3) for cut in cuts]
    point = SpherePoint(2 * len(cuts) + 2, numbers, [])
    bounds = point._moduli(Precision(3))
    unit = Fraction(1, 4 ** Precision(3).point)
    seen = [[] for _ in bounds]
    for ends in product((0, Fraction(1, 8)), repeat=len(cuts)):
        exact = [Fraction(0), *sorted(Fraction(cut, 8) + end for cut, end in zip(cuts, ends, strict=True)), Fraction(1)]
        for gaps, (left, right) in zip(seen, pairwise(exact), strict=True):
            gaps.append(right - left)
    for gaps, (low, high) in zip(seen, bounds, strict=True):
        assert low**2 * unit <= min(gaps) < (low + 1) ** 2 * unit
        assert (high - 1) ** 2 * unit <= max(gaps) <= high**2 * unit


def test_direction_of_a_vector_that_may_be_zero_is_not_known():
    """An error a little above the length: the exact vector may point the other way, at a distance of 2."""
    stretched = spheres._without_last(Vector([1000, 0, 7], 1001), Precision(8))
    assert stretched.coordinates == [1 << Precision(8).point, 0]
    assert stretched.error >= 2 << Precision(8).point


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(10), Fraction(10**9, 7)], ids=str)
@pytest.mark.parametrize("variables", [1, 2, 3, 6, 9])
def test_rounding_is_that_of_the_referee(variables, scale):
    """What is decided from a few bits is what 1,024 bits of the same numbers say."""
    for seed in range(8):
        bits_source = seeded(seed)
        plus, minus = (ConeElement.draw(variables, bits_source, 64) for _ in range(2))
        decided = rounded_difference(plus, minus, scale, Precision(64))
        exact = zip(referee(plus, bits_source), referee(minus, bits_source), strict=True)
        factor = arb(fmpq(scale.numerator, scale.denominator))
        assert decided == [rounded(factor * (a - b)) for a, b in exact]


def test_bound_that_reaches_over_a_border_is_not_decided():
    """Half a unit from a border nothing is decided; clear of it all is."""
    half = 1 << Precision(64).point - 1
    for middle, error, expected in [(half - 2, 1, [0]), (half - 1, 2, None), (half + 2, 1, [1]), (-half + 2, 1, [0])]:
        found = elliptope._rounded([elliptope.Bounded(middle, error)], Fraction(1), Precision(64))
        assert found == expected


def test_undecided_rounding_keeps_its_bits(monkeypatch):
    """Numbers are extended, never drawn anew: in each of 20 draws all first bits stay, however often it is tried."""
    seen = []
    original = elliptope.rounded_difference

    def watched(plus, minus, scale, precision):
        seen.append([u.leading(8) for e in (plus, minus) for u in numbers(e)])
        return original(plus, minus, scale, precision)

    monkeypatch.setattr(elliptope, "rounded_difference", watched)
    for seed in range(20):
        elliptope_noise(3, Fraction(1000), random_bits=seeded(seed), first_bits=8)
    assert len(seen) > 40
    assert len({tuple(numerators) for numerators in seen}) == 20


def numbers(element):
    """All uniform numbers behind an element."""
    return [*element.factors, *(u for vector in element.vectors for u in vector.uniforms)]


def test_point_on_the_border_of_the_disc_gets_more_bits():
    """A point of which 8 bits do not tell whether it lies in the disc keeps them."""
    tape = iter([255, 0, 0, 0, 1])
    phase = Phase.draw(lambda bits: next(tape), 8)
    assert (phase.x.leading(8), phase.x.bits, phase.negative) == (255, 16, True)
    tape = iter([0, 255, 0, 0, 1])
    phase = Phase.draw(lambda bits: next(tape), 8)
    assert (phase.y.leading(8), phase.y.bits, phase.negative) == (255, 16, True)
    tape = iter([255, 200, 3, 4, 0])
    assert Phase.draw(lambda bits: next(tape), 8).x.numerator == 3


@pytest.mark.parametrize(("variables", "moments"), [(1, 1), (2, 2), (3, 4), (8, 29), (31, 466)])
def test_number_of_random_factors_is_the_number_of_moments(variables, moments):
    """a₀ has the shape M = 1 + p(p − 1)/2, and every vector p + 1 coordinates."""
    element = ConeElement.draw(variables, seeded(1))
    assert len(element.factors) == moments == moment_count(variables)
    for vector in element.vectors:
        assert len(vector.within(Precision(64)).coordinates) == variables + 1


@pytest.mark.parametrize(("variables", "scale"), [(0, Fraction(1)), (2, Fraction(0)), (2, Fraction(-1))])
def test_noise_that_does_not_exist_is_refused(variables, scale):
    """There is no noise without a variable, and none without a scale."""
    with pytest.raises(InputError, match="needs a variable and a scale above 0"):
        elliptope_noise(variables, scale)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(7)], ids=str)
def test_one_variable_has_noise(scale):
    """Its cone is a half line; scales below 1 exist as well."""
    assert len(elliptope_noise(1, scale, random_bits=seeded(2))) == 1


# Single steps, where the proofs have their borders.


@pytest.mark.parametrize("bits", [64, 2048])
def test_bounds_of_the_diagonal_reach_from_end_to_end(bits):
    """Whatever bits follow, −ln of the product lies within the bounds, also where each quotient loses almost a unit."""
    ctx.prec = bits + 200
    precision = Precision(bits)
    numerators = [100 * (1 << precision.point) // (100 * (100_000 + place) + 99) for place in range(30)]
    assert all((1 << precision.point) % n * 100 // n >= 98 for n in numerators)
    bounds = elliptope._gamma([Uniform(n, bits) for n in numerators], precision)
    assert {type(bounds.middle), type(bounds.error)} == {int}
    for more in (0, 1):
        value = -sum((arb(n + more).log() - bits * arb(2).log() for n in numerators), arb(0)) * (1 << precision.point)
        assert abs(value - bounds.middle) <= bounds.error
    assert 2 * bounds.error < sum((1 << precision.point) // n for n in numerators) + 60


def test_bounds_of_an_inner_product_allow_for_both_errors():
    """The worst case: both vectors are too long by their errors, and lie on one line."""
    point = Precision(8).point
    one, other = 1 << point - 2, 3 << point - 3

    def stretched(error, sign):
        return SimpleNamespace(within=lambda _precision: Vector([sign * ((1 << point) + error), 0], error))

    element = ConeElement([Uniform(100, 8)], [stretched(one, 1), stretched(other, 1), stretched(other, -1)])
    diagonal, alike, opposite, _ = element.within(Precision(8))
    for bounds, sign in ((alike, 1), (opposite, -1)):
        for most in (diagonal.middle - diagonal.error, diagonal.middle + diagonal.error):
            assert abs(sign * most - bounds.middle) <= bounds.error


def test_bounds_of_a_coordinate_reach_from_end_to_end():
    """A modulus from 0 to 2^70 units, and a phase known far better: half of that either way, and little more."""
    precision = Precision(64)
    phase = Phase(Uniform(2**63, 64), Uniform(0, 64), negative=False)
    found = phase.times((0, 2**70), precision)
    assert (found.real, found.imaginary) == (2**69, 0)
    assert 2**69 <= found.error < 2**69 + 2**20


def test_what_is_not_known_at_all_is_not_bounded():
    """Next to 0 no direction is known, so that more bits are drawn."""
    precision = Precision(8)
    nowhere = Phase(Uniform(0, 8), Uniform(0, 8), negative=False)
    assert nowhere.times((0, 1 << precision.point), precision) is None
    unknown, known = SpherePoint(3, [Uniform(3, 8)], [nowhere, nowhere]), SpherePoint.draw(3, seeded(1), 8)
    assert unknown.within(precision) is None
    assert spheres._without_last(Vector([0, 0, 7], 1), precision) is None
    good = ConeElement([Uniform(100, 8)] * 2, [known, known])
    assert good.within(precision) is not None
    for vectors in ([known, unknown], [unknown, known]):
        bad = ConeElement(good.factors, vectors)
        assert bad.within(precision) is None
        assert rounded_difference(good, bad, Fraction(1), precision) is None
        assert rounded_difference(bad, good, Fraction(1), precision) is None


def test_errors_of_a_difference_add_up():
    """Either of two errors reaches over a border, neither takes from the other."""
    half = 1 << Precision(64).point - 1

    def known(middle, error):
        return SimpleNamespace(within=lambda _precision: [elliptope.Bounded(middle, error)])

    for first, second, expected in [((half - 4, 1), (0, 2), [0]), ((half - 3, 1), (0, 2), None)]:
        assert rounded_difference(known(*first), known(*second), Fraction(1), Precision(64)) == expected


def test_the_sign_of_a_phase_is_one_bit():
    """Half of all phases are negative: with two bits three quarters would be, with none not one."""
    for sign in (0, 1):
        asked, tape = [], iter([3, 4, sign])
        phase = Phase.draw(lambda bits, asked=asked, tape=tape: asked.append(bits) or next(tape), 8)
        assert (asked, phase.negative) == ([8, 8, 1], bool(sign))


def test_no_more_bits_are_drawn_than_are_asked_for():
    """Where enough are known nothing is drawn."""
    element = ConeElement.draw(2, seeded(4), 8)
    element.extend(64, seeded(5))
    assert {uniform.bits for uniform in element.factors} == {64}


# The law. Each check takes draws as rows: the diagonal, then the pairs, in units of the scale.


def exact_draws(variables, count, seed=0, scale=Fraction(10**6), first_bits=64):
    """Exact noise, divided by its scale again: so large a scale leaves nothing of the rounding."""
    bits = seeded(seed)
    noise = [elliptope_noise(variables, scale, random_bits=bits, first_bits=first_bits) for _ in range(count)]
    return np.array(noise, dtype=np.float64) / float(scale)


def simulated_draws(variables, count, seed=0):
    """Noise of the simulation."""
    generator = np.random.default_rng(seed)
    return np.array([simulated_elliptope_noise(variables, 1.0, generator) for _ in range(count)])


def assert_variances(draws, variables):
    """Var of the diagonal is 2M, that of a pair 2M(M + 1)/(p + 1), and the values are uncorrelated."""
    moments = moment_count(variables)
    expected = np.array([2 * moments] + [2 * moments * (moments + 1) / (variables + 1)] * (moments - 1))
    for column in (draws[:, :1] ** 2 / expected[0], draws[:, 1:] ** 2 / expected[-1]):
        if column.size:
            means = column.mean(axis=1)
            assert abs(means.mean() - 1) < FAR * means.std() / sqrt(len(means))
    products = draws[:, 0] * draws[:, -1] if moments > 1 else np.zeros(2)
    assert abs(products.mean()) <= FAR * products.std() / sqrt(len(products))


def smallest_eigenvalues(draws, variables, shift=0.0):
    """The smallest eigenvalue of each matrix, less `shift` times the moments of a transaction with all items."""
    matrices = np.zeros((len(draws), variables, variables))
    rows, columns = np.triu_indices(variables, 1)
    matrices[:, rows, columns] = matrices[:, columns, rows] = draws[:, 1:]
    matrices[:, range(variables), range(variables)] = draws[:, :1]
    return np.linalg.eigvalsh(matrices - shift)[:, 0]


def assert_identities(draws, variables):
    """P(W ⪰ 0) = 2^−M; given W ⪰ 0 the diagonal is Gamma(M) and P(W ⪰ s) = e^−1; R is uniform."""
    moments = moment_count(variables)
    inside = smallest_eigenvalues(draws, variables) >= 0
    assert stats.binomtest(int(inside.sum()), len(draws), 2.0**-moments).pvalue > 1e-7
    kept = draws[inside]
    assert stats.kstest(kept[:, 0], stats.gamma(moments).cdf).pvalue > 1e-7
    beyond = int((smallest_eigenvalues(kept, variables, shift=1.0) >= 0).sum())
    assert stats.binomtest(beyond, len(kept), exp(-1)).pvalue > 1e-7
    if variables > 1:
        # An inner product of uniform unit vectors of d dimensions: (1 + r)/2 is Beta((d − 1)/2, (d − 1)/2).
        law = stats.beta(variables / 2, variables / 2)
        ratio = kept[:, 1] / kept[:, 0]
        assert stats.kstest((1 + ratio) / 2, law.cdf).pvalue > 1e-7


@pytest.mark.parametrize(("variables", "count"), [(1, 2000), (2, 2000), (3, 1500), (4, 1000), (7, 300), (8, 300)])
def test_variances_are_those_of_the_law(variables, count):
    """The exact noise has the variances that intervals are computed from."""
    assert_variances(exact_draws(variables, count), variables)


@pytest.mark.parametrize("variables", [2, 3, 8])
def test_simulation_has_the_same_law(variables):
    """The float noise has the same variances, and meets the identities where they can be seen."""
    draws = simulated_draws(variables, 10_000)
    assert_variances(draws, variables)
    if variables <= 3:
        assert_identities(draws, variables)


def test_law_does_not_depend_on_the_first_bits():
    """Beginning with eight bits, where nearly everything is undecided at first, the law is the same."""
    assert_variances(exact_draws(2, 1500, scale=Fraction(8), first_bits=8), 2)


@pytest.mark.statistics
@pytest.mark.parametrize(("variables", "count"), [(1, 20_000), (2, 40_000), (3, 40_000), (4, 60_000)])
def test_exact_noise_meets_the_identities(variables, count):
    """The exact noise is A − B with A of density e^(−a₀) on the cone."""
    assert_identities(exact_draws(variables, count), variables)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(10**6 + 1, 7)], ids=str)
def test_sources_draw_with_the_scale_that_they_are_asked_for(scale, monkeypatch):
    """The scale reaches the sampler as it is, and what the sampler draws is added to the values."""
    asked = []

    def drawn(variables, wanted, *rest):
        asked.append((variables, wanted))
        return [5] * moment_count(variables)

    values = np.arange(moment_count(3))
    monkeypatch.setattr(secure, "elliptope_noise", drawn)
    assert (SecureNoise().add(values, DiscreteElliptope(scale, 3)) == values + 5).all()
    monkeypatch.setattr(simulated, "simulated_elliptope_noise", drawn)
    assert (SimulatedNoise(0).add(values, DiscreteElliptope(scale, 3)) == values + 5).all()
    assert asked == [(3, scale), (3, float(scale))]


# Mistakes, each of which a check above must notice.


def one_factor_fewer(monkeypatch):
    """Gamma(M − 1) in place of Gamma(M)."""
    original = ConeElement.draw.__func__

    def draw(cls, *arguments):
        element = original(cls, *arguments)
        return ConeElement(element.factors[1:], element.vectors)

    monkeypatch.setattr(ConeElement, "draw", classmethod(draw))


def last_coordinate_kept(monkeypatch):
    """An odd dimension is not made of the even one above it."""
    monkeypatch.setattr(spheres, "_without_last", lambda vector, precision: vector)


def last_coordinate_dropped_without_stretching(monkeypatch):
    """What is left after the drop has not length 1."""
    monkeypatch.setattr(
        spheres, "_without_last", lambda vector, precision: Vector(vector.coordinates[:-1], vector.error)
    )


def coordinate_dropped_in_even_dimensions(monkeypatch):
    """A coordinate is dropped where none has to be."""
    original = SpherePoint.within

    def within(self, precision):
        vector = original(self, precision)
        return spheres._without_last(vector, precision) if self.dimension % 2 == 0 else vector

    monkeypatch.setattr(SpherePoint, "within", within)


def one_dimension_more(monkeypatch):
    """Vectors of p + 2 coordinates: R has the density det(R)^½ (η = 3/2)."""
    monkeypatch.setattr(elliptope, "vector_dimension", lambda variables: variables + 2)


def one_dimension_fewer(monkeypatch):
    """Vectors of p coordinates: R has the density det(R)^−½ (η = ½)."""
    monkeypatch.setattr(elliptope, "vector_dimension", lambda variables: variables)


def scaled(factor):
    """A scale that is off."""

    def change(monkeypatch):
        original = elliptope._rounded
        monkeypatch.setattr(elliptope, "_rounded", lambda values, scale, p: original(values, factor * scale, p))

    return change


def redrawn(monkeypatch):
    """What is undecided is drawn anew."""

    def extend(self, bits, random_bits):
        for uniform in numbers(self):
            uniform.numerator, uniform.bits = random_bits(bits), bits
        for vector in self.vectors:
            vector.phases[:] = [Phase.draw(random_bits, bits) for _ in vector.phases]

    monkeypatch.setattr(ConeElement, "extend", extend)


QUICKLY_NOTICED = [
    (one_factor_fewer, 3),
    (last_coordinate_kept, 2),
    (last_coordinate_kept, 4),
    (last_coordinate_dropped_without_stretching, 2),
    (last_coordinate_dropped_without_stretching, 4),
    (coordinate_dropped_in_even_dimensions, 3),
    (one_dimension_more, 2),
    (one_dimension_more, 3),
    (one_dimension_fewer, 2),
    (one_dimension_fewer, 3),
]


@pytest.mark.parametrize(("mistake", "variables"), QUICKLY_NOTICED)
def test_variances_notice_a_mistake(monkeypatch, mistake, variables):
    """Wrong shapes and dimensions change the variances of some matrix of two to four variables."""
    mistake(monkeypatch)
    with pytest.raises(AssertionError):
        assert_variances(exact_draws(variables, 1500), variables)


@pytest.mark.parametrize("factor", [Fraction(95, 100), Fraction(105, 100)], ids=str)
def test_referee_notices_a_scale(monkeypatch, factor):
    """A scale that is off by 5 % gives other whole numbers."""
    scaled(factor)(monkeypatch)
    with pytest.raises(AssertionError):
        test_rounding_is_that_of_the_referee(3, Fraction(10))


def test_redrawing_is_noticed(monkeypatch):
    """A draw in place of an extension does not keep its bits."""
    redrawn(monkeypatch)
    with pytest.raises(AssertionError):
        test_undecided_rounding_keeps_its_bits(monkeypatch)


@pytest.mark.statistics
@pytest.mark.parametrize(("mistake", "variables"), [case for case in QUICKLY_NOTICED if case[1] < 4])
def test_identities_notice_a_mistake(monkeypatch, mistake, variables):
    """The identities see the same mistakes without knowing any variance."""
    mistake(monkeypatch)
    with pytest.raises(AssertionError):
        assert_identities(exact_draws(variables, 20_000), variables)


@pytest.mark.statistics
@pytest.mark.parametrize("factor", [Fraction(95, 100), Fraction(105, 100)], ids=str)
def test_identities_notice_a_scale(monkeypatch, factor):
    """P(W ⪰ s | W ⪰ 0) and the law of the diagonal see a scale that is off by 5 %."""
    scaled(factor)(monkeypatch)
    with pytest.raises(AssertionError):
        assert_identities(exact_draws(2, 80_000), 2)


@pytest.mark.statistics
def test_law_notices_redrawing(monkeypatch):
    """Drawing anew favours what is decided easily, which is small noise."""
    redrawn(monkeypatch)
    with pytest.raises(AssertionError):
        assert_variances(exact_draws(2, 20_000, scale=Fraction(8), first_bits=8), 2)
