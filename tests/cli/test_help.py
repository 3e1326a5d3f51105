"""The help of every command."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from privmine.cli.commands import cli


def commands(command: click.Command, *path: str) -> Iterator[tuple[str, ...]]:
    """What a user types for the command and for all below it."""
    yield path
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, *path, name)


@pytest.mark.parametrize("path", list(commands(cli)), ids=lambda path: " ".join(("privmine", *path)))
def test_every_command_has_help_with_an_example(path: tuple[str, ...]) -> None:
    """It shows how the command is called, and a command that can be typed."""
    # Not -h: click remembers the help option of a command that another test has called on its own.
    result = CliRunner().invoke(cli, [*path, "--help"], prog_name="privmine")
    assert result.exit_code == 0
    assert f"Usage: {' '.join(('privmine', *path))}" in result.output
    example = result.output.partition("Example:")[2].split()
    # The name of a command below may be left out: `experiment` is `experiment run`.
    assert example[: len(path[:1]) + 1] == ["privmine", *path[:1]]


def test_help_may_be_asked_for_in_short() -> None:
    """-h is --help, for commands below as well."""
    for path in ([], ["mine"], ["budget", "init"]):
        asked = [CliRunner().invoke(cli, [*path, option], prog_name="privmine").output for option in ("-h", "--help")]
        assert asked[0] == asked[1]
        assert "Usage: privmine" in asked[0]


def test_a_command_loads_nothing_of_the_others() -> None:
    """What audits and experiments need takes long to load, and a mistake is told at once."""
    program = (
        "import sys; sys.argv = ['privmine', 'mine', 'x.csv', '--epsilon', '0']\n"
        "try:\n    from privmine.cli import main; main()\nexcept SystemExit:\n    pass\n"
        "print([name for name in sys.modules if name.startswith(('privmine.audit', 'privmine.evaluation', 'opendp'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert "greater than 0" in done.stderr


def test_an_unknown_command_is_refused() -> None:
    """As click does for commands that are loaded."""
    result = CliRunner().invoke(cli, ["minde"])
    assert result.exit_code == 2
    assert "No such command 'minde'" in result.output
