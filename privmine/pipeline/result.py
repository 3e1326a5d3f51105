"""The release of a run: its rows with the laws of their noise, and the receipt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from pathlib import Path
from typing import Any

import attrs

from privmine.errors import ContractError, PrivmineError, UnsavedReleaseError
from privmine.exact import amount
from privmine.hooks.registry import own_version
from privmine.ledger.entries import LedgerCharge
from privmine.model import BasisSet, NoiseLaw, NoisyCounts, Request
from privmine.noise.protocol import NoiseSource
from privmine.pipeline.run import Run, StageComponent
from privmine.privacy.cost import UNSPENT, Charge
from privmine.privacy.payment import part_alone
from privmine.privacy.receipt import Receipt
from privmine.release import FrequentItemset, Release
from privmine.release.chosen import Chosen
from privmine.release.closure import CLOSED, closed_top
from privmine.release.intervals import ESTIMATED, KeptLaw, kept_law
from privmine.store.abstract import Store

#: Where the noise and the stores are defined that privmine vouches for. Audits and the test kit have others.
_OWN_NOISE = frozenset({"privmine.noise.secure"})
_OWN_STORES = frozenset({"privmine.store.memory", "privmine.store.disk"})
#: Those that count by a store of their own, which may be anybody's.
_WRAPPERS = frozenset({"privmine.datasets.repeated"})

#: With it, somebody who takes it for 1 in 100 that a transaction is there can come to more than 99 in 100.
_LARGE_EPSILON = 10


def receipt_of(
    run: Run,
    basis: BasisSet,
    source: NoiseSource,
    store: Store,
    charge: LedgerCharge | None,
    pipeline: Mapping[str, str],
    time: str | None = None,
) -> Receipt:
    """The receipt of a run that has ended.

    Args:
        run: the run, with its charges.
        basis: what was measured.
        source: where the noise came from.
        store: what was counted.
        charge: what a ledger charged, if there is one.
        pipeline: by stage the component, described.
        time: when the run began, if no ledger noted it.

    Privacy: a time from before the first look at the data. How long a run takes may depend on the data.
    """
    payment = None if charge is None else charge.payment
    is_own = type(source).__module__ in _OWN_NOISE  # others may be replayed, and a replay must give the same
    request = run.request
    return Receipt(
        cost=request.budget,
        noise=str(source.name),
        private=source.private,
        charges=(*run.meter.charges, *_unspent(run)),
        pipeline=dict(pipeline),
        assumptions=_assumptions(request, source, store),
        notes=(*_which_items(request), *_how_many(request), *_what_may_be_missing(basis, request), *basis.notes),
        dataset=None if charge is None else charge.dataset,
        version=own_version(),
        n_public=request.public.n is not None,
        entry=None if charge is None else charge.id,
        unit=request.public.unit,
        payment=payment,
        time=payment.time if payment is not None else time if is_own else None,
    )


def for_a_part(receipt: Receipt, part: str | None) -> Receipt:
    """The receipt with what is assumed of a release that only a part of the dataset's people pays for."""
    if part is None:
        return receipt
    return attrs.evolve(receipt, assumptions=(*receipt.assumptions, part_alone(part)))


def _which_items(request: Request) -> list[str]:
    """Where items are private: how many were found, which is an answer under noise."""
    universe = request.public.universe
    if not universe.private:
        return []
    return [
        f"which items occur is private: {len(universe):,} of them were found under noise; items that occur too rarely "
        "for that are not found, and itemsets with them cannot be listed"
    ]


def _how_many(request: Request) -> list[str]:
    """Where a frequency was asked for: how many itemsets were looked for."""
    if request.above is None:
        return []
    universe = request.public.universe
    is_limit = request.k == request.above.k_max < universe.itemset_count(request.max_length)
    limit = ", which is the limit that was given, so that there may be more" if is_limit else ""
    return [
        f"itemsets of a frequency of at least {amount(request.above.theta)} were asked for: a noisy estimate said that "
        f"there are {request.k:,}{limit}; those of them are listed whose noisy frequency reaches it"
    ]


def _what_may_be_missing(basis: BasisSet, request: Request) -> list[str]:
    """What limits the itemsets that can be listed: it was chosen under noise, so that telling it costs nothing."""
    universe = request.public.universe
    if basis.candidates is not None:
        selected = sum(len(candidate) > 0 for candidate in basis.candidates)
        if selected >= universe.itemset_count(request.max_length):
            return []
        return [f"only the {selected:,} itemsets that were selected can be listed; others may be as frequent"]
    covered = len(set().union(*basis.bases))
    limits = []
    if covered < len(universe):
        limits.append(f"made of {covered:,} of the {len(universe):,} items, those that were selected,")
    if basis.width > 1 and not basis.across and request.max_length != 1:
        limits.append(f"within one of the {basis.width:,} bases")
    return [f"only itemsets {' and '.join(limits)} can be listed; others may be as frequent"] if limits else []


def _unspent(run: Run) -> list[Charge]:
    """What the components left of ε: the run cost it all the same, and charges sum to what a receipt states."""
    rest, last = run.request.budget - run.meter.spent, run.parts["reconstruct_counts"]
    return [Charge(last.stage, last.name, "nothing", UNSPENT, rest)] if rest else []


