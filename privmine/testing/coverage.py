"""Do the intervals of noisy counts contain the exact counts as often as they claim?

A reconstruction runs many times on made-up data, with seeded noise through the real curator. For every
itemset and for the number of transactions, the kit counts the runs in which an interval misses the exact
count. That number is binomial, and an exact bound on it tells a wrong component from bad luck. The runs are
seeded, so a component gets the same verdict every time.

Estimates are what a component would rather show than its counts; they may be biased, and intervals are not made
from them. A component that reports them has no reason to report biased counts beside them.

An itemset is fixed before the runs, and a run that does not report it counts as no miss. So a component may
select itemsets by the counts that it reports.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, combinations
from statistics import fmean, pstdev

from attrs import frozen

from privmine.audit.binomial import lower_limit
from privmine.errors import PrivmineError
from privmine.hooks.descriptions import bias_statement
from privmine.hooks.specs import hookimpl
from privmine.model import BasisSet, Itemset, NoiseLaw, NoisyCounts
from privmine.noise.laws import NoiseSum
from privmine.noise.simulated import SimulatedNoise
from privmine.pipeline import Pipeline
from privmine.pipeline.request import Wish
from privmine.pipeline.run import StageComponent
from privmine.release.intervals import NormalLaw
from privmine.testing.contracts import SEED
from privmine.testing.flaws import Flaw
from privmine.testing.trial_cases import TrialCase

STAGE = "reconstruct_counts"
RUNS = 300
#: How probable it is that a right component is reported, at most.
FALSE_ALARM = 1e-6
#: The levels of intervals to check, and the share of runs in which each must contain the exact count. A hundredth
#: less than the level leaves room for rounded counts, and for a bias that is estimated from the same runs.
LEVELS = {0.5: 0.49, 0.9: 0.89}
#: The same for a normal interval, where the standard error is all that is known of the noise: by Gauss's inequality
#: any noise with one peak and this standard deviation lies within a normal 95 % interval in 88 % of runs.
NORMAL_LEVELS = {0.95: 0.88}
#: A 50 % interval that contains the exact count in 90 % of runs is more than twice as wide as it should be.
WIDE_LEVEL, WIDE_COVERAGE = 0.5, 0.9
ITEMS = 5
#: They overlap, so that a count can be made of several measured ones.
BASES: tuple[Itemset, ...] = ((0, 1, 2, 3), (1, 2, 4), (2, 3), (0, 2, 4))
#: For two basis sets, all itemsets and the total: three lower bounds and two upper bounds at most.
_TESTS = 2 * (2**ITEMS + 1) * 5


def coverage_flaws(pipeline: Pipeline) -> Iterator[Flaw]:
    """What is wrong with the intervals of a pipeline's counts, for its own bases and for overlapping ones."""
    given = StageComponent("construct_basis", GivenBases(), "given-bases", "privmine")
    overlapping = pipeline.with_parts({**pipeline.parts, given.stage: given})
    biased = bool(bias_statement(type(pipeline.parts[STAGE].component)))
    case = coverage_case()
    for tried in (pipeline, overlapping):
        try:
            sentence = coverage_problem(list(_results(tried, case)), case, biased)
        except PrivmineError as error:
            yield Flaw("total", f"it returned no result: {error.__cause__ or error}", str(case))
            return
        if sentence:
            yield Flaw("coverage", sentence, str(case))
            return


def _results(pipeline: Pipeline, case: TrialCase) -> Iterator[NoisyCounts]:
    """The counts of many runs, without making releases, which would take most of the time."""
    database, noise = case.transactions(), SimulatedNoise(SEED)
    request = Wish(**case.request()).request(database)
    for _ in range(RUNS):
        run = pipeline.prepare(request)
        yield run.execute(run.plan(), database, noise, trusts=lambda _: True)[1]


@frozen
class GivenBases:
    """The same bases for every database."""

    @hookimpl
    def construct_basis(self) -> BasisSet:
        """Return them."""
        return BasisSet(BASES)


def coverage_case(transactions: int = 1000) -> TrialCase:
    """A database whose items depend on one another, so that a simple model of it is wrong."""
    generator = random.Random(7)  # noqa: S311 - made-up data
    baskets = []
    for _ in range(transactions):
        chances = generator.choice([(0.9, 0.9, 0.8, 0.8, 0.7), (0.5, 0.4, 0.4, 0.3, 0.3)])
        basket = {item for item in range(ITEMS) if generator.random() < chances[item]}
        if len(basket & {0, 1, 2}) == 1:
            basket |= {0, 1}
        baskets.append(sorted(basket))
    return TrialCase("data for the coverage of intervals", baskets, ITEMS, k=2**ITEMS - 1, epsilon=2)


