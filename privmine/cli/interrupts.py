"""Interrupts that nothing loses.

A library may swallow a KeyboardInterrupt that falls into its work, or make another error of it. Left to itself the
command would then go on and charge a budget, or blame the data.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _State:
    """No lock: the handler may run in the midst of itself."""

    noted = False


@contextmanager
def noted_interrupts() -> Iterator[None]:
    """Note every interrupt of the block, besides raising KeyboardInterrupt as ever."""
    _State.noted = False
    # Where interrupts are ignored, as in a job in the background, they stay so; and threads can set no handler.
    is_usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not is_usual or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, _note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _note(*_: Any) -> None:
    _State.noted = True
    raise KeyboardInterrupt


def was_interrupted() -> bool:
    """Whether an interrupt was noted, so that whatever follows may be its doing."""
    return _State.noted


def end_if_interrupted() -> None:
    """End here if an interrupt came; later ones are raised but not noted, since the run itself says what they cost."""
    if signal.getsignal(signal.SIGINT) is _note:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if was_interrupted():
        raise KeyboardInterrupt
