"""Worker processes for audits of what can be pickled."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing.context import SpawnProcess
from typing import Any, ParamSpec, TypeVar

from privmine.errors import PrivmineError
from privmine.processes import started_pool

#: So many seconds a batch of runs may take; one of a sound component takes a few.
PATIENCE: float = 600
#: So many seconds the processes of a broken pool have to end.
_ENDING = 5.0

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


class WorkerError(PrivmineError):
    """The task of a worker process failed; the message says how."""


class Workers(Executor):
    """Processes that are replaced when one of them has ended abruptly, or hangs: one component must not end all audits.

    Args:
        count: how many processes.
        patience: for how many seconds one batch of runs is waited for.
    """

    def __init__(self, count: int, patience: float = PATIENCE) -> None:
        self.patience = patience
        self._count = count
        self._pool = self._started()
        self._processes: list[SpawnProcess] = []

    def submit(
        self, function: Callable[Arguments, Answer], /, *arguments: Arguments.args, **options: Arguments.kwargs
    ) -> Future[Answer]:
        """Call the function in a process."""
        try:
            future = self._pool.submit(function, *arguments, **options)
        except BrokenExecutor:
            self._pool = self._started()
            future = self._pool.submit(function, *arguments, **options)
        # There is no other way to them before Python 3.14, and a broken pool forgets them.
        self._processes = list(self._pool._processes.values())  # type: ignore[arg-type] # noqa: SLF001
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes."""
        self._pool.shutdown(wait, cancel_futures=cancel_futures)

    def __exit__(self, kind: type[BaseException] | None, *details: object) -> None:
        """End the processes; at once, if something went wrong."""
        if kind is None:
            self.shutdown()
        else:
            self.kill()

    def replace(self) -> None:
        """Kill the processes, whatever they do, and start others."""
        self.kill()
        self._pool = self._started()

    def ending(self) -> str:
        """How the process ended that broke the pool."""
        for process in self._processes:
            process.join(_ENDING)
        codes = [process.exitcode for process in self._processes if process.exitcode]
        # The others are terminated by the pool itself.
        telling = next((code for code in codes if code != -signal.SIGTERM), None)
        if telling is None:
            return "without a word"
        if telling > 0:
            return f"with exit code {telling}"
        name = signal.Signals(-telling).name
        return f"by the signal {name}" + (", perhaps for lack of memory" if name == "SIGKILL" else "")

    def kill(self) -> None:
        """End the processes at once, whatever they do."""
        # Nothing is cancelled: a pool whose processes are gone stumbles over what is, aloud, on stderr.
        self._pool.shutdown(wait=False)
        for process in self._processes:
            process.kill()

    def _started(self) -> ProcessPoolExecutor:
        return started_pool(self._count, _prepare_worker)


def _prepare_worker() -> None:
    """What a component prints goes to stderr, since stdout may be read by a program."""
    with suppress(OSError):  # There may be no stderr.
        os.dup2(2, 1)
    sys.stdout = sys.stderr


@contextmanager
def worker_pool(workers: int | Executor, task: object = None, patience: float = PATIENCE) -> Iterator[Executor | None]:
    """A pool of so many processes, or the given one; None if one process suffices or the task cannot be sent.

    A script that asks for more than one must guard its start by `if __name__ == "__main__"`, because
    the processes start fresh and import it.
    """
    if workers == 1 or not travels(task):
        yield None
    elif isinstance(workers, Executor):
        yield workers
    else:
        with Workers(workers, patience) as pool:
            yield pool


def side_by_side(
    workers: Executor | None, function: Callable[..., Answer], tasks: Iterable[tuple[Any, ...]]
) -> Iterator[Answer]:
    """Call a function with the arguments of each task, in processes if there are any; the answers in order."""
    if workers is None:
        for task in tasks:
            yield function(*task)
        return
    futures = [workers.submit(in_worker, function, *task) for task in tasks]
    try:
        for future in futures:
            yield _answer(workers, future)
    finally:
        # Nobody waits for the rest, if the reader has seen enough; and what hangs must not keep others waiting.
        if not isinstance(workers, Workers):
            for future in futures:
                future.cancel()
        elif not all(future.done() for future in futures):
            workers.replace()


def away(workers: Executor | None, function: Callable[..., Answer], *arguments: Any) -> Answer:
    """Call a function in another process, if there is one."""
    (answer,) = side_by_side(workers, function, [arguments])
    return answer


def _answer(workers: Executor, future: Future[Answer]) -> Answer:
    """Wait for the result of a task, with a time limit."""
    pool = workers if isinstance(workers, Workers) else None
    try:
        return future.result(pool.patience if pool else None)
    except TimeoutError:
        assert pool is not None
        pool.replace()
        problem = (
            f"One batch of runs took longer than {pool.patience:g} seconds. If it is only slow, allow more time: "
            "--timeout SECONDS."
        )
    except BrokenExecutor:
        how = pool.ending() if pool else "without a word"
        problem = (
            f"A process ended {how} while it was audited. `python -X faulthandler -m privmine audit … "
            "--workers 1` may show where."
        )
    raise WorkerError(problem)


def in_worker(function: Callable[..., Answer], *arguments: Any) -> Answer:
    """Call a function in a worker process.

    Whatever it raises becomes one plain error: an exit or an interrupt that a component raises must not end
    the audit when it gets there, and an exception that cannot be unpickled would break all processes.
    """
    try:
        return function(*arguments)
    except BaseException as error:  # noqa: BLE001 - see above
        problem = str(error) if isinstance(error, PrivmineError) else f"{type(error).__name__}: {error}"
    raise WorkerError(problem)


def travels(task: object) -> bool:
    """Whether something can be sent to another process."""
    try:
        pickle.dumps(task)
    except Exception:  # noqa: BLE001 - pickle raises whatever an object's own hooks raise
        return False
    return True
