"""Work that Spark does, without a word of Spark's own.

Privacy: Spark's errors quote values, its log repeats them, and its progress bar shows numbers that depend on the size
of the data. While privmine has Spark work, the log and the bar are off, and an error is told in privmine's words.
"""

from __future__ import annotations

import logging
import re
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from privmine.api import DataError, PrivmineError

T = TypeVar("T")

_PYTHON_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger", "py4j", "pyspark")
#: What an error is about, by words of Spark's that hold no data, and what to do.
_REASONS = (
    (
        r"No module named '(privmine|pyarrow|numpy|attr)",
        "the Python of the executors lacks privmine. Install privmine and privmine-spark there, or ship an environment "
        "that has them (spark.archives), and set PYSPARK_PYTHON to its Python",
    ),
    (
        r"No module named",
        "a function needs a module that the executors lack. Install it there, or ship it with "
        "spark.sparkContext.addPyFile()",
    ),
    (
        r"PYTHON_VERSION_MISMATCH|different (minor )?version",
        "the executors run another version of Python than the driver. Set PYSPARK_PYTHON to the same version",
    ),
    (
        r"Cannot run program",
        "the executors find no Python. Set PYSPARK_PYTHON to the path that it has there",
    ),
    (
        r"[Pp]ickl",
        "a function cannot be sent to the executors. Define it at the top of a module that is installed there",
    ),
    (
        r"OutOfMemory|maxResultSize|exceeds? .*memory",
        "the driver or an executor has too little memory. Raise spark.driver.memory or spark.executor.memory",
    ),
    (
        r"SparkContext was shut down|stopped SparkContext|Connection refused|has been stopped|Answer from Java side",
        "the Spark session has ended. Start a session, and read the data again",
    ),
)


class Quiet:
    """Has Spark work in silence.

    Threads may share it: the log comes back when the last of them has ended.
    """

    def __init__(self, session: Any) -> None:
        self._context = session.sparkContext
        self._lock = threading.Lock()
        self._inside = 0
        self._filter: Any = None

    def __call__(self, work: Callable[[], T]) -> T:
        """What comes of the work.

        Raises:
            DataError: Spark failed. The message is privmine's own, and the error has no context.
        """
        try:
            with self._silence():
                return work()
        except PrivmineError:
            raise
        except Exception as error:  # noqa: BLE001 - Py4J, Spark and Arrow raise what they like
            reason = reason_of(error)
        # Here, not in the except block: there the original error would be this one's context.
        raise DataError(f"Spark failed: {reason}.")

    @contextmanager
    def _silence(self) -> Iterator[None]:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._turn_off()
        loggers = [logging.getLogger(name) for name in _PYTHON_LOGGERS]
        were = [logger.disabled for logger in loggers]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for logger in loggers:
                    logger.disabled = True
                yield
        finally:
            for logger, was in zip(loggers, were, strict=True):
                logger.disabled = was
            with self._lock:
                self._inside -= 1
                if not self._inside:
                    with suppress(Exception):  # the session may have ended meanwhile
                        self._logs().removeFilter(self._filter)

    def _turn_off(self) -> None:
        bar = self._context._jsc.sc().progressBar()  # noqa: SLF001 - Spark has no other way to turn it off
        if bar.isDefined():
            bar.get().stop()
        if self._filter is None:
            denying = self._context._jvm.org.apache.logging.log4j.core.filter.DenyAllFilter  # noqa: SLF001
            self._filter = denying.newBuilder().build()
        # Levels stay as the user has set them: a level that is set again would not be what it was.
        self._logs().addFilter(self._filter)

    def _logs(self) -> Any:
        return self._context._jvm.org.apache.logging.log4j.LogManager.getContext(False)  # noqa: SLF001


def reason_of(error: Exception) -> str:
    """What an error of Spark's means, without a word of it."""
    message = f"{type(error).__name__} {error}"
    for pattern, words in _REASONS:
        if re.search(pattern, message):
            return words
    return "the reason is withheld, because it may contain data. Try the frame by itself, for example frame.count()"
