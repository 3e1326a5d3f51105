"""A pipeline: one component for each stage, chosen by name or given as an object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs

from privmine.account import ledger_charge
from privmine.errors import ContractError, InputError, PrivmineError, RunInterrupted, UnsavedReleaseError
from privmine.intervals import KeptLaw, kept_law
from privmine.ledger import Ledger
from privmine.ledger.values import LedgerCharge
from privmine.model import STAGES, BasisSet, NoiseLaw, NoisyCounts, Request, Unit
from privmine.noise.protocol import NoiseSource
from privmine.privacy import UNSPENT, Charge, PureDP, Receipt
from privmine.registry import build, canonical, distribution_of, own_version, registry
from privmine.release import FrequentItemset, Release
from privmine.release.closure import CLOSED, closed_top
from privmine.request import Wish
from privmine.run import Part, Run, observer_manager, stage_manager
from privmine.spec import read_spec
from privmine.store.protocol import Store
from privmine.store.transactions import Transactions

DEFAULT_METHOD = "privbasis"
#: The options of `privmine.read`, which is in a layer above; whoever passes them here is told where they belong.
READING_OPTIONS = frozenset(
    (
        "items",
        "names",
        "layout",
        "transaction",
        "item",
        "unit",
        "max_baskets",
        "merge_by",
        "separator",
        "encoding",
        "multiline_cells",
        "drop_missing",
        "sql",
        "database",
    )
)


class Pipeline:
    """One component a stage, ready to run on any data.

    Args:
        method: the preset to start from.
        allocate_budget: a component's name, a mapping of `use` and parameters, or a component.
        estimate_lambda: likewise.
        select_elements: likewise.
        construct_basis: likewise.
        reconstruct_counts: likewise.
        observers: objects with `stage_started` or `stage_finished` hooks.
        trust: distributions whose own queries may run although privmine cannot verify them.
    """

    def __init__(
        self,
        method: str = DEFAULT_METHOD,
        *,
        allocate_budget: Any = None,
        estimate_lambda: Any = None,
        select_elements: Any = None,
        construct_basis: Any = None,
        reconstruct_counts: Any = None,
        observers: Iterable[object] = (),
        trust: Iterable[str] = (),
    ) -> None:
        chosen = dict(
            zip(
                STAGES,
                (allocate_budget, estimate_lambda, select_elements, construct_basis, reconstruct_counts),
                strict=True,
            )
        )
        preset = registry().preset(method).stages
        self.method = method
        self.parts = {stage: _part(stage, chosen[stage], preset.get(stage)) for stage in STAGES}
        self.trust = frozenset(canonical(name) for name in ([trust] if isinstance(trust, str) else trust))
        # Here, not in a run: a component that does not fit its hook is known before there is any data.
        self._stages = stage_manager(self.parts.values())
        self._observers = observer_manager(observers)

    @classmethod
    def from_file(cls, path: str | Path, **options: Any) -> Pipeline:
        """Read a pipeline from a TOML file with `method` and tables `[stages.STAGE]`."""
        return cls.from_spec(read_spec(path), **options)

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any], **options: Any) -> Pipeline:
        """Make a pipeline from what a TOML file holds."""
        return cls(spec.get("method", DEFAULT_METHOD), **spec.get("stages", {}), **options)

    def __repr__(self) -> str:
        parts = ", ".join(f"{stage}={text}" for stage, text in self.describe().items())
        return f"Pipeline({parts})"

    def describe(self) -> dict[str, str]:
        """For each stage the component with its parameters and its distribution, as the receipt lists them."""
        return {stage: _description(part) for stage, part in self.parts.items()}

    def run(
        self,
        baskets: Any,
        k: int,
        epsilon: Any,
        *,
        max_length: int | None = None,
        n_public: bool = False,
        strict: bool = False,
        simulate: bool = False,
        seed: int | None = None,
        ledger: Ledger | str | Path | None = None,
        dataset: str | None = None,
        output: str | Path | None = None,
        overwrite: bool = False,
        downward_closed: bool = False,
        noise: NoiseSource | None = None,
    ) -> Release:
        """Release the k most frequent itemsets for a budget of ε.

        Args:
            baskets: a `Transactions`, or an iterable of collections of labels.
            k: how many itemsets.
            epsilon: the privacy budget; a decimal text or a fraction is taken exactly.
            max_length: the longest itemset to release.
            n_public: publish the exact number of transactions, at the price that the receipt states.
            strict: refuse data whose item universe or layout was taken from the data itself.
            simulate: use fast seeded noise that protects nobody, for research.
            seed: makes a simulation repeatable.
            ledger: the ledger to charge, or its path.
            dataset: under which name the ledger keeps the budget of this data.
            output: a file to save the release to; checked before anything is charged. One that exists is refused,
                since it may be an earlier release that was paid for.
            overwrite: replace the output file if it exists.
            downward_closed: release only itemsets of which every subset is released as well, as rules need it.
            noise: a source of noise of your own.
        """
        wish = Wish(
            k,
            epsilon,
            max_length=max_length,
            n_public=n_public,
            strict=strict,
            simulate=simulate,
            seed=seed,
            ledger=ledger,
            dataset=dataset,
            output=output,
            overwrite=overwrite,
            downward_closed=downward_closed,
            noise=noise,
        )
        if not isinstance(baskets, Transactions):
            wish.check(Unit(), universe_given=False)
            baskets = Transactions.from_lists(baskets)
        return self.fulfil(wish, baskets)

    def fulfil(self, wish: Wish, transactions: Transactions) -> Release:
        """Release what is wished for, as `run` does."""
        request = wish.request(transactions)
        source = wish.source()
        run = self.prepare(request)
        plan = run.plan()
        try:
            with ledger_charge(wish.ledger, wish.dataset, request, transactions, self._note(request)) as charge:
                run.held = Fraction(0) if charge is None else charge.epsilon
                basis, counts = run.execute(plan, transactions.store, source, self._trusts)
                receipt = self._receipt(run, basis, source, transactions.store, charge)
                release = _release(request, counts, receipt, wish.downward_closed, self.parts["reconstruct_counts"])
                if wish.output is not None:
                    _save(release, wish.output)
        except RunInterrupted:
            raise
        except KeyboardInterrupt:
            raise RunInterrupted(run.charged) from None
        return release

    def prepare(self, request: Request, **options: Any) -> Run:
        """A run of this pipeline that has not begun; `Run.plan` tells its shares without any data."""
        return Run(self.parts, self._stages, self._observers, request, **options)

    def _receipt(
        self, run: Run, basis: BasisSet, source: NoiseSource, store: Store, charge: LedgerCharge | None
    ) -> Receipt:
        request = run.request
        return Receipt(
            epsilon=request.epsilon,
            definition=PureDP.name,
            protects=protects(request, source),
            noise=str(source.name),
            private=source.private,
            charges=(*run.meter.charges, *_unspent(run)),
            pipeline=self.describe(),
            assumptions=_assumptions(request, source, store),
            notes=(*_what_may_be_missing(basis, request), *basis.notes),
            dataset=None if charge is None else charge.dataset,
            version=own_version(),
            n_public=request.public.n is not None,
            entry=None if charge is None else charge.id,
            unit=request.public.unit,
        )

    def _trusts(self, cls: type) -> bool:
        return canonical(distribution_of(cls)) in self.trust

    def _note(self, request: Request) -> str:
        return f"{self.method}, k = {request.requested}{_whose(request.public.unit)}"


def mine(baskets: Any, k: int, epsilon: Any, *, method: str = DEFAULT_METHOD, **options: Any) -> Release:
    """Release the k most frequent itemsets of the baskets for a budget of ε, by a method known by name.

    All further options are those of `Pipeline.run`. How data is read is for `privmine.read` to say.
    """
    misplaced = [name for name in options if name in READING_OPTIONS]
    if misplaced:
        given = ", ".join(f"{name}=…" for name in misplaced)
        raise InputError(
            f"{misplaced[0]}= says how data is read, and pm.mine does not read data. Read it first: "
            f"pm.mine(pm.read(data, {given}), k=…, epsilon=…)."
        )
    return Pipeline(method).run(baskets, k, epsilon, **options)


def protects(request: Request, source: NoiseSource) -> str:
    """Who is protected and in which sense, as the receipt says it; by simulated noise nobody is."""
    unit = request.public.unit
    what, other = ("it", "another") if unit.is_transaction else (f"all that one {unit.name} has", "all of another")
    change = (
        f"adding or removing {what}"
        if request.public.n is None
        else f"as the number of transactions is published, replacing {what} by {other}"
    )
    if unit.is_transaction:
        who = "one transaction, not one customer"
    elif unit.merged:
        who = f"one {unit.name}, whose transactions were merged into one"
    else:
        who = f"one {unit.name}, of whose transactions at most {unit.baskets} are counted"
    if not source.private:
        return f"nobody: the noise is simulated; a private run would protect {who}"
    return f"{who}: {change} changes the probability of any outcome by a factor of at most e^ε"


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
    if basis.width > 1 and request.max_length != 1:
        limits.append(f"within one of the {basis.width:,} bases")
    return [f"only itemsets {' and '.join(limits)} can be listed; others may be as frequent"] if limits else []


def _whose(unit: Unit) -> str:
    """What was done to the transactions of a unit, for the ledger's log."""
    if unit.is_transaction:
        return ""
    if unit.merged:
        return f", merged by {unit.name}"
    return f", at most {unit.baskets} transaction{'' if unit.baskets == 1 else 's'} a {unit.name}"


