"""The command line."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line. What it needs takes a while to load, so that an interrupt is met from here on."""
    try:
        from privmine.cli.commands import run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("privmine: Interrupted.\n")
        sys.exit(130)
