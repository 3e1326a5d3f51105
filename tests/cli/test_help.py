"""The help of every command."""

from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

from privmine.cli.commands import cli
from privmine.cli.groups import DeferredCommand, OpenGroup, every_command


@pytest.mark.parametrize("path", list(every_command(cli)), ids=lambda path: " ".join(("privmine", *path)))
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


def test_a_run_with_many_bases_loads_no_drawing_library() -> None:
    """Cliques are found without igraph, which would import pyplot."""
    program = (
        "import sys; sys.argv = ['privmine', 'mine', '--k', '100', '--epsilon', '1', '--simulate', '--seed', '1']\n"
        "try:\n    from privmine.cli import main; main()\nexcept SystemExit:\n    pass\n"
        "print([name for name in sys.modules if name in ('igraph', 'matplotlib', 'privmine.defaults.greedy')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "['privmine.defaults.greedy']"


GROUPS = {path: command for path, command in every_command(cli).items() if isinstance(command, OpenGroup)}


@pytest.mark.parametrize("group", GROUPS.values(), ids=[" ".join(("privmine", *path)) for path in GROUPS])
def test_a_list_of_commands_has_the_first_line_of_each_help(group: OpenGroup) -> None:
    """What is listed without importing a command is what the command says of itself."""
    for command in group.commands.values():
        if isinstance(command, DeferredCommand):
            loaded = command.command()
            assert command.name == loaded.name
            assert command.help == " ".join((loaded.help or "").partition("\n\n")[0].split())


@pytest.mark.parametrize("option", ["--version", "--help", "-h"])
@pytest.mark.parametrize("plugins", ["", "privmine-tf,privmine-bases,privmine-plus,privmine-paper"])
def test_what_needs_no_command_imports_none(option: str, plugins: str, run_python, tmp_path) -> None:
    """The version and the list of commands come without numpy, also where plugins are installed."""
    code = f"""
import sys
sys.argv = ["privmine", {option!r}]
from privmine.cli import main
try:
    main()
except SystemExit:
    pass
print([name for name in ("numpy", "cattrs", "privmine.cli.mine_command", "privmine.evaluation") if name in sys.modules])
"""
    shown = run_python("-c", code, site=tmp_path, PRIVMINE_LOAD_PLUGINS=plugins)
    assert shown.stdout.splitlines()[-1] == "[]", shown.stderr


def test_an_unknown_command_lists_the_known(privmine) -> None:
    """With what is close to it."""
    code, _, said = privmine("mien")
    assert code == 2
    assert said.startswith("privmine: There is no command named 'mien'. Did you mean 'mine'? Known: audit, budget,")


@pytest.mark.parametrize(
    ("command", "distribution"), [("experiment paper", "privmine-paper"), ("plugins compare", "privmine-bases")]
)
def test_a_command_of_a_missing_plugin_says_what_to_install(command, distribution, run_python, tmp_path) -> None:
    """The name of the distribution is in the message."""
    failed = run_python("-m", "privmine", *command.split(), site=tmp_path, PRIVMINE_LOAD_PLUGINS="")
    assert failed.returncode == 2
    assert f"It is part of {distribution}. Run: pip install {distribution}." in failed.stderr
