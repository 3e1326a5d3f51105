"""What audits have found out already, so that the components of one pipeline do not run it again each."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, TypeVar

Found = TypeVar("Found")


class Evidence:
    """Remembers what came of a question to a pipeline; what cannot be pickled is not recognised, and asked again."""

    def __init__(self) -> None:
        self._found: dict[bytes, Any] = {}

    def of(self, question: tuple[object, ...], find: Callable[[], Found]) -> Found:
        """What was found before, if exactly this was asked; else what is found now."""
        try:
            key = pickle.dumps(question)
        except Exception:  # noqa: BLE001 - pickle raises whatever an object's own hooks raise
            return find()
        if key not in self._found:
            self._found[key] = find()
        found: Found = self._found[key]
        return found
