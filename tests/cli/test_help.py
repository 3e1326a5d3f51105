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


def loaded_after(*arguments: str) -> tuple[list[str], str]:
    """The modules that a command has imported when it ends, and what it said on stderr."""
    program = (
        f"import sys; sys.argv = ['privmine', *{arguments!r}]\n"
        "try:\n    from privmine.cli import main; main()\nexcept SystemExit:\n    pass\n"
        "print('\\n' + ' '.join(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split(), done.stderr


def test_a_command_loads_nothing_of_the_others() -> None:
    """What audits and experiments need takes long to load, and a mistake is told at once."""
    loaded, said = loaded_after("mine", "x.csv", "--epsilon", "0")
    assert "privmine.cli.mine_command" in loaded
    assert not [name for name in loaded if name.startswith(("privmine.audit", "privmine.evaluation", "opendp"))]
    assert "greater than 0" in said


def test_a_run_with_many_bases_loads_no_drawing_library() -> None:
    """Cliques are found by the compiled part of igraph; all of it would import pyplot."""
    loaded, _ = loaded_after("mine", "--k", "100", "--epsilon", "1", "--simulate", "--seed", "1")
    assert {"privmine.defaults.greedy", "igraph._igraph"} <= set(loaded)
    assert not {"igraph", "matplotlib"}.intersection(loaded)


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
@pytest.mark.parametrize("plugins", ["", "privmine-tf,privmine-bases,privmine-plus,privmine-paper,privmine-spark"])
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
    ("command", "distribution"),
    [
        ("experiment paper", "privmine-paper"),
        pytest.param("leaderboard", "privmine-paper", marks=pytest.mark.statistics),
        pytest.param("plugins compare", "privmine-bases", marks=pytest.mark.statistics),
    ],
)
def test_a_command_of_a_missing_plugin_says_what_to_install(command, distribution, run_python, tmp_path) -> None:
    """The name of the distribution is in the message."""
    failed = run_python("-m", "privmine", *command.split(), site=tmp_path, PRIVMINE_LOAD_PLUGINS="")
    assert failed.returncode == 2
    place = f"In a checkout of privmine, run `pip install ./plugins/{distribution}`."
    assert f"It is part of {distribution}. {place}" in failed.stderr
