"""A guarded store, which notices reads that bypass the curator.

What comes of such a look may not show in any result. It is a mistake all the same, and the author should
hear of it by name.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import define, field

from privmine.audit.trace import Trace
from privmine.errors import ContractError
from privmine.store.abstract import Store


@define
class Guard:
    """Records who reads the data while no curator is at work.

    Attributes:
        trace: knows which stage runs, and whether a curator works on a question of it.
        looks: for each stage what it read.
    """

    trace: Trace
    looks: dict[str, list[str]] = field(factory=dict)

    def require_work(self, name: str) -> None:
        """Allow reads by a curator and by the engine between stages; stop a component."""
        if self.trace.in_stage and not self.trace.at_work:
            self.looks.setdefault(self.trace.stage, []).append(name)
            # The error is only a way to stop: a component might swallow it.
            raise ContractError(f"store.{name} was used outside the curator.")

    def read_by(self, stage: str) -> Iterable[str]:
        """What a stage read, each once."""
        return dict.fromkeys(self.looks.get(stage, ()))


class GuardedStore:
    """Stands for a store, and answers only while a curator is at work."""

    def __init__(self, store: Store, guard: Guard) -> None:
        self.__store = store
        self.__guard = guard

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self.__guard.require_work(name)
        value = getattr(self.__store, name)
        if not callable(value):
            return value

        def call(*arguments: Any, **options: Any) -> Any:
            self.__guard.require_work(name)  # The method may have been kept from when it was allowed.
            return value(*arguments, **options)

        return call
