"""What is asked of a run, checked before any data is read.

`Wish` holds all that no data decides. Making one refuses wrong values and combinations; `check` refuses what the
files of a ledger and an output decide, and who is protected; `request` adds what the data decides.
"""

from __future__ import annotations

from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

from attrs import field, frozen
from attrs.converters import optional

from privmine.curator import check_source
from privmine.errors import InputError
from privmine.exact import amount, exact, whole_number
from privmine.ledger import Ledger
from privmine.ledger.checks import delta_amount
from privmine.ledger.entries import DatasetBudget
from privmine.model import Above, Origin, Public, Request
from privmine.noise.protocol import NoiseSource
from privmine.privacy.cost import Cost
from privmine.privacy.definition import ZCDP, Definition, PureDP
from privmine.privacy.rare_items import SHARE_OF_DELTA
from privmine.privacy.unit import Unit
from privmine.queries.ranks import FINEST_FREQUENCY
from privmine.release.release_files import check_output
from privmine.store.transactions import Transactions

#: Beyond these, noise is all there is, or protects nobody; they also keep the samplers' scales in range.
SMALLEST_EPSILON = Fraction(1, 10**6)
LARGEST_EPSILON = Fraction(10**4)
#: A smaller δ is 0 in floating point, in which files state it and the threshold for private items is computed.
SMALLEST_DELTA = Fraction(1, 10**300)
#: The work of selecting and covering grows faster than k².
LARGEST_K = 10_000


def number_of_itemsets(value: Any, what: str = "k, the number of itemsets,") -> int:
    """Refuse what is not a number of itemsets that a run would take."""
    k = whole_number(value, what)
    if k > LARGEST_K:
        name, _, _ = what.partition(",")
        raise InputError(f"{name} must be at most {LARGEST_K:,}. More itemsets would be mostly noise.")
    return k


def budget_of(value: Any) -> Fraction:
    """The ε of a run as an exact number; refuse what is too small, too large or none."""
    if value is None:
        raise InputError("Specify the privacy budget: epsilon=, for example epsilon=1.")
    epsilon = exact(value, "ε")
    if epsilon <= 0:
        raise InputError("ε must be greater than 0. Choose a privacy budget, for example epsilon=1.")
    if not SMALLEST_EPSILON <= epsilon <= LARGEST_EPSILON:
        raise InputError(
            f"ε must lie between {amount(SMALLEST_EPSILON)} and {amount(LARGEST_EPSILON)}. "
            "A smaller ε gives only noise, and a larger one protects nobody."
        )
    return epsilon


def _delta(value: Any) -> Fraction | None:
    delta = delta_amount(value, "δ")
    if delta is not None and delta < SMALLEST_DELTA:
        raise InputError(
            "δ is too small: below 1e-300 programs would take it for 0, which it is not. Choose a larger one, for "
            "example delta=1e-6."
        )
    return delta


def definition_at(delta: Fraction | None, *, private_items: bool = False) -> Definition:
    """The definition of privacy that budgets are counted in: pure ε, or zCDP where a δ is given."""
    if delta is None:
        return PureDP()
    return ZCDP(delta, SHARE_OF_DELTA * delta if private_items else Fraction(0))


def frequency_of(value: Any) -> Fraction:
    """A frequency as an exact number; refuse what is none."""
    theta = exact(value, "theta=, the frequency of itemsets,")
    if not 0 < theta <= 1:
        raise InputError(f"theta= must be more than 0 and at most 1, for example theta=0.01, not {value!r}.")
    if theta.denominator > FINEST_FREQUENCY:
        raise InputError("theta= has too many digits. Write a frequency such as 0.01 or 1/3.")
    return theta


def _most_itemsets(value: Any) -> int:
    return number_of_itemsets(value, "k_max=, the largest number of itemsets,")


def _length(value: Any) -> int:
    return whole_number(value, "max_length=")


def _ledger(value: Any) -> Ledger:
    if isinstance(value, Ledger):
        return value
    if not isinstance(value, str | PathLike):
        raise InputError(f"ledger= takes a Ledger or the path of one, not {type(value).__name__}.")
    return Ledger(value)


