"""A pipeline: one component for each stage, chosen by name or given as an object."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs

from privmine.account import ledger_charge
from privmine.errors import InputError, PrivmineError, RunInterrupted, UnsavedReleaseError
from privmine.ledger import Ledger
from privmine.model import STAGES, BasisSet, NoisyCounts, Public, Request, exact
from privmine.noise.protocol import NoiseSource
from privmine.privacy import PureDP, Receipt, amount
from privmine.registry import build, canonical, distribution_of, own_version, registry
from privmine.release import FrequentItemset, Release
from privmine.release.files import check_output
from privmine.run import Part, Run, observer_manager, stage_manager
from privmine.spec import read_spec
from privmine.store.transactions import Transactions

DEFAULT_METHOD = "privbasis"
#: Beyond these, noise is all there is, or protects nobody; they also keep the samplers' scales in range.
SMALLEST_EPSILON = Fraction(1, 10**6)
LARGEST_EPSILON = Fraction(10**4)
#: The work of selecting and covering grows faster than k².
LARGEST_K = 10_000


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
        noise: NoiseSource | None = None,
    ) -> Release:
        """Release the k most frequent itemsets for a budget of ε.

        Args:
            baskets: a `Transactions`, or an iterable of collections of labels.
            k: how many itemsets.
            epsilon: the privacy budget; a decimal text or a fraction is taken exactly.
            max_length: the longest itemset to release.
            n_public: publish the exact number of transactions, at the price that the receipt states.
            strict: refuse data whose item universe was taken from the data itself.
            simulate: use fast seeded noise that protects nobody, for research.
            seed: makes a simulation repeatable.
            ledger: the ledger to charge, or its path.
            dataset: under which name the ledger keeps the budget of this data.
            output: a file to save the release to; checked before anything is charged.
            noise: a source of noise of your own.
        """
        transactions = baskets if isinstance(baskets, Transactions) else Transactions.from_lists(baskets)
        request = make_request(transactions, k, epsilon, max_length, n_public)
        source = noise_source(noise, simulate, seed)
        check_conditions(request, source, strict, ledger, dataset)
        target = check_output(output) if output is not None else None
        run = self.prepare(request)
        plan = run.plan()
        try:
            with ledger_charge(ledger, dataset, request, transactions, self._note(request)) as held:
                run.held = held
                basis, counts = run.execute(plan, transactions.store, source, self._trusts)
                release = _release(request, counts, self._receipt(run, basis, source, dataset))
                if target is not None:
                    _save(release, target)
        except RunInterrupted:
            raise
        except KeyboardInterrupt:
            raise RunInterrupted(run.charged) from None
        return release

    def prepare(self, request: Request, **options: Any) -> Run:
        """A run of this pipeline that has not begun; `Run.plan` tells its shares without any data."""
        return Run(self.parts, self._stages, self._observers, request, **options)

    def _receipt(self, run: Run, basis: BasisSet, source: NoiseSource, dataset: str | None) -> Receipt:
        request = run.request
        return Receipt(
            epsilon=request.epsilon,
            definition=PureDP.name,
            protects=_protects(request),
            noise=source.name,
            private=source.private,
            charges=run.meter.charges,
            pipeline=self.describe(),
            assumptions=(*_assumptions(request, source), *basis.notes),
            dataset=dataset,
            version=own_version(),
            n_public=request.public.n is not None,
        )

    def _trusts(self, cls: type) -> bool:
        return canonical(distribution_of(cls)) in self.trust

    def _note(self, request: Request) -> str:
        return f"{self.method}, k = {request.requested}"


def mine(baskets: Any, k: int, epsilon: Any, *, method: str = DEFAULT_METHOD, **options: Any) -> Release:
    """Release the k most frequent itemsets of the baskets for a budget of ε, by a method known by name.

    All further options are those of `Pipeline.run`.
    """
    return Pipeline(method).run(baskets, k, epsilon, **options)


def make_request(
    transactions: Transactions, k: Any, epsilon: Any, max_length: Any = None, n_public: bool = False
) -> Request:
    """Check what was asked for; nothing has been spent yet."""
    requested = _whole(k, "k, the number of itemsets,")
    if requested > LARGEST_K:
        raise InputError(f"k must be at most {LARGEST_K:,}; so many itemsets would be noise, and take for ever.")
    budget = exact(epsilon, "ε")
    if budget <= 0:
        raise InputError("ε must be greater than 0.")
    if not SMALLEST_EPSILON <= budget <= LARGEST_EPSILON:
        raise InputError(
            f"ε must lie between {amount(SMALLEST_EPSILON)} and {amount(LARGEST_EPSILON)}; "
            "below it everything is noise, above it nothing is protected."
        )
    longest = None if max_length is None else _whole(max_length, "max_length")
    public = Public(transactions.universe, n=transactions.store.count() if n_public else None)
    return Request(
        k=min(requested, public.universe.itemset_count(longest)),
        requested=requested,
        epsilon=budget,
        public=public,
        max_length=longest,
    )


def _whole(value: Any, what: str) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{what} must be a whole number, not {value!r}.") from None
    if isinstance(value, bool) or number < 1:
        raise InputError(f"{what} must be at least 1, not {value!r}.")
    return number


def check_conditions(
    request: Request, source: NoiseSource, strict: bool, ledger: object | None, dataset: str | None
) -> None:
    """Refuse combinations that make no sense or no promise; nothing has been spent yet."""
    if strict and not request.public.universe.given:
        raise InputError(
            "Strict mode: the item universe was taken from the data, which publishes what items occur. "
            "Name the universe: items= in Python, --items FILE on the command line."
        )
    if ledger is None and dataset is not None:
        raise InputError("A dataset's name is for a ledger; pass ledger= (--ledger FILE) as well, or drop it.")
    if ledger is None:
        return
    if dataset is None:
        raise InputError("A ledger keeps one budget for each dataset; pass dataset= (--dataset NAME) as well.")
    if not source.private:
        raise InputError("A simulated run protects nobody and is never charged; drop the ledger, or do not simulate.")
    if request.public.n is not None:
        raise InputError(
            "A ledger counts ε for adding or removing a transaction; with the number of transactions published "
            "the guarantee is another one, and the two do not add up. Drop n_public (--n-public), or the ledger."
        )


def noise_source(noise: NoiseSource | None, simulate: bool, seed: int | None) -> NoiseSource:
    """The source of noise that was asked for."""
    if noise is not None:
        if simulate or seed is not None:
            raise InputError("Pass either a noise source, or simulate and a seed, not both.")
        return noise
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise InputError(f"A seed must be a whole number of at least 0, not {seed!r}.")
    if simulate:
        from privmine.noise.simulated import SimulatedNoise

        return SimulatedNoise(seed)
    if seed is not None:
        raise InputError(
            "A seed makes noise predictable, so it is taken only in simulation: add simulate=True (--simulate)."
        )
    from privmine.noise.secure import SecureNoise

    return SecureNoise()


def _protects(request: Request) -> str:
    change = (
        "adding or removing it"
        if request.public.n is None
        else "as the number of transactions is published, replacing it by another"
    )
    return (
        f"one {request.public.unit}, not one customer: {change} changes the probability "
        "of any outcome by a factor of at most e^ε"
    )


def _assumptions(request: Request, source: NoiseSource) -> list[str]:
    sentences = []
    if not request.public.universe.given:
        sentences.append(
            "the item universe was taken from the data and is treated as public, "
            "so that an item which occurs at all is not protected"
        )
    if request.public.n is not None:
        sentences.append(f"the number of transactions, {request.public.n:,}, is public")
    if not source.private:
        sentences.append("simulated noise: this result must not be released")
    elif not type(source).__module__.startswith("privmine."):
        sentences.append("the source of noise is not privmine's own, and is taken at its word")
    return sentences


def _release(request: Request, counts: NoisyCounts, receipt: Receipt) -> Release:
    """The k largest counts under their labels, with frequencies."""
    total, total_error = (
        (counts.total, counts.total_error) if request.public.n is None else (float(request.public.n), 0.0)
    )
    total = max(total, 1.0)
    itemsets = [
        FrequentItemset(
            request.public.universe.named(counts.itemsets[row]),
            float(counts.counts[row]),
            min(max(float(counts.counts[row]) / total, 0.0), 1.0),
            float(counts.standard_errors[row]),
        )
        for row in counts.top(request.k, request.max_length)
    ]
    return Release(tuple(itemsets), request.requested, total, total_error, receipt)


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
