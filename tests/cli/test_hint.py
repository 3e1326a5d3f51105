"""What `mine` says of another method, on a terminal and after the release."""

from __future__ import annotations

import pytest

import privmine as pm
from privmine.cli import mine_command
from privmine.cli.mine_command import show_hint


@pytest.fixture
def asked(monkeypatch) -> list[pm.Release]:
    """The releases that a hint is asked for."""
    seen: list[pm.Release] = []
    monkeypatch.setattr(mine_command, "show_hint", lambda release, _: seen.append(release))
    return seen


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "some.dat"
    path.write_text("1 2\n2 3\n1 3\n" * 30)
    return str(path)


@pytest.mark.parametrize(
    "options", [["--no-hint"], ["--json"], ["--method", "tf"], ["--set", "construct_basis=single"]]
)
def test_no_hint_where_it_is_not_asked_for(privmine, asked, data, options) -> None:
    """Nor for another method, which somebody chose."""
    assert privmine("mine", data, "-k", "3", "-e", "1", *options)[0] == 0
    assert not asked


def test_the_embedded_baskets_are_mined_without_a_hint(privmine, asked) -> None:
    """A first look is quick."""
    assert privmine("mine")[0] == 0
    assert not asked


def test_the_default_method_gets_a_hint_from_its_release_alone(privmine, asked, data) -> None:
    """After the release is shown."""
    assert privmine("mine", data, "-k", "3", "-e", "1")[0] == 0
    assert [type(found) for found in asked] == [pm.Release]


@pytest.mark.parametrize("terminal", [False, True])
def test_a_hint_is_shown_on_a_terminal_only(terminal: bool, capsys, monkeypatch) -> None:
    """In a pipe nothing is simulated."""
    release = pm.mine([[1, 2], [2]] * 50, 2, 1, simulate=True, seed=1)
    told: list[object] = []
    monkeypatch.setattr(
        "privmine.planning.better_method.hint", lambda *found: told.append(found) or "Next time: method=plus."
    )
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    show_hint(release, 3)
    assert told == ([(release, 3)] if terminal else [])
    assert ("--method plus" in capsys.readouterr().out) == terminal
