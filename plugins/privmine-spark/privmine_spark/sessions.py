"""Frames and sessions of Spark: telling them, checking them, and starting one for a query of the command line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from privmine.api import InputError
from privmine_spark.plans import refuse_guesses
from privmine_spark.quiet import Quiet, reason_of

#: The major version of Spark that this reader is for, and the oldest Java that it runs on.
MAJOR, JAVA = 4, 17
_PYTHON = "PYSPARK_PYTHON"


def is_spark_frame(source: object) -> bool:
    """Whether a source is a frame of PySpark, told without importing it."""
    return any(
        kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql") for kind in type(source).__mro__
    )


def open_query(text: str) -> Any:
    """Make a frame of a query, in the session that Spark's own configuration describes."""
    session = _started()
    # In parentheses only a query can stand, and nothing that writes. The line break ends a comment.
    frame = _checked_query(session, text)
    refuse_guesses(frame)
    return frame


def session_of(frame: Any) -> Any:
    """The session of a frame, if this reader can work with it."""
    _check_version()
    from pyspark.sql.classic.dataframe import DataFrame

    if not isinstance(frame, DataFrame):
        raise InputError(
            "This frame is one of Spark Connect, which privmine-spark does not read. Make it in a session of the "
            "driver itself: SparkSession.builder.master(…)."
        )
    if frame.isStreaming:
        raise InputError("This frame is a stream, which has no end. Save what has come so far, and read that.")
    session = frame.sparkSession
    if session.sparkContext._jsc is None:  # noqa: SLF001 - Spark has no other way to tell
        raise InputError("The Spark session of this frame has ended. Start a session, and make the frame again.")
    if int(session.version.partition(".")[0]) != MAJOR:
        raise InputError(_wrong_version(f"The cluster runs Spark {session.version}"))
    _use_this_python(session.sparkContext)
    return session


def _use_this_python(context: Any) -> None:
    """Executors on this machine use this Python, unless somebody has chosen another one."""
    if context.master.startswith("local") and not os.environ.get(_PYTHON):
        context.pythonExec = sys.executable


def _started() -> Any:
    _check_version()
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    os.environ.setdefault(_PYTHON, sys.executable)
    quiet = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF"}
    builder = SparkSession.builder.appName("privmine")
    for name, value in quiet.items():
        builder = builder.config(name, value)
    found = _java()
    if found is None or found < JAVA:
        what = "found no Java" if found is None else f"found Java {found}"
        raise InputError(
            f"Spark {MAJOR} needs Java {JAVA} or newer, and privmine {what}. Install it, for example with "
            f"apt-get install openjdk-{JAVA}-jre-headless, or set JAVA_HOME to where it is."
        )
    problem = ""
    try:
        return builder.getOrCreate()
    except Exception as error:  # noqa: BLE001 - Py4J raises what it likes
        problem = reason_of(error)
    raise InputError(
        f"Spark does not start: {problem}. Try it by itself: python -c 'from pyspark.sql import SparkSession; "
        "SparkSession.builder.getOrCreate()'."
    )


def _check_version() -> None:
    try:
        import pyspark
    except ImportError:
        pyspark = None
    if pyspark is None:
        raise InputError(f"PySpark is not installed. Run: pip install 'pyspark>={MAJOR},<{MAJOR + 1}'.")
    if int(pyspark.__version__.partition(".")[0]) != MAJOR:
        raise InputError(_wrong_version(f"PySpark {pyspark.__version__} is installed"))


def _wrong_version(found: str) -> str:
    return f"{found}, and privmine-spark works with Spark {MAJOR}. Run: pip install 'pyspark>={MAJOR},<{MAJOR + 1}'."


def _java() -> int | None:
    """The version of Java that Spark will start; None where there is none."""
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if program is None:
        return None
    try:
        told = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    return int(version[1]) if version else None


def _checked_query(session: Any, text: str) -> Any:
    """The frame of a query; what Spark says of it is told as far as the query itself has the words."""
    found: list[str] = []

    def work() -> Any:
        from pyspark.errors import PySparkException

        try:
            return session.sql(f"select * from (\n{text}\n)")  # noqa: S608 - the user's own query
        except PySparkException as error:
            condition = error.getCondition() or type(error).__name__
            words = [str(value) for value in (error.getMessageParameters() or {}).values()]
            named = [word for word in words if word.strip("`'\"").replace("`", "") in text.replace("`", "")]
            found.append(f"{condition.partition('.')[0]}" + (f" ({', '.join(named)})" if named else ""))
            return None

    frame = Quiet(session)(work)
    if frame is None:
        raise InputError(f"Spark does not accept the query: {found[0]}. It must be one select, and nothing else.")
    return frame
