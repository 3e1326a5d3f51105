"""`privmine disclose`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

OLD = Path(__file__).parents[1] / "release" / "version3"


def test_a_draft_is_written(privmine, tmp_path) -> None:
    """The file is there, and the screen lists what is open."""
    out = tmp_path / "deployment.yaml"
    code, said, warned = privmine("disclose", str(OLD / "private.json"), "-o", str(out))
    assert code == 0
    assert yaml.safe_load(out.read_text(encoding="utf-8"))["status"] == "Draft"
    assert "deployment.basic.intended_use" in said
    assert "made without a ledger" in warned


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("private.json", "-o", "deployment.json"), "end it in one of .yaml, .yml"),
        (("simulated.json", "-o", "deployment.yaml"), "is simulated"),
        (("private.json", "-o", "taken.yaml"), "exists"),
        (("missing.json", "-o", "deployment.yaml"), "Cannot read"),
        (("private.json", "-o", "deployment.yaml", "--ledger", "missing.db"), "ledger"),
    ],
)
def test_mistakes_are_told_in_a_sentence(privmine, tmp_path, monkeypatch, arguments, words) -> None:
    """Nothing is written then."""
    for name in ("private.json", "simulated.json"):
        shutil.copy(OLD / name, tmp_path / name)
    (tmp_path / "taken.yaml").write_text("mine", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code, _, said = privmine("disclose", *arguments)
    assert code == 2
    assert words in said
    assert not (tmp_path / "deployment.yaml").exists()
    assert (tmp_path / "taken.yaml").read_text(encoding="utf-8") == "mine"
