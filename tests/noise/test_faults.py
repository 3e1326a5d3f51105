"""Versions of OpenDP with biased noise are recognised, and no release is made with one."""

from __future__ import annotations

import pytest

import privmine as pm
from privmine.errors import InputError
from privmine.ledger import Ledger
from privmine.noise import secure
from privmine.noise.faults import faulty_version


@pytest.mark.parametrize(
    "version", ["0.12.0", "0.13.0", "0.14.0", "0.14.1", "0.14", "0.9.2", "0.14.2a1", "0.14.2.dev3"]
)
def test_biased_versions(version) -> None:
    """Everything before 0.14.2, also what was published on the way to it."""
    assert faulty_version(f"exact discrete noise (OpenDP {version}), entropy of the operating system") == version


@pytest.mark.parametrize("version", ["0.14.2", "0.14.3", "0.14.10", "0.15.0", "0.16.0", "0.16.0.dev1", "1.0", "1.0.0"])
def test_sound_versions(version) -> None:
    """From 0.14.2 on; numbers are compared as numbers."""
    assert faulty_version(f"exact discrete noise (OpenDP {version}), entropy of the operating system") == ""


@pytest.mark.parametrize("noise", ["", "simulated noise, not private (numpy 2.4.6, seed 2)", "noise of OpenDP", "dice"])
def test_noise_of_others_is_not_accused(noise) -> None:
    """A name without a version of OpenDP says nothing about it."""
    assert faulty_version(noise) == ""


def test_no_release_is_made_with_biased_noise(tmp_path, monkeypatch) -> None:
    """It is refused before the charge, with what to do."""
    ledger = Ledger(tmp_path / "budget.db")
    ledger.init("orders", 1)
    monkeypatch.setattr(secure, "version", lambda _name: "0.14.0")
    with pytest.raises(InputError, match=r"OpenDP 0\.14\.0 draws biased noise.*Nothing was charged.*--upgrade opendp"):
        pm.mine([["a", "b"]] * 9, 2, 1, ledger=ledger, dataset="orders")
    assert [entry.event for entry in ledger.log()] == ["init"]
    pm.mine([["a", "b"]] * 9, 2, 1, simulate=True)
