"""One try of a component: a pipeline run on made-up data under watch."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import cast

from attrs import frozen

from privmine.curator import Answer
from privmine.errors import StageError
from privmine.model import DATA_STAGES, STAGES, BudgetPlan
from privmine.noise.simulated import SimulatedNoise
from privmine.privacy import Charge
from privmine.registry import distribution_of
from privmine.run import Part, Run, observer_manager, stage_manager
from privmine.store.protocol import Store
from privmine.testing.cases import Baskets, Case
from privmine.testing.watch import Breach, Watch, WatchedCurator, WatchedNoise, WatchedStore


@frozen
class Trial:
    """What came of a try.

    Attributes:
        results: what each stage returned that returned something valid.
        reprs: the repr of each result when it was returned.
        charges: what the run was charged, in order.
        spent: what the meter says was spent.
        breaches: what was done behind the curator's back.
        limits: for each stage with a curator, what the run may have spent when it has ended.
        tape: the noisy answers, in order.
        error: what ended the run early, if anything did.
        failed_stage: the stage that it happened in.
    """

    results: Mapping[str, object]
    reprs: Mapping[str, str]
    charges: tuple[Charge, ...]
    spent: Fraction
    breaches: tuple[Breach, ...]
    limits: Mapping[str, Fraction]
    tape: tuple[Answer, ...]
    error: Exception | None
    failed_stage: str

    def charges_of(self, stage: str) -> tuple[Charge, ...]:
        """What a stage was charged."""
        return tuple(charge for charge in self.charges if charge.stage == stage)

    def spent_until(self, stage: str) -> Fraction:
        """What a stage and those before it were charged."""
        until = STAGES[: STAGES.index(stage) + 1]
        return sum((charge.epsilon for charge in self.charges if charge.stage in until), Fraction(0))


def attempt(
    parts: Mapping[str, Part],
    case: Case,
    source: SimulatedNoise,
    *,
    baskets: Baskets | None = None,
    script: tuple[Answer, ...] | None = None,
) -> Trial:
    """Run a pipeline's components on a case.

    Args:
        parts: the components by stage.
        case: the database and the question.
        source: where the noise comes from.
        baskets: another database to run on.
        script: the tape of an earlier trial, to answer from it.
    """
    transactions = case.transactions(baskets)
    watch = Watch(script)
    run = Run(
        parts,
        stage_manager(parts.values()),
        observer_manager([watch]),
        case.request(transactions),
        make_curator=partial(WatchedCurator, watch=watch),
    )
    # Queries of the component's own package may run: their author would ask users to trust it.
    trusted = {part.distribution for part in parts.values()}
    plan: BudgetPlan | None = None
    error: Exception | None = None
    try:
        plan = run.plan()
        run.execute(
            plan,
            cast(Store, WatchedStore(transactions.store, watch)),
            WatchedNoise(source, run.meter, watch),
            lambda cls: distribution_of(cls) in trusted,
        )
    except Exception as problem:  # noqa: BLE001 - whatever a component does is a finding
        error = problem
    shares = plan.limits() if plan is not None else dict.fromkeys(DATA_STAGES, Fraction(0))
    return Trial(
        results=watch.results,
        reprs=watch.reprs,
        charges=run.meter.charges,
        spent=run.meter.spent,
        breaches=tuple(watch.breaches),
        limits={stage: share * run.request.epsilon for stage, share in shares.items()},
        tape=tuple(watch.tape),
        error=error,
        failed_stage="" if error is None else error.stage if isinstance(error, StageError) else watch.stage,
    )
