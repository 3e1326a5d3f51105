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


def test_a_release_is_shown_again_and_saved_as_other_files(privmine, saved, tmp_path) -> None:
    """The same release each time, with its verdict and receipt on the screen."""
    whole = pm.load(saved / "1.csv")
    for name, plain in (("x.json", []), ("x.csv", ["--plain"]), ("x.html", [])):
        code, out, err = privmine("show", str(saved / "1.csv"), "-o", str(tmp_path / name), *plain)
        assert (code, err) == (0, "")
        assert "30 counts are clearly above 0" in out
        assert "NOT PRIVATE" in out
        assert "Saved:" in out
    assert pm.load(tmp_path / "x.json") == pm.load(tmp_path / "x.csv") == whole
    code, out, _ = privmine("show", str(tmp_path / "x.json"), "--json")
    assert len(json.loads(out)["itemsets"]) == 30
    code, _, err = privmine("show", str(saved / "1.csv"), "-o", str(tmp_path / "x.json"))
    assert code == 2
    assert "--force" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["show", "1.csv", "-o", "1.csv", "--force"], "is the file that is read"),
        (["show", "1.csv", "--plain"], "--output FILE.csv"),
        (["show", "1.csv", "-o", "x.xls"], "Cannot tell a format"),
        (["show", "gone.csv"], "Cannot read"),
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
