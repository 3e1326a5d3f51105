"""Drafts for the registry of deployments."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml
from attrs import evolve
from jsonschema import Draft7Validator
from registry_fields import SCHEMA
from report_releases import orders

import privmine as pm
from privmine.errors import InputError
from privmine.privacy.conversion import epsilon_of
from privmine.report.disclosure import NO_DATE, OPEN, Disclosure, disclosure_of
from privmine.report.paid import NamedRelease, books_of

OLD = Path(__file__).parents[1] / "release"
CHECKER = Draft7Validator(SCHEMA, format_checker=Draft7Validator.FORMAT_CHECKER)


def draft(release: pm.Release, ledger: Path | None = None) -> Disclosure:
    return disclosure_of(books_of([NamedRelease("top.json", release)], None if ledger is None else pm.Ledger(ledger)))


def read(made: Disclosure) -> dict[str, Any]:
    """The draft as another program reads it; it must fit the registry."""
    values = yaml.safe_load(made.to_yaml())
    assert [error.message for error in CHECKER.iter_errors(values)] == []
    return values["deployment"]


def all_texts(values: Any, path: str = "") -> list[tuple[str, str]]:
    if isinstance(values, dict):
        return [found for name, value in values.items() for found in all_texts(value, f"{path}.{name}".lstrip("."))]
    if isinstance(values, list):
        return [found for value in values for found in all_texts(value, path)]
    return [(path, values)] if isinstance(values, str) else []


def test_the_checker_finds_mistakes() -> None:
    """A field too many, a date that is none, and a word that is not among the choices."""
    fine = {
        "url_slug": "x", "status": "Draft", "tier": 1,
        "deployment": {"basic": {
            "name": "", "data_curators": ["x"], "description": "", "intended_use": "", "data_product_region": "",
            "data_product_type": "Dataset", "publication_date": "2026-01-01",
        }},
    }  # fmt: skip
    assert CHECKER.is_valid(fine)
    assert not CHECKER.is_valid({**fine, "surprise": 1})
    assert not CHECKER.is_valid({**fine, "tier": 0})
    basic = {**fine["deployment"]["basic"], "publication_date": "1/1/2026"}
    assert not CHECKER.is_valid({**fine, "deployment": {"basic": basic}})


def test_a_draft_says_what_receipt_and_ledger_say(customers) -> None:
    """Unit, variant, parameters, charges, composition, mechanisms and payment are there, and every field is used."""
    file, ledger = customers
    release = pm.load(file)
    made = read(draft(release, ledger))
    assert made["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0}
    assert made["privacy_loss"]["privacy_unit"] == release.receipt.whom
    assert "ε = 1.875" in made["privacy_loss"]["privacy_parameters_details"]
    assert made["dp_variant"]["variant_name"] == "Pure DP"
    assert made["deployment_model"]["release_type"] == "Many releases"
    for charge in release.receipt.charges:
        assert f"{charge.cost}: {charge.stage} ({charge.component})" in made["accounting"]["composition"]
        assert charge.mechanism in made["implementation"]["mechanisms"]
    assert str(release.receipt.payment) in made["administrative"]["notes"]
    assert made["basic"]["publication_date"] == str(release.receipt.time)[:10]
    fields = SCHEMA["properties"]["deployment"]["properties"]
    unused = {
        (part, name) for part, record in fields.items() for name in record["properties"] if name not in made[part]
    }
    assert unused == {("basic", "data_product_sector"), ("deployment_model", "data_source_type_details")}


def test_every_open_field_is_listed(customers) -> None:
    """Wherever a person must write something, the head of the file names the field."""
    made = draft(pm.load(customers[0]))
    text = made.to_yaml()
    open_here = {path for path, value in all_texts(yaml.safe_load(text)) if OPEN in value}
    assert open_here <= set(made.open_fields)
    assert {"deployment.basic.intended_use", "deployment.implementation.justification"} <= open_here
    assert all(f"#   {path}\n" in text for path in made.open_fields)


def test_delta_and_a_published_number_are_told(customers) -> None:
    """ρ and δ are parameters; N without noise is an unprotected quantity."""
    made = read(draft(pm.mine(orders(), k=3, epsilon=1, delta="1e-6")))
    parameters = made["privacy_loss"]["privacy_parameters"]
    assert made["dp_variant"]["variant_name"] == "Zero-concentrated DP"
    assert parameters["delta"] == 1e-6
    assert set(parameters) == {"epsilon", "delta", "rho"}
    release = pm.load(customers[0])
    published = evolve(release, receipt=evolve(release.receipt, n_public=True))
    made = read(draft(published))
    assert "published without noise" in made["dp_variant"]["unprotected_quantities"]
    assert made["privacy_loss"]["privacy_parameters"]["epsilon"] == 2.0
    assert "replacing" in made["privacy_loss"]["privacy_unit_details"]


def test_rho_is_that_of_the_neighbours_that_are_stated() -> None:
    """Where one transaction replaces another, ρ counts four times, as in ε."""
    baskets = pm.read([["bread", "milk"], ["tea"]] * 500, items=["bread", "milk", "tea"])
    release = pm.mine(baskets, k=3, epsilon=1, delta="1e-6", n_public=True)
    loss = read(draft(release))["privacy_loss"]
    assert "replacing" in loss["privacy_unit_details"]
    parameters = loss["privacy_parameters"]
    assert parameters["rho"] == float(4 * release.receipt.cost.amount)
    assert epsilon_of(Fraction(parameters["rho"]), Fraction("1e-6")) == pytest.approx(parameters["epsilon"], rel=1e-8)


def test_private_items_are_no_zero_concentrated_privacy() -> None:
    """A name that one customer alone has comes out with a probability that no ρ has."""
    baskets = pm.read([["bread", "milk"], ["tea"]] * 500, items="private")
    made = read(draft(pm.mine(baskets, k=3, epsilon=1, delta="1e-6")))
    assert made["dp_variant"]["variant_name"] == "Approximate DP"
    assert set(made["privacy_loss"]["privacy_parameters"]) == {"epsilon", "delta"}


@pytest.mark.parametrize(("composition", "words"), [("rho", "ρ is summed"), ("sums", "ε and δ are summed")])
def test_what_a_ledger_sums_is_told(composition: str, words: str, tmp_path: Path) -> None:
    """A budget with a δ adds up ρ unless it was opened otherwise."""
    ledger = pm.Ledger(tmp_path / "budget.db")
    ledger.init("orders", 2, "1e-5", composition=composition, unit="customer_id")
    release = pm.mine(orders(), k=3, epsilon=1, delta="1e-6", ledger=ledger, dataset="orders")
    assert f"Across releases: {words}." in read(draft(release, tmp_path / "budget.db"))["accounting"]["composition"]


@pytest.mark.parametrize("version", ["version1", "version3"])
def test_releases_of_earlier_versions_fit_the_registry(version: str) -> None:
    """What was not noted is open: the date is the registry's own for an unknown one."""
    release = pm.load(OLD / version / "private.json")
    made = read(draft(release))
    assert made["basic"]["publication_date"] == NO_DATE
    assert made["privacy_loss"]["privacy_unit"] == release.receipt.whom
    assert made["privacy_loss"]["privacy_parameters"]["epsilon"] == float(release.receipt.guarantee.epsilon)


