"""`privmine report`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import privmine as pm

OLD = Path(__file__).parents[1] / "release" / "version3"


@pytest.fixture
def file(tmp_path) -> Path:
    """A release in a folder of its own."""
    return Path(shutil.copy(OLD / "private.json", tmp_path / "top.json"))


def test_a_report_is_written(privmine, file, tmp_path) -> None:
    """The page is there, and the screen says what a person must fill in and what to look into."""
    out = tmp_path / "report.html"
    code, said, warned = privmine("report", str(file), "-o", str(out), "--fill", "purpose=Shelf planning")
    assert code == 0
    assert "Shelf planning" in out.read_text(encoding="utf-8")
    assert "retention" in said
    assert "purpose" not in said
    assert "made without a ledger" in warned


def test_an_audit_is_read(privmine, file, tmp_path) -> None:
    """What `privmine audit --json` writes; anything else is refused."""
    audit, out = tmp_path / "audit.json", tmp_path / "report.html"
    report = {"subject": "privbasis", "verdict": "holds", "pairs": 7, "differ_by": "one transaction", "effort": "quick"}
    audit.write_text(json.dumps({"version": "9", "reports": [report]}), encoding="utf-8")
    assert privmine("report", str(file), "-o", str(out), "--audit", str(audit))[0] == 0
    assert "7 pairs that differ by one transaction (quick)" in out.read_text(encoding="utf-8")
    for text in ("[]", "no json", '{"version": 1, "reports": [{}]}', '{"reports": 3}'):
        audit.write_text(text, encoding="utf-8")
        code, _, said = privmine("report", str(file), "-o", str(out), "--audit", str(audit), "--force")
        assert code == 2
        assert "is not what `privmine audit --json` writes" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-o", "report.pdf"), "end it in one of .html"),
        (("-o", "no/such/report.html"), "There is no directory"),
        (("-o", "report.html", "--fill", "purpose"), "has no ="),
        (("-o", "report.html", "--fill", "purpos=x"), "purpose"),
        (("-o", "report.html", "--fill", "purpose= "), "is empty"),
        (("-o", "report.html", "--fill", "purpose=a", "--fill", "purpose=b"), "filled in twice"),
        (("-o", "report.html", "--ledger", "missing.db"), "no ledger"),
        (("-o", "report.html", "--audit", "missing.json"), "Cannot read"),
        (("-o", "top.json"), "is the file that is read"),
    ],
)
def test_mistakes_are_told_in_a_sentence(privmine, file, tmp_path, monkeypatch, arguments, words) -> None:
    """Nothing is written then."""
    monkeypatch.chdir(tmp_path)
    before = file.read_bytes()
    code, _, said = privmine("report", "top.json", *arguments)
    assert code == 2
    assert words in said
    assert not (tmp_path / "report.html").exists()
    assert file.read_bytes() == before


def test_a_release_that_was_changed_by_hand_is_refused(privmine, file, tmp_path) -> None:
    """Charges that do not sum to the cost, or a simulation that calls itself private."""
    whole = json.loads(file.read_text(encoding="utf-8"))
    for change in ({"epsilon": "1/2"}, {"noise": "simulated, not private"}):
        file.write_text(json.dumps({**whole, "receipt": {**whole["receipt"], **change}}), encoding="utf-8")
        code, _, said = privmine("report", str(file), "-o", str(tmp_path / "report.html"))
        assert code == 2
        assert "Do not rely on it" in said


def test_a_release_of_a_newer_version_is_refused(privmine, file, tmp_path) -> None:
    """It says to upgrade."""
    whole = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**whole, "format_version": 99}), encoding="utf-8")
    code, _, said = privmine("report", str(file), "-o", str(tmp_path / "report.html"))
    assert code == 2
    assert "newer privmine" in said


def test_an_existing_report_is_kept(privmine, file, tmp_path) -> None:
    """Unless it may be replaced."""
    out = tmp_path / "report.html"
    out.write_text("mine", encoding="utf-8")
    code, _, said = privmine("report", str(file), "-o", str(out))
    assert code == 2
    assert "exists" in said
    assert out.read_text(encoding="utf-8") == "mine"
    assert privmine("report", str(file), "-o", str(out), "--force")[0] == 0


def test_a_release_named_twice_is_refused(privmine, file, tmp_path) -> None:
    """It would be counted twice; equal names in two folders are told apart by their paths."""
    out = str(tmp_path / "report.html")
    assert "named twice" in privmine("report", str(file), str(file), "-o", out)[2]
    other = tmp_path / "other" / "top.json"
    other.parent.mkdir()
    pm.mine(pm.groceries(), k=3, epsilon=1).save(other)
    assert privmine("report", str(file), str(other), "-o", out)[0] == 0
    assert str(other) in Path(out).read_text(encoding="utf-8")


def test_signatures_are_checked(privmine, file, tmp_path) -> None:
    """Whose signature it is, or that the file was changed; keys that cannot be read are refused."""
    key, out = tmp_path / "key", tmp_path / "report.html"
    private, openssh = Ed25519PrivateKey.generate(), serialization.Encoding.OpenSSH
    secret = (serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption())
    key.write_bytes(private.private_bytes(*secret))
    public = private.public_key().public_bytes(openssh, serialization.PublicFormat.OpenSSH)
    key.with_suffix(".pub").write_bytes(public + b" officer\n")
    assert privmine("sign", str(file), "--key", str(key))[0] == 0
    arguments = ("report", str(file), "-o", str(out), "--force", "--signer")
    assert privmine(*arguments, f"{key}.pub")[0] == 0
    assert "top.json is unchanged since officer signed it." in out.read_text(encoding="utf-8")
    whole = json.loads(file.read_text(encoding="utf-8"))
    whole["itemsets"][0]["count"] += 1
    file.write_text(json.dumps(whole), encoding="utf-8")
    code, _, warned = privmine(*arguments, f"{key}.pub")
    assert code == 0
    assert "was changed after it was signed" in warned
    assert "To look into" in out.read_text(encoding="utf-8")
    code, _, said = privmine(*arguments, str(tmp_path / "missing.pub"))
    assert code == 2
    assert "cannot be read" in said
