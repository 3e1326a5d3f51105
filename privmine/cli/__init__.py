"""The command line."""

from __future__ import annotations

import gc
import sys

from privmine.cli.interrupts import noted_interrupts

#: After how many new objects Python looks for unused cycles. With its default, 700, a seventh of the time that loading
#: takes goes into that, and nothing is found.
_OBJECTS_BETWEEN_LOOKS = 50_000


def main() -> None:
    """Run the command line. What it needs takes a while to load, so that an interrupt is met from here on."""
    gc.set_threshold(_OBJECTS_BETWEEN_LOOKS, *gc.get_threshold()[1:])
    try:
        with noted_interrupts():
            from privmine.cli.commands import run

            run()
    except KeyboardInterrupt:
        sys.stderr.write("privmine: Interrupted.\n")
        sys.exit(130)
