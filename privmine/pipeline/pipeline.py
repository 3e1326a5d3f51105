"""A pipeline: one component for each stage, chosen by name or given as an object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from attrs import frozen
from pluggy import PluginManager

from privmine.errors import InputError, RunInterrupted
from privmine.hooks.entry_points import canonical
from privmine.hooks.registry import distribution_of
from privmine.ledger import Ledger
from privmine.model import STAGES, Request
from privmine.noise.protocol import NoiseSource
from privmine.option_names import READING_OPTIONS
from privmine.pipeline.charging import ledger_charge
from privmine.pipeline.choice import chosen_components, description_of
from privmine.pipeline.dry_run import DryRun
from privmine.pipeline.request import Wish
from privmine.pipeline.result import for_a_part, receipt_of, release_of, save_release
from privmine.pipeline.run import Run, StageComponent, make_ready, observer_manager, stage_manager
from privmine.pipeline.settings import check_keys, check_spec, read_spec
from privmine.release import Release
from privmine.store.transactions import Transactions

DEFAULT_METHOD = "privbasis"


@frozen(init=False, eq=False, repr=False, slots=False)
class Pipeline:
    """One component a stage, ready to run on any data.

    Args:
        method: the preset to start from.
        allocate_budget: a component's name, a mapping of `use` and parameters, or a component.
        estimate_lambda: likewise.
        select_elements: likewise.
        construct_basis: likewise.
        reconstruct_counts: likewise.
        trust: distributions whose own queries may run although privmine cannot verify them.
    """

    method: str
    trust: frozenset[str]
    _components: tuple[StageComponent, ...]
    _stages: PluginManager

    def __init__(
        self,
        method: str = DEFAULT_METHOD,
        *,
        allocate_budget: Any = None,
        estimate_lambda: Any = None,
        select_elements: Any = None,
        construct_basis: Any = None,
        reconstruct_counts: Any = None,
        trust: Iterable[str] = (),
    ) -> None:
        if not isinstance(method, str):
            raise InputError(
                f"method= is the name of a method, not {type(method).__name__}. A Pipeline is run by itself: "
                "pipeline.run(baskets, k=100, epsilon=1)."
            )
        choices = (allocate_budget, estimate_lambda, select_elements, construct_basis, reconstruct_counts)
        components = chosen_components(method, dict(zip(STAGES, choices, strict=True)))
        trusted = frozenset(canonical(name) for name in ([trust] if isinstance(trust, str) else trust))
        # Here, not in a run: a component that does not fit its hook is known before there is any data.
        self.__attrs_init__(method, trusted, components, stage_manager(components))

    @classmethod
    def from_file(cls, path: str | Path, **options: Any) -> Pipeline:
        """Read a pipeline from a TOML file with `method` and tables `[stages.STAGE]`."""
        return cls.from_spec(read_spec(path), **options)

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any], **options: Any) -> Pipeline:
        """Make a pipeline from what a TOML file holds: a mapping with `method` and `stages`."""
        if not isinstance(spec, Mapping):
            raise InputError(f"What a pipeline file holds is a mapping with method and stages, not {spec!r}.")
        check_keys(spec)
        check_spec(spec, "the pipeline")
        return cls(spec.get("method", DEFAULT_METHOD), **spec.get("stages", {}), **options)

    def __repr__(self) -> str:
        parts = ", ".join(f"{stage}={text}" for stage, text in self.describe().items())
        return f"Pipeline({parts})"

    @property
    def parts(self) -> dict[str, StageComponent]:
        """The components by stage."""
        return {part.stage: part for part in self._components}

    def with_parts(self, parts: Mapping[str, StageComponent]) -> Self:
        """A pipeline of the same class with other components in their places."""
        components = tuple(parts[stage] for stage in STAGES)
        changed = copy(self)
        changed.__attrs_init__(self.method, self.trust, components, stage_manager(components))
        return changed

    def trusting(self, distributions: Iterable[str]) -> Self:
        """A pipeline of the same class that also lets the queries of these distributions run."""
        changed = copy(self)
        trust = self.trust | {canonical(name) for name in distributions}
        changed.__attrs_init__(self.method, trust, self._components, self._stages)
        return changed

    def describe(self) -> dict[str, str]:
        """For each stage the component with its parameters and its distribution, as the receipt lists them."""
        return {stage: description_of(part) for stage, part in self.parts.items()}

    def run(
        self,
        baskets: Any,
        k: int | None = None,
        epsilon: Any = None,
        *,
        delta: Any = None,
        theta: Any = None,
        k_max: int | None = None,
        max_length: int | None = None,
        n_public: bool = False,
        strict: bool = False,
        simulate: bool = False,
        seed: int | None = None,
        ledger: Ledger | str | Path | None = None,
        dataset: str | None = None,
        account: str | None = None,
        part: str | None = None,
        output: str | Path | None = None,
        overwrite: bool = False,
        plain: bool = False,
        downward_closed: bool = False,
        noise: NoiseSource | None = None,
        observers: Iterable[object] = (),
    ) -> Release:
        """Release the k most frequent itemsets for a budget of ε.

        Args:
            baskets: a `Transactions`, or an iterable of collections of labels.
            k: how many itemsets; None where a frequency is given.
            epsilon: the privacy budget; a decimal text or a fraction is taken exactly.
            delta: the δ of (ε, δ)-differential privacy, for example 1e-6; left out, the guarantee is pure ε.
            theta: release the itemsets of at least this frequency, for example 0.01, instead of k of them.
            k_max: with `theta`, how many there can be at most: a public limit.
            max_length: the longest itemset to release.
            n_public: publish the exact number of transactions, at the price that the receipt states.
            strict: refuse data whose item universe or layout was taken from the data itself.
            simulate: use fast seeded noise that protects nobody, for research.
            seed: makes a simulation repeatable.
            ledger: the ledger to charge, or its path.
            dataset: under which name the ledger keeps the budget of this data.
            account: the account of that dataset that pays, from what it was granted.
            part: the part of the dataset's people, if the data is the rows of that part alone.
            output: a file to save the release to; checked before anything is charged. One that exists is refused,
                since it may be an earlier release that was paid for.
            overwrite: replace the output file if it exists.
            plain: write a .csv that any program opens as it is, with the receipt in a file beside it.
            downward_closed: release only itemsets of which every subset is released as well, as rules need it.
            noise: a source of noise of your own.
            observers: objects with `stage_started` or `stage_finished` hooks, for progress, timing and logging.
        """
        if getattr(noise, "outside_audit", False):
            raise InputError(
                "This source of noise belongs to an audit and protects nobody. Leave noise= out for a private release, "
                "or pass simulate=True for research."
            )
        wish = Wish(
            k,
            epsilon,
            delta=delta,
            theta=theta,
            k_max=k_max,
            max_length=max_length,
            n_public=n_public,
            strict=strict,
            simulate=simulate,
            seed=seed,
            ledger=ledger,
            dataset=dataset,
            account=account,
            part=part,
            output=output,
            overwrite=overwrite,
            plain=plain,
            downward_closed=downward_closed,
            noise=noise,
        )
        return self.fulfil(wish, wish.transactions(baskets), observers)

    def dry_run(self, baskets: Any, k: int | None = None, epsilon: Any = None, **options: Any) -> DryRun:
        """What `run` would do with the same arguments; nothing is drawn, charged or written.

        Raises:
            PrivmineError: the run would be refused.
        """
        wish = Wish(k, epsilon, **options)
        return self.preview(wish, wish.transactions(baskets))

    def preview(self, wish: Wish, transactions: Transactions) -> DryRun:
        """What would be done for a wish, as `dry_run` tells it."""
        request = wish.request(transactions)
        return DryRun.of(wish, request, self.prepare(request).plan(), self.describe())

    def fulfil(self, wish: Wish, transactions: Transactions, observers: Iterable[object] = ()) -> Release:
        """Release what is wished for, as `run` does."""
        request = wish.request(transactions)
        source = wish.source()
        run = self.prepare(request, observers)
        plan = run.plan()
        make_ready(transactions)
        time = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            with ledger_charge(
                wish.ledger, wish.dataset, request, self._note(request), wish.account, wish.part
            ) as charge:
                run.held = 0 if charge is None else request.budget
                basis, counts = run.execute(plan, transactions, source, self._trusts)
                receipt = receipt_of(run, basis, source, transactions.store, charge, self.describe(), time)
                receipt = for_a_part(receipt, wish.part)
                release = release_of(
                    run.request, counts, receipt, wish.downward_closed, self.parts["reconstruct_counts"]
                )
                if wish.output is not None:
                    save_release(release, wish.output, plain=wish.plain)
        except RunInterrupted:
            raise
        except KeyboardInterrupt:
            raise RunInterrupted(run.charged) from None
        return release

    def prepare(self, request: Request, observers: Iterable[object] = ()) -> Run:
        """A run of this pipeline that has not begun; `Run.plan` tells its shares without any data."""
        return Run(self.parts, self._stages, observer_manager(observers), request)

    def _trusts(self, cls: type) -> bool:
        return canonical(distribution_of(cls)) in self.trust

    def _note(self, request: Request) -> str:
        limit = request.public.unit.limit
        wanted = f"k = {request.requested}" if request.above is None else str(request.above)
        return f"{self.method}, {wanted}" + (f", {limit}" if limit else "")


def mine(
    baskets: Any, k: int | None = None, epsilon: Any = None, *, method: str = DEFAULT_METHOD, **options: Any
) -> Release:
    """Release the most frequent itemsets of the baskets for a budget of ε, by a method known by name.

    `min_support` is another name of `theta`.

    All further options are those of `Pipeline.run`. How data is read is for `privmine.read` to say.
    """
    misplaced = [name for name in options if name in READING_OPTIONS]
    if misplaced:
        given = ", ".join(f"{name}=…" for name in misplaced)
        raise InputError(
            f"{misplaced[0]}= says how data is read, and pm.mine does not read data. Read it first: "
            f"pm.mine(pm.read(data, {given}), k=…, epsilon=…)."
        )
    if "min_support" in options:
        if options.get("theta") is not None:
            raise InputError("min_support= and theta= mean the same. Drop one of them.")
        options["theta"] = options.pop("min_support")
    return Pipeline(method).run(baskets, k, epsilon, **options)
