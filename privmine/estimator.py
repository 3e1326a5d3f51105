"""Mining as an estimator: parameters first, data later, as scikit-learn's tools expect it.

scikit-learn is not imported and need not be there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from inspect import signature
from os import PathLike
from typing import Any

from attrs import evolve

from privmine.errors import InputError, UnknownNameError
from privmine.io.readers.dispatch import read_asked
from privmine.io.readers.options import ReadOptions
from privmine.ledger import Ledger
from privmine.ledger.storage import place_of
from privmine.option_names import READING_OPTIONS
from privmine.pipeline import DEFAULT_METHOD, Pipeline
from privmine.pipeline.request import Wish
from privmine.release import Release
from privmine.store.transactions import Transactions, is_private


class ItemsetMiner:
    """Releases the most frequent itemsets of the data that it is fitted to.

    Parameters are stored as they are and checked in `fit`. Every `fit` is a release of its own and spends ε
    again: whoever tries several parameters on the same data pays for each try.

    Args:
        k: how many itemsets to release.
        epsilon: the privacy budget ε of one `fit`; there is no default for it.
        delta: the δ of (ε, δ)-differential privacy; left out, the guarantee is pure ε.
        method: a whole pipeline by name, or a `Pipeline`.
        max_length: the longest itemset to release.
        downward_closed: release only itemsets of which every subset is released as well, as rules need it.
        n_public: publish the exact number of transactions, at the price that the receipt states.
        strict: refuse data whose item universe or layout was taken from the data itself.
        items: the public item universe; see `privmine.read`, also for the next five.
        transaction: the column of a frame that tells which transaction a row belongs to.
        item: the column of the items, or of the lists of items.
        unit: whose a transaction is; the guarantee then holds for all that a unit has. Needs `max_baskets`.
        max_baskets: how many transactions of a unit count at most.
        merge_by: like `unit`, but all that a unit has becomes one transaction.
        ledger: the ledger to charge at every `fit`, or its path.
        dataset: under which name the ledger keeps the budget of this data.
        simulate: use fast seeded noise that protects nobody, for research.
        seed: makes a simulation repeatable.

    Attributes:
        release_: the `Release` of the last `fit`.
    """

    release_: Release

    def __init__(
        self,
        k: int,
        epsilon: Any,
        *,
        delta: Any = None,
        method: str | Pipeline = DEFAULT_METHOD,
        max_length: int | None = None,
        downward_closed: bool = False,
        n_public: bool = False,
        strict: bool = False,
        items: Iterable[Any] | str | PathLike[str] | None = None,
        transaction: str | None = None,
        item: str | None = None,
        unit: Any = None,
        max_baskets: int | None = None,
        merge_by: Any = None,
        ledger: Ledger | str | PathLike[str] | None = None,
        dataset: str | None = None,
        simulate: bool = False,
        seed: int | None = None,
    ) -> None:
        self.k = k
        self.epsilon = epsilon
        self.delta = delta
        self.method = method
        self.max_length = max_length
        self.downward_closed = downward_closed
        self.n_public = n_public
        self.strict = strict
        self.items = items
        self.transaction = transaction
        self.item = item
        self.unit = unit
        self.max_baskets = max_baskets
        self.merge_by = merge_by
        self.ledger = ledger
        self.dataset = dataset
        self.simulate = simulate
        self.seed = seed

    def fit(self, X: Any, y: Any = None) -> ItemsetMiner:  # noqa: N803 - the name that callers use
        """Spend ε on a release of these data.

        Args:
            X: whatever `privmine.read` takes: a path, a frame, a matrix, lists of labels, or transactions.
            y: not used.
        """
        parameters = self.get_params()
        reading = {name: parameters.pop(name) for name in READING_OPTIONS & parameters.keys()}
        method = parameters.pop("method")
        pipeline = method if isinstance(method, Pipeline) else Pipeline(method)
        wish, asked = Wish(**parameters), ReadOptions.of(**reading)
        if not isinstance(X, Transactions):
            wish.check(asked.protected, universe_given=asked.items is not None, private_items=is_private(asked.items))
            asked = evolve(asked, listener=wish.check_origin)
        self.release_ = pipeline.fulfil(wish, read_asked(X, asked))
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; `deep` makes no difference, since none of them is an estimator."""
        return {name: getattr(self, name) for name in _defaults(type(self))}

    def set_params(self, **params: Any) -> ItemsetMiner:
        """Change parameters by name; an unknown one is refused before any is changed."""
        known = _defaults(type(self))
        for name in params:
            if name not in known:
                raise UnknownNameError(f"parameter of {type(self).__name__}", name, known)
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks of the steps of a pipeline. Only it calls this, so its classes are loaded then."""
        utils = sys.modules["sklearn.utils"]
        return utils.Tags(estimator_type=None, target_tags=utils.TargetTags(required=False))

    def __repr__(self) -> str:
        """The parameters that differ from their defaults; neither whose the baskets are nor a password is shown."""
        defaults = _defaults(type(self))
        changed = {name: value for name, value in self.get_params().items() if value is not defaults[name]}
        shown = {
            name: "…" if name in _OWNERS and not isinstance(value, str) else repr(value)
            for name, value in changed.items()
        }
        if isinstance(self.ledger, str):
            shown["ledger"] = _shown_place(self.ledger)
        return f"{type(self).__name__}({', '.join(f'{name}={text}' for name, text in shown.items())})"


def _shown_place(ledger: str) -> str:
    """Where a ledger is, without a password."""
    try:
        return repr(str(place_of(ledger)))
    except InputError:
        return "…"


#: The parameters that are a column's name, or tell whose each basket is.
_OWNERS = ("unit", "merge_by")


def _defaults(cls: type) -> dict[str, Any]:
    """The parameters of `__init__` with their defaults."""
    return {name: parameter.default for name, parameter in signature(cls).parameters.items()}
