"""Making a plan: rehearse at the ε in question, at others, and at the ε that a wanted error costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from attrs import evolve

from privmine.errors import BudgetError, InputError
from privmine.exact import whole_number
from privmine.ledger import Ledger
from privmine.ledger.checks import refuse_another_unit
from privmine.model import DATA_STAGES, BasisSet
from privmine.pipeline import DEFAULT_METHOD, Pipeline
from privmine.pipeline.request import LARGEST_EPSILON, SMALLEST_EPSILON, definition_at
from privmine.planning.adviser import advise, installed_methods
from privmine.planning.patterns import AS_GIVEN
from privmine.planning.plan_result import CurvePoint, Plan, Shape, Share
from privmine.planning.population import as_release, population_of
from privmine.planning.question import (
    DEFAULT_ITEMS,
    ErrorTarget,
    amounts_of,
    as_ledger,
    assumed_lambdas,
    delta_of,
    given_bases,
    item_count,
    numbers_of,
    target_of,
    unit_of,
    whole_or_none,
)
from privmine.planning.rehearsal import Choice, Rehearsal, Selected, UnplannableError, made_up_baskets
from privmine.planning.sizes import WIDE, SizeErrors, SizeRange, one_scale, ranges, scaled, size_errors
from privmine.planning.target import least_epsilon
from privmine.privacy.guarantee import Guarantee
from privmine.privacy.unit import Unit

DEFAULT_K = 100
#: Where bases are built to find the extreme ones, until the ε in question is known.
_SOME_EPSILON = Fraction(1)
#: How many of the bases tell how noise grows at another ε.
_PROBES = 2


def plan(
    k: int | Iterable[int] | None = None,
    epsilon: Any = None,
    *,
    delta: Any = None,
    method: str | None = None,
    pipeline: Pipeline | None = None,
    transactions: int | None = None,
    items: int | None = None,
    lam: int | None = None,
    bases: int | BasisSet | Iterable[Iterable[Any]] | None = None,
    length: int | None = None,
    max_length: int | None = None,
    unit: str | None = None,
    max_baskets: int = 1,
    merge_by: str | None = None,
    target_error: Any = None,
    target_size: int | None = None,
    like: Any = None,
    like_is_public: bool = False,
    wanted: str | None = None,
    runs: int | None = None,
    ledger: Ledger | str | Path | None = None,
    dataset: str | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Plan:
    """Tell what a run would find, how exact its counts would be and what it would spend, without any private data.

    With several k or ε, with `like`, with `wanted`, or with the number of transactions alone, runs are simulated on
    public or made-up baskets: `plan.advice` tells what would be missed and which k and method are sensible. The rest
    of the plan is then about what is sensible.

    Args:
        k: how many itemsets the run would release, or several such numbers.
        epsilon: its privacy budget, or several; without it, the ε that the target error or what is wanted costs.
        delta: a δ, such as 1e-6, to compare (ε, δ)-differential privacy with pure ε: the plan shows both.
        method: a whole pipeline by name; without it, advice compares all that are installed.
        pipeline: a pipeline, instead of a method.
        transactions: about how many transactions there are, to tell errors as frequencies.
        items: about how many items there are to choose from.
        lam: λ, how many items the top k itemsets are made of; without it, all that it can be is tried.
        bases: the bases to count with: how many (with `length`), or the bases themselves, of any labels.
        length: how many items each of so many bases has.
        max_length: the longest itemset to release.
        unit: who would be protected, such as "customer_id"; without it whoever the release of `like=` protects, else
            each transaction.
        max_baskets: how many transactions of one unit would count; noise grows with it.
        merge_by: like `unit`, but all that a unit has would be merged into one transaction.
        target_error: the standard error of a count that is wanted, in transactions or as "0.1%" of them.
        target_size: for itemsets of this size; without it for all sizes.
        like: something public that is like the data: an earlier release or its file, or a public dataset by name.
            It is scaled to the number of transactions.
        like_is_public: `like` is baskets, or a file of them, that everybody may see. Never say so of private data:
            simulations count these baskets without noise.
        wanted: what is to be learnt, to find its ε: "tell 2 % from 3 %" or "find everything above 2 %".
        runs: how often each question is simulated; without it, until the share missed is known well enough.
        ledger: a ledger to look up what would remain, or its path; it is not charged.
        dataset: the name of the data in the ledger.
        tell: is called with what is being simulated, before each run.
    """
    ks, epsilons = numbers_of(k, DEFAULT_K), amounts_of(epsilon)
    relaxed = delta_of(delta)
    about = whole_or_none(transactions, "The number of transactions")
    if (ledger is None) != (dataset is None):
        raise InputError("A ledger keeps one budget for each dataset. Pass both ledger= and dataset=.")
    earlier = as_release(like)
    like = like if earlier is None else earlier
    protected = unit_of(unit, max_baskets, merge_by, ledger, dataset)
    if protected.is_transaction and unit is None and earlier is not None:
        protected = earlier.receipt.unit or protected  # The next release is like the last one, unless somebody says so.
    if ledger is not None and dataset is not None:
        # Here, since planning takes a while; whether enough is left shows when ε is known, and beside the plan.
        refuse_another_unit(as_ledger(ledger).budget(dataset), protected.name)
    if pipeline is not None and not isinstance(pipeline, Pipeline):
        raise InputError(f"pipeline= takes a Pipeline, not {pipeline!r}. To name a method, use method=.")
    target = target_of(target_error, target_size, about)
    if like_is_public and like is None:
        raise InputError("like_is_public=True says that like= is public, but like= is missing. Pass both, or neither.")
    if wanted is not None and (epsilons or target is not None):
        raise InputError("wanted= asks for the ε, so that neither epsilon= nor target_error= goes with it. Drop one.")
    if not epsilons and target is None and wanted is None:
        raise InputError(
            "Specify an ε to learn its error, for example epsilon=1, or an error to learn its ε, for "
            "example target_error=50, or say what is wanted, for example wanted='find everything above 2 %'."
        )
    several = len(ks) > 1 or len(epsilons) > 1
    advised = like is not None or wanted is not None or several
    if advised and (target is not None or lam is not None or bases is not None or length is not None):
        raise InputError(
            "target_error=, lam=, bases= and length= ask for errors without data. They do not go with like=, wanted= "
            "or several k or ε. Drop them."
        )
    if not advised and (about is None or not epsilons or lam is not None or bases is not None or target is not None):
        given = Pipeline(method or DEFAULT_METHOD) if pipeline is None else pipeline
        start = epsilons[0] if epsilons else None
        size = DEFAULT_ITEMS if items is None else items
        facts = (size, about, lam, bases, length, max_length, protected, target, (ledger, dataset))
        pure = _rehearsed(given, ks[0], start, None, *facts)
        return pure if relaxed is None else evolve(_rehearsed(given, ks[0], start, relaxed, *facts), pure=pure)
    universe = None if items is None else item_count(items)
    if pipeline is not None:
        choice = {pipeline.method: pipeline}
    else:
        choice = installed_methods() if method is None else {method: Pipeline(method)}
    people = population_of(like, is_public=like_is_public, transactions=about, items=universe, unit=protected)
    asked = None if k is None and wanted is not None else ks
    advice = advise(
        people, choice, asked, epsilons, delta=relaxed, max_length=max_length, wanted=wanted, runs=_runs(runs),
        tell=tell,
    )  # fmt: skip
    found = advice.sensible if several or wanted is not None else None
    found = found or next(iter(advice.best), None)
    given = next(iter(choice.values())) if found is None else choice[found.method]
    sensible_k, sensible_epsilon = (ks[0], _SOME_EPSILON) if found is None else (found.k, found.epsilon)
    tell("Rehearsing what is sensible")
    made = _rehearsed(
        given, sensible_k, sensible_epsilon, None if found is None else found.delta, advice.items, advice.transactions,
        None, None, None, max_length, protected, None, (ledger, dataset), lenient=True,
    )  # fmt: skip
    return evolve(made, advice=advice)


def _runs(runs: Any) -> int | None:
    """How often to simulate; of a single run nobody knows how far it is off."""
    if runs is None:
        return None
    number = whole_number(runs, "runs=, how often each question is simulated,")
    if number == 1:
        raise InputError("A single run does not tell how far its result is off. Pass runs= of at least 2.")
    return number


def _rehearsed(
    pipeline: Pipeline,
    k: int,
    epsilon: Fraction | None,
    delta: Fraction | None,
    items: Any,
    about: int | None,
    lam: Any,
    bases: Any,
    length: Any,
    max_length: int | None,
    unit: Unit,
    target: ErrorTarget | None,
    account: tuple[Ledger | str | Path | None, str | None],
    *,
    lenient: bool = False,
) -> Plan:
    """A plan for one question; if lenient, one without errors where the pipeline cannot be rehearsed."""
    count = item_count(items)
    rehearsal = Rehearsal(pipeline, made_up_baskets(count, unit), k, max_length, delta)
    start = _SOME_EPSILON if epsilon is None else epsilon
    ledger, dataset = account
    try:
        request = rehearsal.request(start)
        drawn = rehearsal.lambda_range(start)
        lams = assumed_lambdas(lam, request.k, count, request.max_length, drawn)
        planner = _Planner(rehearsal, lams, given_bases(bases, length))
        reached = None if target is None else planner.least_epsilon(target, start)
        budget = start if epsilon is not None or reached is None else reached
        shapes, unknown = planner.shapes(budget)
        selections = planner.selections(budget)
    except InputError as reason:
        if not lenient:
            raise
        left, refusal = _left(ledger, dataset, Guarantee(start, delta), unit)
        return Plan(
            method=pipeline.method, k=k, epsilon=start, items=count, transactions=about, lams=(), unit=unit, shares=(),
            shapes=(), sizes=(), choices=(), points=(), unknown=str(reason), dataset=dataset, remaining=left,
            refusal=refusal, delta=delta,
        )  # fmt: skip
    left, refusal = _left(ledger, dataset, Guarantee(budget, delta), unit)
    shares, total = selections[0].plan, selections[0].request.budget
    return Plan(
        method=pipeline.method,
        k=k,
        epsilon=budget,
        items=count,
        transactions=about,
        lams=tuple(selected.lam for selected in selections if selected.lam is not None),
        unit=unit,
        shares=tuple(Share(stage, pipeline.parts[stage].name, getattr(shares, stage) * total) for stage in DATA_STAGES),
        shapes=shapes,
        sizes=ranges(shape.sizes for shape in shapes),
        choices=planner.choices(budget),
        points=() if unknown else planner.points(budget, shapes),
        target=target,
        target_epsilon=reached,
        unknown=unknown,
        dataset=dataset,
        remaining=left,
        refusal=refusal,
        delta=delta,
    )


class _Planner:
    """Rehearsals at several ε and λ, each done once."""

    def __init__(self, rehearsal: Rehearsal, lams: Sequence[int], bases: BasisSet | None) -> None:
        self._rehearsal = rehearsal
        self._lams = lams
        self._given = bases
        self._selected: dict[Fraction, tuple[Selected, ...]] = {}
        # Built once for each λ: bases follow from what was selected, not from ε.
        self._bases: dict[int | None, list[Shape]] = {}
        self._measurements: dict[tuple[Fraction, int | None, BasisSet], tuple[SizeErrors, ...]] = {}
        self._scales: dict[tuple[Fraction, int | None, BasisSet], Fraction | None] = {}

    def selections(self, epsilon: Fraction) -> tuple[Selected, ...]:
        """A rehearsal up to the selection for each λ; one alone where the method has no λ, or a public one."""
        if epsilon not in self._selected:
            found = [self._rehearsal.select(epsilon, lam) for lam in self._lams]
            self._selected[epsilon] = tuple({selected.lam: selected for selected in found}.values())
        return self._selected[epsilon]

    def choices(self, epsilon: Fraction) -> tuple[Choice, ...]:
        """What the selection can tell apart, for the smallest and the largest λ."""
        selections = self.selections(epsilon)
        ends = selections if len(selections) == 1 else (selections[0], selections[-1])
        return tuple(choice for selected in ends for choice in selected.choices)

    def shapes(self, epsilon: Fraction) -> tuple[tuple[Shape, ...], str | None]:
        """All basis sets with their errors; without errors, and why, where those are not known."""
        bare = [shape for selected in self.selections(epsilon) for shape in self._built(selected)]
        try:
            self._rehearsal.check_errors(self.selections(epsilon)[0], bare[0].basis)
            return self._measured(epsilon, bare), None
        except UnplannableError as reason:
            return tuple(bare), str(reason)

    def points(self, epsilon: Fraction, shapes: Sequence[Shape]) -> tuple[CurvePoint, ...]:
        """The ranges over ε, from the extreme ones of the shapes."""
        chosen = extremes(shapes)
        return tuple(
            CurvePoint(at, ranges(shape.sizes for shape in self._elsewhere(epsilon, at, chosen)), self.choices(at))
            for at in around(epsilon)
        )

    def _elsewhere(self, epsilon: Fraction, at: Fraction, shapes: Sequence[Shape]) -> Sequence[Shape]:
        """The shapes with their errors at another ε, from those at this one."""
        if at == epsilon:
            return shapes
        scales = {shape: self._scales.get((epsilon, shape.lam, shape.basis)) for shape in shapes}
        wide = [shape for shape, scale in scales.items() if scale is not None and scale * epsilon / at >= WIDE]
        # Noise grows by the same factor for all bases, unless a component is of another mind: two of them are tried.
        probes = sorted(wide, key=lambda shape: sum(2 ** len(basis) for basis in shape.basis.bases))[:_PROBES]
        factors = {self._factor(epsilon, at, probe) for probe in probes}
        if len(probes) < _PROBES or len(factors) != 1 or None in factors:
            return self._measured(at, shapes)
        factor = float(factors.pop() or 1)
        return [
            evolve(shape, sizes=scaled(shape.sizes, factor)) if shape in wide else self._measured(at, [shape])[0]
            for shape in shapes
        ]

    def _factor(self, epsilon: Fraction, at: Fraction, shape: Shape) -> Fraction | None:
        """How many times as large the noise is at another ε; None where that is not all that changes."""
        here = self._scales.get((epsilon, shape.lam, shape.basis))
        selected = next(found for found in self.selections(at) if found.lam == shape.lam)
        there = one_scale(self._rehearsal.counts(selected, shape.basis))
        return None if here is None or there is None else there / here

    def least_epsilon(self, target: ErrorTarget, start: Fraction) -> Fraction:
        """The smallest ε for which the typical errors are at most those wanted, whatever the bases."""
        shapes, unknown = self.shapes(start)
        if unknown:
            raise InputError(f"{unknown} So no ε can be named for a target error.")
        if target.size is not None and target.size not in {found.size for shape in shapes for found in shape.sizes}:
            raise InputError(f"No itemset of {target.size:,} items would be counted. Choose a smaller target size.")

        def searched(among: Sequence[Shape]) -> Fraction:
            return least_epsilon(lambda at: _reached(self._measured(at, among), target))

        found = searched(extremes(shapes))
        # Which bases are the worst ones may change with ε, if only a little.
        return found if _reached(self._measured(found, shapes), target) else searched(shapes)

    def _built(self, selected: Selected) -> list[Shape]:
        if selected.lam not in self._bases:
            found = self._rehearsal.bases(selected)
            if self._given is not None:
                if next(found)[1].candidates is not None:
                    part = self._rehearsal.pipeline.parts["construct_basis"]
                    raise InputError(f"{part} counts itemsets one by one, not by bases. Leave the bases out.")
                found = iter([(AS_GIVEN, self._given)])
            # Several patterns may lead to the same bases; their first one will do.
            distinct: dict[BasisSet, str] = {}
            for pattern, basis in found:
                distinct.setdefault(basis, pattern)
            self._bases[selected.lam] = [Shape(selected.lam, pattern, basis) for basis, pattern in distinct.items()]
        return self._bases[selected.lam]

    def _measured(self, epsilon: Fraction, shapes: Iterable[Shape]) -> tuple[Shape, ...]:
        selected = {found.lam: found for found in self.selections(epsilon)}
        return tuple(evolve(shape, sizes=self._errors(epsilon, selected[shape.lam], shape.basis)) for shape in shapes)

    def _errors(self, epsilon: Fraction, selected: Selected, basis: BasisSet) -> tuple[SizeErrors, ...]:
        key = epsilon, selected.lam, basis
        if key not in self._measurements:
            counts = self._rehearsal.counts(selected, basis)
            self._scales[key] = one_scale(counts)
            self._measurements[key] = size_errors(counts, selected.request.max_length, exactly=self._given is not None)
        return self._measurements[key]


def extremes(shapes: Sequence[Shape]) -> tuple[Shape, ...]:
    """The shapes that are the best or the worst ones for some itemset size."""
    kept: dict[int, Shape] = {}
    for size in {errors.size for shape in shapes for errors in shape.sizes}:
        having = [
            (errors, place) for place, shape in enumerate(shapes) for errors in shape.sizes if errors.size == size
        ]
        for key in ("typical", "most", "told"):
            for end in (min, max):
                place = end(having, key=lambda pair: float(getattr(pair[0], key)))[1]
                kept[place] = shapes[place]
    return tuple(kept.values())


def around(epsilon: Fraction) -> tuple[Fraction, ...]:
    """Round numbers from a tenth of ε to ten times as much, and ε itself."""
    steps = [SMALLEST_EPSILON * 10**decade * step for decade in range(11) for step in (1, 2, 5)]
    near = [step for step in steps if epsilon / 10 <= step <= min(10 * epsilon, LARGEST_EPSILON)]
    return tuple(sorted({epsilon, *near}))


def _reached(shapes: Iterable[Shape], target: ErrorTarget) -> bool:
    found: tuple[SizeRange, ...] = ranges(shape.sizes for shape in shapes)
    return all(Fraction(size.high) <= target.error for size in found if target.size in (None, size.size))


def _left(
    ledger: Ledger | str | Path | None, dataset: str | None, spent: Guarantee, unit: Unit
) -> tuple[Fraction | None, str | None]:
    """What a ledger would have left, and why it would refuse, if it would; nothing is charged."""
    if ledger is None or dataset is None:
        return None, None
    try:
        price = definition_at(spent.delta).budget(spent.epsilon).price()
        return as_ledger(ledger).check(dataset, **price, unit=unit.name).remaining_epsilon, None
    except (BudgetError, InputError) as refusal:  # Too little is left, or it is counted under another definition.
        return None, f"The run would be refused: {refusal}"