def _unspent(run: Run) -> list[Charge]:
    """What the components left of ε: the run cost it all the same, and charges sum to what a receipt states."""
    rest, last = run.request.epsilon - run.meter.spent, run.parts["reconstruct_counts"]
    return [Charge(last.stage, last.name, "nothing", UNSPENT, rest)] if rest else []


#: Where the noise and the stores are defined that privmine vouches for. Audits and the test kit have others.
_OWN_NOISE = frozenset({"privmine.noise.secure"})
_OWN_STORES = frozenset({"privmine.store.memory", "privmine.datasets.repeated"})


def _assumptions(request: Request, source: NoiseSource, store: Store) -> list[str]:
    sentences = []
    if not request.public.universe.given:
        sentences.append(
            "the item universe was taken from the data and is treated as public, "
            "so that an item which occurs at all is not protected"
        )
    if request.public.origin.guessed:
        sentences.append(
            f"how the data is laid out was guessed ({request.public.origin.guess}), perhaps by looking at it, "
            "and is treated as public"
        )
    sentences += request.public.origin.assumes
    if request.public.n is not None:
        sentences.append(f"the number of transactions, {request.public.n:,}, is public")
    if not source.private:
        sentences.append("simulated noise: this result must not be released")
    elif type(source).__module__ not in _OWN_NOISE:
        sentences.append("the source of noise is not privmine's own, and is taken at its word")
    if type(store).__module__ not in _OWN_STORES:
        sentences.append(
            "the counting store is not privmine's own; privmine relies on it to clip contributions and to limit the "
            "transactions of each unit"
        )
    return sentences