@frozen(eq=False)
class Wish:
    """What a user asks of a run, apart from the data. A wish that no data could grant is refused when it is made.

    Attributes:
        k: how many itemsets to release; None where a frequency is given instead.
        epsilon: the ε that the release may have.
        delta: the δ that it may have beside it; None for pure ε.
        theta: the frequency that itemsets must have, instead of k.
        k_max: how many itemsets of that frequency there can be at most.
        max_length: the longest itemset to release, or None.
        n_public: whether to publish the exact number of transactions.
        strict: whether to refuse data whose item universe or layout was taken from the data itself.
        simulate: whether to use seeded noise that protects nobody.
        seed: makes a simulation repeatable.
        ledger: the ledger to charge, or None.
        dataset: the name of the data in the ledger.
        account: the account of that dataset that pays, or None for the dataset itself.
        part: the part of the dataset's people whose rows alone are released, or None for all.
        output: the file to save the release to, or None.
        overwrite: whether to replace that file if it exists.
        plain: whether to write rows alone to it, and the receipt into a file beside it.
        downward_closed: whether to release only itemsets of which every subset is released as well.
        noise: the user's own source of noise, or None.
    """

    k: int | None = field(converter=optional(number_of_itemsets))
    epsilon: Fraction = field(converter=budget_of)
    delta: Fraction | None = field(default=None, converter=_delta, kw_only=True)
    theta: Fraction | None = field(default=None, converter=optional(frequency_of), kw_only=True)
    k_max: int | None = field(default=None, converter=optional(_most_itemsets), kw_only=True)
    max_length: int | None = field(default=None, converter=optional(_length), kw_only=True)
    n_public: bool = field(default=False, kw_only=True)
    strict: bool = field(default=False, kw_only=True)
    simulate: bool = field(default=False, kw_only=True)
    seed: int | None = field(default=None, kw_only=True)
    ledger: Ledger | None = field(default=None, converter=optional(_ledger), kw_only=True)
    dataset: str | None = field(default=None, kw_only=True)
    account: str | None = field(default=None, kw_only=True)
    part: str | None = field(default=None, kw_only=True)
    output: Path | None = field(default=None, converter=optional(Path), kw_only=True)
    overwrite: bool = field(default=False, kw_only=True)
    plain: bool = field(default=False, kw_only=True)
    downward_closed: bool = field(default=False, kw_only=True)
    noise: NoiseSource | None = field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        self._check_number()
        self._check_noise()
        self._check_account()

    def _check_number(self) -> None:
        if self.theta is None and self.k is None:
            raise InputError("Specify how many itemsets to release: k=, for example k=100. Or a frequency: theta=.")
        if self.theta is not None and self.k is not None:
            raise InputError("k= and theta= are two ways to say what to release. Drop one of them.")
        if self.theta is None and self.k_max is not None:
            raise InputError("k_max= goes with theta=, the frequency of itemsets. Pass k= for a number of itemsets.")
        if self.theta is not None and self.k_max is None:
            raise InputError(
                "With theta=, say how many itemsets there can be at most: k_max=, for example k_max=500. "
                "This limit is public, since the true number is private."
            )

    def _check_noise(self) -> None:
        if self.noise is not None and (self.simulate or self.seed is not None):
            raise InputError("Pass either a noise source, or simulate and a seed, not both.")
        if self.noise is not None:
            check_source(self.noise, definition_at(self.delta))
        if self.seed is None:
            return
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise InputError(f"A seed must be a whole number of at least 0, not {self.seed!r}.")
        if not self.simulate:
            raise InputError(
                "A seed makes noise predictable, so it is allowed only in a simulation. Add simulate=True."
            )

    def _check_account(self) -> None:
        if self.ledger is None:
            if self.dataset is not None:
                raise InputError("A dataset's name is only used with a ledger. Pass ledger= as well, or drop dataset=.")
            if self.account is not None or self.part is not None:
                raise InputError(
                    "account= and part= belong to a dataset in a ledger. Pass ledger= and dataset= as well."
                )
            return
        if self.dataset is None:
            raise InputError("A ledger keeps one budget for each dataset. Pass dataset= as well.")
        if not self.is_private:
            raise InputError(
                "A simulated run protects nobody and is never charged. Drop the ledger, or do not simulate."
            )
        if self.n_public:
            raise InputError(
                "A ledger counts ε for adding or removing a transaction. If the number of "
                "transactions is published, the guarantee is a different one, and the two do not add "
                "up. Drop n_public, or the ledger."
            )

    def budget(self, *, private_items: bool = False) -> Cost:
        """What the run may cost; where items are private, a part of δ is for finding them."""
        return definition_at(self.delta, private_items=private_items).budget(self.epsilon)

    @property
    def is_private(self) -> bool:
        """Whether the noise protects anybody."""
        return not self.simulate if self.noise is None else self.noise.private

    def source(self) -> NoiseSource:
        """The source of noise that was asked for."""
        if self.noise is not None:
            return self.noise
        if self.simulate:
            from privmine.noise.simulated import SimulatedNoise

            return SimulatedNoise(self.seed)
        from privmine.noise.secure import SecureNoise

        return SecureNoise()

    def check(self, unit: Unit, *, universe_given: bool, private_items: bool = False) -> None:
        """Refuse what would be refused anyway once the data is read. Nothing is charged or written.

        Args:
            unit: who is protected.
            universe_given: whether the user names the item universe.
            private_items: whether which items occur is private.
        """
        if private_items and self.delta is None:
            raise InputError(
                "items='private' needs a δ: whoever sees the name of an item learns that it occurs, and only a δ "
                "allows that with a small probability. Pass delta=, for example delta=1e-6."
            )
        if self.strict and not (universe_given or private_items):
            raise InputError(
                "Strict mode: no item universe is given, so it would be taken from the data, which "
                "publishes which items occur. Name the universe: items=. Or keep it private: items='private'."
            )
        if self.n_public and unit.baskets > 1:
            raise InputError(
                f"With up to {unit.baskets} transactions for each {unit.name}, replacing one "
                f"{unit.name} by another changes the number of transactions, so the guarantee does "
                "not cover publishing it. Drop n_public, or merge the transactions of each with "
                "merge_by=."
            )
        self.left(unit, private_items=private_items)
        if self.output is not None:
            check_output(self.output, self.overwrite, plain=self.plain)

    def check_origin(self, origin: Origin, guess: str = "") -> None:
        """Refuse data by how it is read, which is known before its rows are.

        Args:
            origin: how it is read.
            guess: what was detected, in the words of whoever asks; by default those of Python.
        """
        if self.strict and origin.guessed:
            raise InputError(
                "Strict mode: the layout was detected, perhaps by looking at the data. Specify what was detected: "
                f"{guess or f'pm.read(…, {origin.guess})'}."
            )

    def left(self, unit: Unit, source: str = "", *, private_items: bool = False) -> DatasetBudget | None:
        """The budget as a charge would leave it, None without a ledger; a charge that it does not cover is refused.

        Args:
            unit: who is protected.
            source: where the data comes from, if it is known; another one than before gives the ledger's warning.
            private_items: whether which items occur is private.
        """
        if self.ledger is None or self.dataset is None:
            return None
        return self.ledger.check(
            self.dataset,
            **self.budget(private_items=private_items).price(),
            unit=unit.name,
            source=source,
            account=self.account,
            part=self.part,
        )

    def transactions(self, baskets: Any) -> Transactions:
        """The data: transactions as they are, or made of collections of labels, unless the wish is refused first."""
        if isinstance(baskets, Transactions):
            return baskets
        self.check(Unit(), universe_given=False)
        return Transactions.from_lists(baskets)

    def request(self, transactions: Transactions) -> Request:
        """What is asked of these transactions; nothing has been spent yet."""
        universe, origin = transactions.universe, transactions.origin
        self.check(transactions.unit, universe_given=universe.given, private_items=universe.private)
        if not len(universe) and not (universe.given or universe.private):
            # A universe that is taken from the data is public already, so that this tells nothing more.
            raise InputError(
                "The data has no items, so there is nothing to release. Check the file, its columns "
                "or the query, or name the item universe: items=."
            )
        self.check_origin(origin)
        asked = self.k or self.k_max
        assert asked is not None
        return Request(
            # Of private items it is not known yet how many there are.
            k=asked if universe.private else min(asked, universe.itemset_count(self.max_length)),
            requested=asked,
            budget=self.budget(private_items=universe.private),
            public=Public(
                universe,
                transactions.unit,
                n=transactions.store.count() if self.n_public else None,
                origin=origin,
            ),
            max_length=self.max_length,
            above=None if self.theta is None else Above(self.theta, asked),
        )