def test_words_of_others_stay_words(customers) -> None:
    """A note or a dataset that looks like YAML changes no field."""
    release = pm.load(customers[0])
    words = 'x"\n  surprise: 1 # {{ \u202e'
    harmful = evolve(release, receipt=evolve(release.receipt, payment=None, dataset=words, notes=(words,)))
    assert "surprise: 1" in read(draft(harmful))["accounting"]["post_processing"]


def test_a_simulation_is_not_disclosed() -> None:
    """It protects nobody; nor is there one draft for two releases."""
    with pytest.raises(InputError, match="simulated"):
        draft(pm.load(OLD / "version3" / "simulated.json"))
    two = [NamedRelease(name, pm.load(OLD / name / "private.json")) for name in ("version1", "version3")]
    with pytest.raises(InputError, match="about one release"):
        disclosure_of(books_of(two, None))


def test_data_that_grows(tmp_path) -> None:
    """The ledger notes rows that came, so that nobody has to say it."""
    ledger = pm.Ledger(tmp_path / "budget.db")
    ledger.init("orders", 2)
    release = pm.mine([["a", "b"]] * 50, k=2, epsilon=1, ledger=ledger, dataset="orders")
    made = draft(release, tmp_path / "budget.db")
    assert "deployment.deployment_model.data_source_type" in made.open_fields
    assert read(made)["deployment_model"]["data_source_type"] == "Static"
    ledger.grow("orders", "same")
    made = draft(release, tmp_path / "budget.db")
    assert "deployment.deployment_model.data_source_type" not in made.open_fields
    assert read(made)["deployment_model"]["data_source_type"] == "Dynamic"
