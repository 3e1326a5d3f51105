"""An observer that notes what a run does on the way: sizes, time and memory of each stage."""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter
from typing import Any

from privmine.evaluation.result_rows import Row
from privmine.hooks.specs import hookimpl
from privmine.model import BasisSet, Estimate

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class StageRecorder:
    """Collects the measurements of one run at a time; `taken` hands them over and starts anew."""

    def __init__(self) -> None:
        self.basis: BasisSet | None = None
        self._row: Row = {}
        self._started = 0.0

    def taken(self) -> Row:
        """What was noted since the last call; the basis set stays until the next run."""
        row, self._row = self._row, {}
        memory = [value for name, value in row.items() if name.startswith("memory_") and value is not None]
        seconds = sum(value for name, value in row.items() if name.startswith("seconds_"))
        return {**row, "seconds": seconds, "peak_memory": max(memory, default=None)}

    @hookimpl
    def stage_started(self) -> None:
        """Start the clock and forget the last peak."""
        forget_peak_memory()
        self._started = perf_counter()

    @hookimpl
    def stage_finished(self, stage: str, result: Any) -> None:
        """Note time, memory and what the stage found."""
        self._row[f"seconds_{stage}"] = perf_counter() - self._started
        self._row[f"memory_{stage}"] = peak_memory()
        if isinstance(result, Estimate):
            self._row["lam"] = result.lam
        elif isinstance(result, BasisSet):
            self.basis = result
            self._row |= {"width": result.width, "length": result.length}


def forget_peak_memory() -> None:
    """Let the peak start from what is resident now, where the system can (Linux); elsewhere it only rises."""
    try:
        _CLEAR.write_text("5")
    except OSError:
        return


def peak_memory() -> int | None:
    """The highest resident memory of this process in bytes since the peak was last forgotten, if the system tells."""
    try:
        lines = _STATUS.read_text().splitlines()
    except OSError:
        return _peak_of_process()
    for line in lines:
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return _peak_of_process()


def _peak_of_process() -> int | None:
    try:
        import resource
    except ImportError:  # Windows has no such module.
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
