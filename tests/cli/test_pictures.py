"""`privmine plot` and `privmine diff`: pictures and comparisons from saved releases."""

from __future__ import annotations

import json

import pytest

import privmine as pm


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Two simulated releases of the groceries."""
    folder = tmp_path_factory.mktemp("pictures")
    for seed in (1, 2):
        release = pm.mine(pm.groceries(), 30, 1, simulate=True, seed=seed, downward_closed=True)
        release.save(folder / f"{seed}.csv")
    return folder


@pytest.mark.parametrize(("kind", "suffix", "start"), [("support", "png", b"\x89PNG"), ("rules", "pdf", b"%PDF")])
def test_a_release_is_drawn(privmine, saved, tmp_path, kind, suffix, start) -> None:
    """In the format that the name says."""
    target = tmp_path / f"x.{suffix}"
    code, out, err = privmine("plot", str(saved / "1.csv"), "--kind", kind, "-o", str(target))
    assert (code, err) == (0, "")
    assert f"Saved: {target}" in out
    assert target.read_bytes().startswith(start)


def test_two_releases_are_compared(privmine, saved, tmp_path) -> None:
    """On the screen, as JSON and as a picture; a simulation says so."""
    target = tmp_path / "x.svg"
    code, out, err = privmine("diff", str(saved / "1.csv"), str(saved / "2.csv"), "--plot", str(target))
    assert (code, err) == (0, "")
    assert "changed by more than noise and chance explain" in out
    assert "NOT PRIVATE" in out
    assert b"<svg" in target.read_bytes()
    code, out, _ = privmine("diff", str(saved / "1.csv"), str(saved / "2.csv"), "--json")
    assert json.loads(out)["private"] is False


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["plot", "1.csv", "-o", "x.gif"], "must end in .png, .svg or .pdf"),
        (["plot", "1.csv", "-o", "x.png", "--kind", "pie"], "Known: "),
        (["plot", "1.csv", "-o", "1.csv"], "is the file that is read"),
        (["diff", "1.csv", "gone.csv"], "Cannot read"),
    ],
)
def test_mistakes_are_one_sentence(privmine, saved, monkeypatch, arguments, words) -> None:
    """And exit code 2; nothing is written."""
    monkeypatch.chdir(saved)
    code, out, err = privmine(*arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert not (saved / "x.png").exists()
