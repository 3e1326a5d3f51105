"""What a plan is simulated on: public baskets only, of the asked size."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from attrs import evolve

import privmine as pm
from privmine.datasets import repeated, zipf
from privmine.errors import DataError, InputError
from privmine.planning import population
from privmine.planning.population import population_of, resampled
from privmine.privacy.unit import Unit

NOTHING = {"is_public": False, "transactions": None, "items": None, "unit": Unit()}
RELEASES = Path(__file__).parents[1] / "release"


@pytest.fixture(scope="module")
def baskets() -> pm.Transactions:
    return zipf(2000, items=40, mean_length=4, seed=5)


@pytest.mark.parametrize("kind", ["baskets", "path", "csv", "text"])
def test_baskets_are_not_read_unless_they_are_said_to_be_public(kind: str, tmp_path, baskets, monkeypatch) -> None:
    """Nothing reads a file of transactions by accident, whatever it is called."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("The file was read.")

    monkeypatch.setattr(population, "read", refuse)
    monkeypatch.setattr(pm.Transactions, "from_lists", refuse)
    path = tmp_path / {"csv": "orders.csv", "text": "orders"}.get(kind, "orders.dat")
    path.write_text("order,item\n1,secret\n" if kind == "csv" else "1 2 3\n")
    like = baskets if kind == "baskets" else (path if kind == "path" else str(path))
    with pytest.raises(InputError, match="like_is_public=True") as error:
        population_of(like, **NOTHING)
    assert "secret" not in str(error.value)


def test_public_baskets_keep_their_supports(tmp_path, baskets) -> None:
    """As they are, and from a file."""
    path = tmp_path / "public.dat"
    pm.write(baskets, path)
    for like in (baskets, path, str(path)):
        found = population_of(like, **NOTHING | {"is_public": True}).baskets
        assert found.store.count() == 2000
        assert sorted(found.store.item_supports()) == sorted(baskets.store.item_supports())


@pytest.mark.parametrize("wanted", [1, 7, 500, 1999, 2000, 2001, 5000, 10**6])
def test_baskets_are_scaled_to_the_asked_number(baskets, wanted: int) -> None:
    """By taking a part or repeating them; shares of items stay, as far as chance allows."""
    found = resampled(baskets, wanted)
    times = -(-wanted // 2000)
    assert abs(found.store.count() - wanted) <= times / 2
    if wanted >= 2000:
        shares = found.store.item_supports() / found.store.count()
        assert np.abs(shares - baskets.store.item_supports() / 2000).max() < 0.02
    again = resampled(baskets, wanted)
    assert np.array_equal(found.store.item_supports(), again.store.item_supports())


def test_repeated_baskets_are_scaled_from_what_is_repeated(baskets) -> None:
    """A proxy stands for itself several times over."""
    assert resampled(repeated(baskets, 3), 6000).store.count() == 6000
    assert resampled(repeated(baskets, 3), 1000).store.count() == 1000


def test_further_items_never_occur(baskets) -> None:
    """A larger universe makes the choice harder, and nothing else."""
    found = population_of(baskets, **NOTHING | {"is_public": True, "items": 100}).baskets
    assert len(found.universe) == 100
    assert found.store.item_supports()[40:].sum() == 0


def test_the_unit_is_that_of_the_plan(baskets) -> None:
    """Noise grows with it."""
    unit = Unit.of("customer_id", 3, None)
    assert population_of(baskets, **NOTHING | {"is_public": True, "unit": unit}).baskets.unit == unit


def test_a_name_is_a_dataset() -> None:
    """Its case does not matter, and what it is stands in the words."""
    found = population_of("ZIPF", **NOTHING | {"transactions": 300})
    assert found.baskets.store.count() == 300
    assert "the public dataset zipf" in found.words
    assert "300 transactions" in found.words


def test_sizes_alone_state_their_assumption() -> None:
    """Made-up baskets, and a word on something better."""
    found = population_of(None, **NOTHING | {"transactions": 400, "items": 30})
    assert found.baskets.store.count() == 400
    assert "bought independently" in found.words
    assert "like='retail'" in found.notes[0]


@pytest.mark.parametrize("version", ["version1", "version3"])
@pytest.mark.parametrize("name", ["private.csv", "private.json", "simulated.json"])
def test_releases_of_earlier_versions_are_taken(version: str, name: str) -> None:
    """Also without laws; that one was simulated is told."""
    release = pm.load(RELEASES / version / name)
    # Those are small, so that nearly all is noise: as if ten times as many had been counted.
    larger = [evolve(found, count=10 * found.count) for found in release]
    found = population_of(evolve(release, itemsets=tuple(larger), total=10 * release.total), **NOTHING)
    assert "earlier release" in found.words
    assert ("simulation" in " ".join(found.notes)) == name.startswith("simulated")


def test_the_file_of_a_release_is_a_release() -> None:
    """It needs no word on being public."""
    found = population_of(str(RELEASES / "version1" / "private.csv"), **NOTHING)
    assert "earlier release" in found.words


def test_what_cannot_be_used_is_refused(tmp_path, baskets) -> None:
    """A sentence each."""
    with pytest.raises(InputError, match="no file 'retial', and no dataset"):
        population_of("retial", **NOTHING)
    with pytest.raises(InputError, match="at most"):
        population_of(baskets, **NOTHING | {"is_public": True, "transactions": 10**13})
    with pytest.raises(InputError, match="transactions="):
        population_of(None, **NOTHING)
    with pytest.raises(InputError, match="empty"):
        population_of(pm.Transactions.from_lists([], items=["a"]), **NOTHING | {"is_public": True})
    newer = tmp_path / "newer.json"
    text = (RELEASES / "version3" / "private.json").read_text()
    newer.write_text(text.replace('"format_version": 3', '"format_version": 99'))
    with pytest.raises(DataError, match="newer privmine"):
        population_of(newer, **NOTHING)


def test_what_a_release_does_not_tell_is_said(baskets) -> None:
    """What it missed, and how many items there were, unless its receipt or the user says so."""
    release = pm.mine(baskets, 8, 5, simulate=True, seed=1)
    silent = evolve(release, receipt=evolve(release.receipt, notes=()))
    asked = {"is_public": False, "transactions": 500, "unit": Unit()}
    told, untold, given = (
        population_of(found, items=items, **asked).notes
        for found, items in ((release, None), (silent, None), (silent, 60))
    )
    assert all("lack what that release missed" in notes[0] for notes in (told, untold, given))
    assert any("pass items=" in note for note in untold)
    assert not any("pass items=" in note for notes in (told, given) for note in notes)
