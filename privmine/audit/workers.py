"""Worker processes for audits, where what is audited can travel to them."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager


@contextmanager
def worker_pool(workers: int | Executor, task: object = None) -> Iterator[Executor | None]:
    """So many processes, or those given; None where one is enough, or the task cannot be sent to another.

    A script that asks for more than one must guard its start by `if __name__ == "__main__"`, because
    the processes start fresh and import it.
    """
    if workers == 1 or not _travels(task):
        yield None
        return
    if isinstance(workers, Executor):
        yield workers
        return
    # Fresh processes: a fork of one that has threads, as numpy's, may hang.
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


def _travels(task: object) -> bool:
    try:
        pickle.dumps(task)
    except Exception:  # noqa: BLE001 - pickle raises whatever an object's own hooks raise
        return False
    return True
