"""All commands, and how each of them ends."""

from __future__ import annotations

import errno
import io
import os
import sys
import warnings
from typing import Any, NoReturn

import rich_click as click

from privmine.cli.groups import DeferredCommand, OpenGroup
from privmine.cli.interrupts import was_interrupted
from privmine.cli.own_commands import OWN_COMMANDS
from privmine.cli.screen import drop_output, fail
from privmine.cli.spelling import in_shell
from privmine.errors import PrivmineError
from privmine.hooks.extensions import Extension
from privmine.hooks.specs import PROJECT
from privmine.printable import printable_lines

# Without it, paragraphs of the help run into one another.
click.rich_click.TEXT_PARAGRAPH_LINEBREAKS = "\n\n"

#: What a system says of a full disk; nothing else of such an error is told.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@click.group(cls=OpenGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name=PROJECT, prog_name="privmine")
def cli() -> None:
    """Mine the most frequent itemsets of a transaction database under differential privacy.

    Without a file, the embedded grocery baskets are mined.

    Example:  privmine mine
    """


for _name, _target, _summary in OWN_COMMANDS:
    cli.add_command(DeferredCommand(Extension("command", _name, _summary, _target, PROJECT, "")))


def run() -> None:
    """Run a command; whatever is the user's to mend is one sentence on stderr and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        # A pipe may know no λ or ±; a release that is paid for is shown all the same.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    warnings.showwarning = _show_warning
    try:
        try:
            ending = cli.main(standalone_mode=False) or 0
        except SystemExit as exiting:
            ending = exiting.code
        if sys.stdout is not None:
            sys.stdout.flush()  # What cannot be written must be told here; the interpreter would do it in its own way.
        sys.exit(ending)
    except click.ClickException as error:
        _end(error.format_message(), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        fail("Interrupted.", 130)
    except PrivmineError as error:
        _end(str(error), 2)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _FULL:
            drop_output()
            # Not 1, which says of an audit that it found a violation.
            _end(f"The result cannot be written: {error.strerror}. Free some space, or send the result elsewhere.", 2)
        # An unforeseen error's message may quote what it failed on, so it is shown only on request.
        if os.environ.get("PRIVMINE_DEBUG"):
            raise
        _end(
            f"Internal error ({type(error).__name__}). The details are not shown, because they may "
            "contain data. Set PRIVMINE_DEBUG=1 to see them, and please report the error.",
            1,
        )


def _end(message: str, code: int) -> NoReturn:
    """Say what went wrong, unless it most likely went wrong because of an interrupt that some library lost."""
    if was_interrupted():
        fail("Interrupted.", 130)
    fail(message, code)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"privmine: warning: {printable_lines(in_shell(str(message)))}", err=True)
