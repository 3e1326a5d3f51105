"""The command line as its users meet it."""

from __future__ import annotations

import sys

import pytest

from privmine.cli import main


@pytest.fixture
def privmine(monkeypatch, capsys):
    """Run the command as its entry point does; answers exit code, stdout and stderr."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["privmine", *arguments])
        with pytest.raises(SystemExit) as caught:
            main()
        shown = capsys.readouterr()
        return int(caught.value.code or 0), shown.out, shown.err

    return run