def _release(request: Request, counts: NoisyCounts, receipt: Receipt, downward_closed: bool, part: Part) -> Release:
    """The k largest counts under their labels, with frequencies and the laws of their noise."""
    total, total_error, total_law = counts.total, counts.total_error, counts.total_law
    if request.public.n is not None:
        total, total_error, total_law = float(request.public.n), 0.0, None
    total = max(total, 1.0)
    longest = request.max_length
    rows = closed_top(counts, request.k, longest) if downward_closed else counts.top(request.k, longest)
    known = len(counts.law_of) > 0
    used = sorted({int(counts.law_of[row]) for row in rows if known})
    kept, unusable = _kept_laws([*(counts.laws[number] for number in used), total_law], part)
    laws = dict(zip(used, kept[:-1], strict=True))
    itemsets = [
        FrequentItemset(
            request.public.universe.named(counts.itemsets[row]),
            float(counts.counts[row]),
            min(max(float(counts.counts[row]) / total, 0.0), 1.0),
            float(counts.standard_errors[row]),
            laws[int(counts.law_of[row])] if known else None,
        )
        for row in rows
    ]
    notes = [*unusable, CLOSED] if downward_closed else unusable
    receipt = attrs.evolve(receipt, notes=(*receipt.notes, *notes))
    return Release(tuple(itemsets), request.requested, total, total_error, receipt, kept[-1])


def _kept_laws(laws: Iterable[NoiseLaw | None], part: Part) -> tuple[list[KeptLaw | None], list[str]]:
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


def _save(release: Release, target: Path) -> None:
    """Save what is paid for; if that fails, hand it over with the error."""
    try:
        release.save(target)
    except (OSError, PrivmineError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UnsavedReleaseError(
            f"The release is made and charged, but {target} could not be written: {reason.rstrip('.')}.", release
        ) from error


def _part(stage: str, choice: Any, preset: Any) -> Part:
    """Make the component of a stage from what the user chose, else from the preset."""
    if choice is None:
        choice = preset
    if choice is None:
        raise InputError(f"No component was chosen for {stage}, and the method has none for it.")
    known = registry()
    if isinstance(choice, str):
        choice = {"use": choice}
    if isinstance(choice, Mapping):
        parameters = dict(choice)
        name = parameters.pop("use", None)
        if name is not None and not isinstance(name, str):
            raise InputError(f"The component to use for {stage} is given by its name, not by {name!r}.")
        if name is None:
            name, defaults = _preset_choice(stage, preset)
            parameters = {**defaults, **parameters}
        component = build(known.find(stage, name), parameters)
        return Part(stage, component, name, known.distribution_of(component))
    if isinstance(choice, type):
        raise InputError(f"{stage} needs a component, not the class {choice.__name__}; write {choice.__name__}().")
    return Part(stage, choice, known.name_of(stage, choice), known.distribution_of(choice))


def _preset_choice(stage: str, preset: Any) -> tuple[str, dict[str, Any]]:
    if preset is None:
        raise InputError(f"Parameters were given for {stage}, but no component: add use = NAME.")
    if isinstance(preset, str):
        return preset, {}
    parameters = dict(preset)
    return parameters.pop("use"), parameters


def _description(part: Part) -> str:
    parameters = ""
    if attrs.has(type(part.component)):
        values = attrs.asdict(part.component, recurse=False)
        parameters = ", ".join(f"{name}={_plain(value)}" for name, value in values.items())
    return f"{part.name}({parameters}) from {part.distribution}"


def _plain(value: Any) -> str:
    return str(value) if isinstance(value, Fraction) else repr(value)
