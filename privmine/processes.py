"""Worker processes: fresh ones, which leave when their parent does."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import connection, get_context, parent_process
from threading import Thread
from typing import Any


def started_pool(count: int, prepare: Callable[..., None], *arguments: Any) -> ProcessPoolExecutor:
    """A pool of processes, each of which first calls `prepare`.

    They start fresh, since a fork of a process that has threads, as numpy's, may hang.
    """
    return ProcessPoolExecutor(count, get_context("spawn"), _prepare, (prepare, *arguments))


def _prepare(prepare: Callable[..., None], *arguments: Any) -> None:
    Thread(target=_leave_with_parent, daemon=True).start()
    prepare(*arguments)


def _leave_with_parent() -> None:
    """End this process when its parent is killed: it would wait for work for ever."""
    parent = parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)
