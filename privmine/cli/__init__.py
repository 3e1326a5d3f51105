"""The command line."""

from __future__ import annotations

import sys

from privmine.cli.interrupts import noted_interrupts


def main() -> None:
    """Run the command line. What it needs takes a while to load, so that an interrupt is met from here on."""
    try:
        with noted_interrupts():
            from privmine.cli.commands import run

            run()
    except KeyboardInterrupt:
        sys.stderr.write("privmine: Interrupted.\n")
        sys.exit(130)
