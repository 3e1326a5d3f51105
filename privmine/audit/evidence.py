"""Results of earlier audits, so that the components of one pipeline share its runs."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, TypeVar

Found = TypeVar("Found")


class Evidence:
    """Remembers the answer to a question about a pipeline. A question that cannot be pickled is asked again."""

    def __init__(self) -> None:
        self._found: dict[bytes, Any] = {}

    def of(self, question: tuple[object, ...], find: Callable[[], Found]) -> Found:
        """The earlier answer to exactly this question, or a new one."""
        try:
            key = pickle.dumps(question)
        except Exception:  # noqa: BLE001 - pickle raises whatever an object's own hooks raise
            return find()
        if key not in self._found:
            self._found[key] = find()
        found: Found = self._found[key]
        return found
