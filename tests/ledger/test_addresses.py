"""The address of a database is told without its password, however it is written."""

from __future__ import annotations

import pytest

import privmine as pm
from privmine.errors import InputError
from privmine.ledger.storage import Address, place_of


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("postgresql://officer@db.example.org/privacy", "postgresql://officer@db.example.org/privacy"),
        ("postgresql://officer:SE?CRET@db/x", "postgresql://officer@db/x"),
        ("postgresql://officer:SECRET@[::1]:5432/x?sslmode=require", "postgresql://officer@[::1]:5432/x"),
        ("postgresql://officer:SECRET@one:1,two:2/x", "postgresql://officer@one:1,two:2/x"),
        ("postgresql://db:5432?user=a@b&password=SECRET", "postgresql://db:5432"),
        ("postgresql://officer:SE/CRET@db/x", "postgresql://…"),
        ("postgresql://officer:SE@CRET@db/x", "postgresql://…"),
        ("postgresql://officer:SECRET", "postgresql://…"),
    ],
)
def test_an_address_as_text(address: str, told: str) -> None:
    """Where it cannot be told what the password is, nothing is shown."""
    assert str(Address(address)) == told
    assert repr(pm.ItemsetMiner(1, 1, ledger=address)).endswith(f"ledger={told!r})")


@pytest.mark.parametrize(
    "address",
    [
        "postgresql+psycopg://officer:SECRET@db/x",
        "POSTGRESQL://officer:SECRET@db/x",
        " postgresql://officer:SECRET@db/x",
        "host=db user=officer password=SECRET",
    ],
)
def test_an_address_of_another_kind_is_no_path(address: str) -> None:
    """As a path it would be in every message."""
    with pytest.raises(InputError, match="address of another kind") as refused:
        place_of(address)
    assert "SECRET" not in str(refused.value)
    assert "SECRET" not in repr(pm.ItemsetMiner(1, 1, ledger=address))