def _assumptions(request: Request, source: NoiseSource, store: Store) -> list[str]:
    sentences = []
    if not (request.public.universe.given or request.public.universe.private):
        sentences.append(
            "the item universe was taken from the data and is treated as public, "
            "so that an item which occurs at all is not protected"
        )
    if request.public.origin.guessed:
        sentences.append(
            f"the layout of the data was detected ({request.public.origin.guess}), perhaps by looking at the data, "
            "and is treated as public"
        )
    sentences += request.public.origin.assumes
    if request.public.n is not None:
        sentences.append(f"the number of transactions, {request.public.n:,}, is public")
    if not source.private:
        sentences.append("simulated noise: this result must not be released")
    elif type(source).__module__ not in _OWN_NOISE:
        sentences.append("the source of noise is not privmine's own, and is taken at its word")
    counting: Any = store
    while type(counting).__module__ in _WRAPPERS:
        counting = counting.store
    if type(counting).__module__ not in _OWN_STORES:
        sentences.append(
            "the counting store is not privmine's own; privmine relies on it to clip contributions and to limit the "
            "transactions of each unit"
        )
    return sentences


def release_of(
    request: Request, counts: NoisyCounts, receipt: Receipt, downward_closed: bool, part: StageComponent
) -> Release:
    """The k largest counts or estimates under their labels, with frequencies and the laws of their noise."""
    total, total_error, total_law = counts.total, counts.total_error, counts.total_law
    if request.public.n is not None:
        total, total_error, total_law = float(request.public.n), 0.0, None
    total = max(total, 1.0)
    rows, cutoff = _chosen(counts, request, downward_closed)
    if request.above is not None:
        least = float(request.above.theta) * total
        rows, cutoff = [row for row in rows if counts.shown[row] >= least], max(least, cutoff or least)
    known = len(counts.law_of) > 0
    used = sorted({int(counts.law_of[row]) for row in rows if known})
    kept, unusable = _kept_laws([*(counts.laws[number] for number in used), total_law], part)
    laws = dict(zip(used, kept[:-1], strict=True))
    itemsets = [
        FrequentItemset(
            request.public.universe.named(counts.itemsets[row]),
            float(counts.shown[row]),
            min(max(float(counts.shown[row]) / total, 0.0), 1.0),
            float(counts.standard_errors[row]),
            laws[int(counts.law_of[row])] if known else None,
            float(counts.counts[row]) if len(counts.estimates) else None,
        )
        for row in rows
    ]
    notes = [
        *unusable,
        *_large_epsilon(receipt),
        *_large_delta(receipt, total),
        *([CLOSED] if downward_closed else []),
        *([ESTIMATED] if len(counts.estimates) else []),
    ]
    receipt = attrs.evolve(receipt, notes=(*receipt.notes, *notes))
    eligible = counts.itemsets.lengths
    candidates = int(((eligible > 0) & (eligible <= (request.max_length or inf))).sum())
    selection = Chosen(candidates, cutoff, by_estimates=len(counts.estimates) > 0, believed=counts.believed)
    return Release(
        tuple(itemsets), request.requested, total, total_error, receipt, kept[-1], selection, joint=counts.joint
    )


def _large_epsilon(receipt: Receipt) -> list[str]:
    """What to say of an ε that promises next to nothing."""
    if not receipt.private or receipt.guarantee.epsilon <= _LARGE_EPSILON:
        return []
    return [
        "ε is so large that it promises next to nothing: whoever is suspected can be found out almost for sure, and "
        "counts are nearly exact. Use a far smaller ε next time"
    ]


def _large_delta(receipt: Receipt, total: float) -> list[str]:
    """What to say of a δ that promises little; no warning, which could be made an error and cost the paid release."""
    delta = receipt.guarantee.delta
    if delta is None or float(delta) * total <= 1:
        return []
    return [
        "δ is larger than 1 divided by the number of transactions. With such a δ, publishing a whole transaction, "
        "chosen at random, would be allowed. Use a far smaller δ next time"
    ]


def _chosen(counts: NoisyCounts, request: Request, downward_closed: bool) -> tuple[list[int], float | None]:
    """The positions to release, and the largest noisy count or estimate that is not among them."""
    if downward_closed:
        return closed_top(counts, request.k, request.max_length)
    rows = counts.top(request.k + 1, request.max_length)
    return rows[: request.k], float(counts.shown[rows[request.k]]) if len(rows) > request.k else None


def _kept_laws(laws: Iterable[NoiseLaw | None], part: StageComponent) -> tuple[list[KeptLaw | None], list[str]]:
    """The laws as a release keeps them, and a note on each class of laws that cannot be used.

    The counts are paid for by now, so that they get normal intervals instead of being lost.
    """
    kept: list[KeptLaw | None] = []
    unusable: dict[str, None] = {}
    for law in laws:
        try:
            kept.append(kept_law(law))
        except ContractError:
            kept.append(None)
            unusable[type(law).__name__] = None
    return kept, [
        f"{part} says that noise has the law {name}, whose half-widths cannot be used; "
        "intervals of such counts are normal ones, from their standard errors"
        for name in unusable
    ]


def save_release(release: Release, target: Path, *, plain: bool = False) -> None:
    """Save what is paid for; if that fails, hand it over with the error."""
    try:
        release.save(target, plain=plain)
    except (OSError, PrivmineError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UnsavedReleaseError(
            f"The release is made and charged, but {target} could not be written: {reason.rstrip('.')}.", release
        ) from error
