"""A curator for a test: the real one, with a budget and made-up data of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from privmine.curator import Access, Answer, Curator
from privmine.exact import exact
from privmine.hooks.registry import distribution_of
from privmine.model import Public
from privmine.noise.protocol import NoiseSource
from privmine.noise.simulated import SimulatedNoise
from privmine.pipeline.request import definition_at
from privmine.privacy.cost import Charge, Meter
from privmine.store.transactions import Transactions


def curator_for(
    data: Transactions | Iterable[Any],
    epsilon: Any = 1,
    *,
    delta: Any = None,
    share: Any = 1,
    noise: NoiseSource | None = None,
    stage: str = "reconstruct_counts",
    trusted: bool = False,
) -> Curator:
    """A curator as a component gets it in a run; but with simulated noise it raises the errors of queries as they are.

    Args:
        data: made-up transactions, or baskets as lists of labels.
        epsilon: the ε of the whole run.
        delta: its δ; None for pure ε.
        share: the part of it that the stage may spend.
        noise: a source of noise; by default one that is simulated from seed 0.
        stage: the stage that it is for.
        trusted: whether queries that privmine cannot verify may run.
    """
    transactions = data if isinstance(data, Transactions) else Transactions.from_lists(data)
    budget = definition_at(None if delta is None else exact(delta, "δ")).budget(exact(epsilon, "ε"))
    public = Public(transactions.universe, transactions.unit, origin=transactions.origin)
    source = SimulatedNoise(0) if noise is None else noise
    access = Access(
        transactions.store,
        public,
        source,
        Meter(budget),
        lambda _: trusted,
        home=distribution_of,
        tells_errors=not source.private,
    )
    return Curator(access, stage, "tried", exact(share, "The share") * budget)


def charges_of(curator: Curator) -> tuple[Charge, ...]:
    """What has been charged in the run that a curator belongs to."""
    return curator._access.meter.charges  # noqa: SLF001 - components have no business with it, tests have


def answers_of(curator: Curator) -> tuple[Answer, ...]:
    """What has been answered in that run."""
    return tuple(curator._access.answers)  # noqa: SLF001 - likewise
