"""The coverage check: wrong counts, standard errors and intervals are reported, right ones are not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from attrs import evolve, frozen

from privmine import Pipeline
from privmine.api import BasisSet, Curator, NoiseLaw, NoiseSum, NoisyCounts, hookimpl
from privmine.defaults.reconstruct import BasisFrequencies
from privmine.privacy import Laplace
from privmine.testing import (
    FlawedComponentError,
    check_component,
    find_flaws,
    random_case,
)
from privmine.testing.coverage import RUNS, coverage_case, coverage_flaws, coverage_problem


@frozen
class Narrowed:
    """A law whose intervals are wrong by a factor."""

    law: NoiseLaw
    factor: float

    def half_width(self, level: float) -> float:
        """Too narrow, or too wide."""
        return self.law.half_width(level) * self.factor


@frozen
class Distorted:
    """Right counts, distorted by factors; `law` says what is told of the noise.

    Privacy: as for the basis frequencies.
    """

    count: float = 1.0
    error: float = 1.0
    width: float = 1.0
    law: str = "none"

    @hookimpl
    def reconstruct_counts(self, basis: BasisSet, curator: Curator) -> NoisyCounts:
        """Measure, then distort."""
        right = BasisFrequencies().reconstruct_counts(basis, curator)
        errors, total_error = right.standard_errors * self.error, right.total_error * self.error
        counts = evolve(right, counts=right.counts * self.count, standard_errors=errors, total_error=total_error)
        if self.law == "none":
            return evolve(counts, laws=(), law_of=(), total_law=None)
        if self.law == "own":
            laws = [Narrowed(law, self.width) for law in right.laws]
            return evolve(counts, laws=laws, total_law=Narrowed(right.total_law, self.width))
        return counts


@frozen
class BiasedModel(Distorted):
    """Counts that are too large, with a right spread.

    Privacy: as for the basis frequencies.

    Bias: counts are larger than the exact ones by a constant factor.
    """


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (Distorted(error=0.1), "its intervals are too narrow: the 95% interval of"),
        (Distorted(error=0.5), "its intervals are too narrow"),
        (Distorted(error=10), "its intervals are too wide: the 50% interval of"),
        (Distorted(count=1.5), "its counts are biased: the count of"),
        (Distorted(count=1.5, law="right"), "its counts are biased: the count of"),
        (Distorted(width=0.1, law="own"), "its intervals are too narrow: the 90% interval of"),
        (Distorted(width=0.6, law="own"), "its intervals are too narrow"),
        (Distorted(width=10, law="own"), "its intervals are too wide"),
        (Distorted(error=0.1, law="own"), "the standard error says"),
        (BiasedModel(count=1.5, error=0.1), "its intervals are too narrow"),
    ],
)
def test_wrong_statistics_are_reported(wrong: object, words: str) -> None:
    """Standard errors, counts and intervals that are wrong by a factor."""
    (flaw,) = coverage_flaws(Pipeline(reconstruct_counts=wrong))
    assert flaw.contract == "coverage"
    assert words in flaw.sentence


@pytest.mark.parametrize("right", [Distorted(), Distorted(law="own"), BiasedModel(count=1.02, law="right")])
def test_right_statistics_pass(right: object) -> None:
    """Normal intervals, laws of another's making, and a bias that the docstring describes."""
    assert list(coverage_flaws(Pipeline(reconstruct_counts=right))) == []


@frozen
class Estimating(Distorted):
    """Estimates of half the count, beside counts that may be distorted.

    Privacy: as for the basis frequencies.

    Bias: estimates are halved.
    """

    @hookimpl
    def reconstruct_counts(self, basis: BasisSet, curator: Curator) -> NoisyCounts:
        """Halve what is right, and distort what stands beside it."""
        counts = Distorted.reconstruct_counts(self, basis, curator)
        return evolve(counts, estimates=counts.counts / self.count / 2)


def test_estimates_may_be_biased_but_the_counts_beside_them_may_not() -> None:
    """A `Bias:` paragraph excuses estimates only, where there are any."""
    assert not list(coverage_flaws(Pipeline(reconstruct_counts=Estimating())))
    (flaw,) = coverage_flaws(Pipeline(reconstruct_counts=Estimating(count=1.5)))
    assert "its counts are biased" in flaw.sentence
    assert "`estimates`" in flaw.sentence


@frozen
class WrongOverlaps(Distorted):
    """Right for one basis, wrong where counts of several bases are combined.

    Privacy: as for the basis frequencies.
    """

    @hookimpl
    def reconstruct_counts(self, basis: BasisSet, curator: Curator) -> NoisyCounts:
        """Distort if there is more than one basis."""
        chosen = self if basis.width > 1 else Distorted()
        return Distorted.reconstruct_counts(chosen, basis, curator)


def test_overlapping_bases_are_tried() -> None:
    """The data needs one basis only, so the kit also tries overlapping ones."""
    (flaw,) = coverage_flaws(Pipeline(reconstruct_counts=WrongOverlaps(error=0.1)))
    assert "too narrow" in flaw.sentence


def results(seed: int, keep: Callable[[float, float], bool] = lambda count, exact: True) -> list[NoisyCounts]:
    """The counts of items with Laplace noise of scale 10, in as many runs as the kit makes; some are not reported."""
    generator, case = np.random.default_rng(seed), coverage_case()
    supports = [sum(item in basket for basket in case.baskets) for item in range(case.items)]
    law = NoiseSum(Laplace(10), [(1, 1.0)])
    runs = []
    for _ in range(RUNS):
        *counts, total = generator.laplace([*supports, len(case.baskets)], 10)
        kept = [item for item in range(case.items) if keep(counts[item], supports[item])]
        errors, error = [law.standard_error] * len(kept), law.standard_error
        noisy = [counts[item] for item in kept]
        runs.append(NoisyCounts([(item,) for item in kept], noisy, errors, total, error, [law], [0] * len(kept), law))
    return runs


def test_counts_may_be_selected_by_their_noise() -> None:
    """What is reported only where its noise is large, or small, is no false alarm."""
    assert coverage_problem(results(1), coverage_case()) == ""
    assert coverage_problem(results(1, lambda count, exact: count > exact), coverage_case()) == ""
    assert coverage_problem(results(1, lambda count, exact: abs(count - exact) < 5), coverage_case()) == ""


@frozen
class Fails:
    """Has no result for bases that overlap.

    Privacy: as for the basis frequencies.
    """

    @hookimpl
    def reconstruct_counts(self, basis: BasisSet, curator: Curator) -> NoisyCounts:
        """Fail."""
        if basis.width > 1:
            raise ValueError("cannot combine")
        return BasisFrequencies().reconstruct_counts(basis, curator)


def test_failure_is_reported() -> None:
    """A component that cannot use other bases than its own is not total."""
    (flaw,) = coverage_flaws(Pipeline(reconstruct_counts=Fails()))
    assert (flaw.contract, "cannot combine" in flaw.sentence) == ("total", True)


def test_check_component_checks_coverage() -> None:
    """A plugin's usual test reports it, with the data on which it showed; given cases replace all others."""
    with pytest.raises(FlawedComponentError, match=r"(?s)coverage: its intervals are too narrow.*1000 transactions"):
        check_component(Distorted(error=0.1))
    assert find_flaws(Distorted(error=0.1), cases=[random_case(1)]) == []