@frozen
class _Report:
    """What one run says of a number: its noisy value, the law of its noise, and its standard error."""

    value: float
    law: NoiseLaw | None
    standard_error: float

    def half_width(self, level: float, normal: bool) -> float | None:
        """The half-width of its interval by its standard error, or by its law; None if there is no such claim."""
        if normal:  # That the standard error is the one of a NoiseSum is checked in every single run.
            return None if isinstance(self.law, NoiseSum) else NormalLaw(self.standard_error).half_width(level)
        return None if self.law is None else self.law.half_width(level)


def coverage_problem(results: Sequence[NoisyCounts], case: TrialCase, biased: bool = False) -> str:
    """What is wrong with the intervals of many runs, in the clearest example; empty if nothing is.

    Args:
        results: what the runs reported.
        case: the data, with all exact counts.
        biased: allow that noisy counts lie beside the exact ones; only their spread is checked then. Counts that come
            with estimates must be unbiased all the same.
    """
    found: list[tuple[float, str]] = []
    biased = biased and not any(len(counts.estimates) for counts in results)
    by_run = [_reports(counts) for counts in results]
    for itemset in (None, *chain.from_iterable(combinations(range(ITEMS), size) for size in range(ITEMS + 1))):
        reports = [reports[itemset] for reports in by_run if itemset in reports]
        if len(reports) > 1:
            name = "the number of transactions" if itemset is None else f"the count of {itemset}"
            truth = sum(set(itemset or ()) <= set(basket) for basket in case.baskets)
            centre = fmean(report.value for report in reports) if biased else float(truth)
            found.extend(_problems(name, reports, truth, centre))
    return max(found, default=(0.0, ""))[1]


def _reports(counts: NoisyCounts) -> dict[Itemset | None, _Report]:
    """What a run says of each itemset, and of the number of transactions (None)."""
    laws = [counts.laws[number] for number in counts.law_of.tolist()] or [None] * len(counts.itemsets)
    rows = zip(counts.itemsets, counts.counts.tolist(), laws, counts.standard_errors.tolist(), strict=True)
    reports: dict[Itemset | None, _Report] = {items: _Report(*values) for items, *values in rows}
    reports[None] = _Report(counts.total, counts.total_law, counts.total_error)
    return reports


def _problems(name: str, reports: list[_Report], truth: int, centre: float) -> Iterator[tuple[float, str]]:
    """The levels at which intervals contain the centre too rarely or too often, each with how surely that is so."""
    for normal, levels in ((False, LEVELS), (True, NORMAL_LEVELS)):
        for level, least in levels.items():
            widths = [report.half_width(level, normal) for report in reports]
            covered = _covered(reports, widths, centre)
            claims = sum(width is not None for width in widths)
            excess = _surely(claims - covered) - (1 - least)
            if excess > 0:
                yield excess, _narrow(name, reports, truth, centre, f"{level:.0%}", f"{covered} of {claims}")
        widths = [report.half_width(WIDE_LEVEL, normal) for report in reports]
        if None in widths or len(reports) < RUNS:
            continue  # Runs that do not report it may be those in which it would be missed.
        covered = _covered(reports, widths, centre)
        excess = _surely(covered) - WIDE_COVERAGE
        if excess > 0:
            yield (
                excess,
                (
                    f"its intervals are too wide: the {WIDE_LEVEL:.0%} interval of {name} contains the exact number in "
                    f"{covered} of {RUNS} runs. Check the standard errors and the laws of noise."
                ),
            )


@cache
def _surely(runs: int) -> float:
    """A lower bound on a probability from so many of all runs, wrong only in a false alarm."""
    return lower_limit(runs, RUNS, FALSE_ALARM / _TESTS)


def _covered(reports: list[_Report], widths: list[float | None], centre: float) -> int:
    pairs = zip(reports, widths, strict=True)
    return sum(width is not None and abs(report.value - centre) <= width for report, width in pairs)


def _narrow(name: str, reports: list[_Report], truth: int, centre: float, level: str, runs: str) -> str:
    mean = fmean(report.value for report in reports)
    spread = pstdev(report.value for report in reports)
    if abs(mean - centre) > spread:
        return (
            f"its counts are biased: {name} is {truth}, but is reported as {mean:.1f} on average, and its {level} "
            f"interval contains it in {runs} runs. Report counts without bias, and what you would rather show as "
            "`estimates`. If that cannot be, describe the bias in a `Bias:` paragraph of the docstring."
        )
    claimed = fmean(report.standard_error for report in reports)
    return (
        f"its intervals are too narrow: the {level} interval of {name} contains the exact number in {runs} runs. The "
        f"standard deviation of the noise is {spread:.3g}, but the standard error says {claimed:.3g}. Check the "
        "standard errors and the laws of noise."
    )
