"""In the shell, messages name options as they are typed there."""

from __future__ import annotations

import pytest

from privmine.cli.commands import cli
from privmine.cli.groups import every_command
from privmine.cli.spelling import OPTIONS, PLAIN, in_shell, option_of


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ("Specify epsilon=, for example epsilon=0.5.", "Specify --epsilon, for example --epsilon 0.5."),
        ("Add simulate=True.", "Add --simulate."),
        ("Replace it with overwrite=True.", "Replace it with --force."),
        ("Pass layout='one-hot', or no layout.", "Pass --layout one-hot, or no layout."),
        ("unit='customer id' or merge_by=", "--unit 'customer id' or --merge-by"),
        ('sql="select …", database="a.db"', "--sql 'select …', --database a.db"),
        ("Trust it: trust={...}.", "Trust it: --trust NAME."),
        ("Trust it: trust={'privmine-foo'}.", "Trust it: --trust privmine-foo."),
        ("Trust it: trust={'local code'}.", "Trust it: --trust 'local code'."),
        ("max_baskets must be 1, not 0.", "--max-baskets must be 1, not 0."),
        ("Drop n_public, or the ledger.", "Drop --n-public, or the ledger."),
        ("memory_limit= is a size; drop plain=True.", "--memory-limit is a size; drop --plain."),
        ("Use release.downward_closed().rules(…).", "Use --downward-closed."),
    ],
)
def test_options_are_spelled_for_the_shell(python: str, shell: str) -> None:
    """With a value, without one, and options that are only switched on."""
    assert in_shell(python) == shell


@pytest.mark.parametrize(
    "message",
    [
        "max_length must be a whole number from 2 to 24.",
        "The items have labels; k is 3.",
        "construct_basis=greedy-merge is known.",
        "--set select_elements.k=3",
        "a == b, x.items=3, stage=NAME",
    ],
)
def test_other_words_stay(message: str) -> None:
    """Words of the language, parameters of components, and what is in the shell's spelling already."""
    assert in_shell(message) == message


def test_every_translated_option_exists() -> None:
    """A name that no command takes would send users the wrong way."""
    known = {opt for command in every_command(cli).values() for param in command.params for opt in param.opts}
    assert {option_of(name) for name in OPTIONS} <= known
    assert PLAIN <= OPTIONS
