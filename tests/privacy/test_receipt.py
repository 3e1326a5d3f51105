"""What a look at the data costs, and how the receipt tells it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from attrs import asdict

from privmine.errors import InputError
from privmine.noise.simulated import SimulatedNoise
from privmine.privacy import Charge, Cost, DiscreteLaplace, Laplace, PureDP, Receipt, Unit
from privmine.privacy.receipt import _bounded_sum

DISCRETE = DiscreteLaplace(3)


def cost(value: Any) -> Cost:
    return PureDP().cost(value)


def receipt(**changes: object) -> Receipt:
    """One charge that privmine vouches for, and one that it does not."""
    charges = (
        Charge("select_elements", "tried", "supports", "exponential mechanism, 2 draws", cost("1/3"), verified=False),
        Charge("reconstruct_counts", "own", "bins", str(DISCRETE), cost("2/3"), noise=DISCRETE),
    )
    values: dict[str, object] = {
        "cost": cost(1),
        "noise": "exact noise",
        "private": True,
        "charges": charges,
    }
    return Receipt(**(values | changes))


def test_the_receipt_adds_up() -> None:
    """What was spent is the sum of the charges; the guarantee is ε, or 2ε where N is published."""
    assert receipt().spent == cost(1)
    assert receipt(charges=()).spent == 0
    assert receipt().price == str(receipt().guarantee) == "ε = 1"
    assert str(receipt(n_public=True).guarantee) == "ε = 2"
    assert receipt(private=False).price == "simulated, nominal ε = 1"


def test_the_receipt_in_words() -> None:
    """The promise, whom it protects, each charge with its caveat, and the sum."""
    assert receipt().lines() == [
        "Privacy: pure ε-differential privacy, ε = 1",
        "Protects: one transaction, not one customer: adding or removing it changes the probability of any outcome by "
        "a factor of at most e^ε",
        "Noise: exact noise",
        "Charge: ε = 1/3 ≈ 0.333333  select_elements (tried): supports, exponential mechanism, 2 draws"
        " [sensitivity declared, not verified]",
        "Charge: ε = 2/3 ≈ 0.666667  reconstruct_counts (own): bins, discrete laplace of scale 3",
        "Total: ε = 1 in 2 charges",
    ]
    assert str(receipt()) == "\n".join(receipt().lines())


def test_the_receipt_in_more_words() -> None:
    """A simulation says that it is not private; a ledger, the pipeline, assumptions and notes are named."""
    told = receipt(
        private=False,
        n_public=True,
        charges=receipt().charges[:1],
        dataset="orders",
        entry=7,
        pipeline={"select_elements": "tried(eta=2)", "reconstruct_counts": "own"},
        assumptions=["the items are public"],
        notes=["A clique was split."],
    )
    lines = told.lines()
    assert lines[0].startswith("NOT PRIVATE")
    assert "nominal ε = 1)" in lines[0]
    assert "Pipeline: tried → own" in lines
    assert "Charged to: orders, no. 7 in the ledger's log" in lines
    assert "Assumes: the items are public" in lines
    assert "Note: A clique was split." in lines
    (total,) = (line for line in lines if line.startswith("Total"))
    assert "in 1 charge if one" in total
    assert total.endswith("; ε = 2 if one replaces another")
    assert receipt(dataset="orders").head()[-1] == "Charged to: orders"


def test_whom_and_what_a_receipt_is_about() -> None:
    """The words of its unit; a simulation protects nobody; an old receipt without a unit keeps its own words."""
    assert receipt().whom == "one transaction, not one customer"
    assert receipt(unit=Unit("customer", 5)).counted == "counted transactions, at most 5 of each customer"
    assert receipt(private=False).whom == "nobody"
    assert receipt(private=False).protects.endswith("a private run would protect one transaction, not one customer")
    words = "one basket: adding or removing it: as before"
    old = receipt(unit=None, former_protects=words)
    assert (old.whom, old.protects, old.counted) == ("one basket", words, "transactions")
    assert (old.to_dict()["unit"], old.to_dict()["protects"]) == (None, words)


def test_a_receipt_survives_its_file() -> None:
    """Fractions are text, so nothing is rounded; what is no receipt is refused in a sentence."""
    kept = receipt(unit=Unit("customer", 2), dataset="orders", entry=7, notes=["x"])
    plain = kept.to_dict()
    assert plain["epsilon"] == "1"
    assert [charge["epsilon"] for charge in plain["charges"]] == ["1/3", "2/3"]
    assert [charge["verified"] for charge in plain["charges"]] == [False, True]
    assert Receipt.from_dict(plain) == kept
    assert (kept.notes, receipt(assumptions=["y"]).assumptions) == (("x",), ("y",))
    assert plain["charges"][1]["noise"] == {"distribution": "discrete laplace", "scale": "3"}
    old = Receipt.from_dict({name: value for name, value in plain.items() if name != "unit"})
    assert (old.unit, old.protects) == (None, kept.protects)
    with pytest.raises(InputError, match="not a receipt"):
        Receipt.from_dict({"epsilon": "1"})


def _forged(**changes: object) -> dict[str, object]:
    return receipt().to_dict() | changes


def _with_last_charge(**changes: object) -> dict[str, object]:
    charges = receipt().to_dict()["charges"]
    return _forged(charges=[charges[0], charges[1] | changes])


def _with_costs(*costs: str) -> dict[str, object]:
    charges = receipt().to_dict()["charges"]
    return _forged(charges=[charge | {"epsilon": price} for charge, price in zip(charges, costs, strict=True)])


def _measured(**changes: object) -> dict[str, object]:
    return receipt().to_dict()["charges"][1] | changes


@pytest.mark.parametrize(
    ("forged", "match"),
    [
        # The words say another unit than the field does, or the other way round.
        (_forged(unit={"name": "customer", "baskets": 1, "merged": True}), "different units of protection"),
        (_forged(protects=receipt(unit=Unit("customer", 5)).protects), "different units of protection"),
        (_forged(n_public=True), "different units of protection"),
        # A unit of more transactions than the noise was drawn for: 2/3 buys scale 3, which is no more than 2 of them.
        (
            _forged(unit=asdict(Unit("customer", 3)), protects=receipt(unit=Unit("customer", 3)).protects),
            "costs more than was charged",
        ),
        # A scale that its charge cannot have paid for, or that its own words contradict.
        (
            _with_last_charge(
                noise={"distribution": "discrete laplace", "scale": "1"}, mechanism="discrete laplace of scale 1"
            ),
            "costs more than was charged",
        ),
        (_with_last_charge(noise={"distribution": "discrete laplace", "scale": "30"}), "contradict each other"),
        (
            _with_last_charge(noise={"distribution": "laplace", "scale": "3"}, mechanism="laplace of scale 3"),
            "contradict each other",
        ),
        (_forged(protects=receipt(private=False).protects), "simulated release is private"),
        (_forged(noise=SimulatedNoise(1).name), "simulated release is private"),
        (_forged(epsilon="2"), "do not sum to the ε"),
        (_forged(epsilon="much"), "ε"),
        (_forged(epsilon="0", charges=[]), "not above 0"),
        (_forged(epsilon="-1", charges=[]), "not above 0"),
        (_with_costs("2", "-1"), "not above 0"),
        (_with_costs("1", "0"), "not above 0"),
        # The second of two measurements is looked at as well.
        (
            _forged(
                charges=[
                    _measured(epsilon="1/3"),
                    _measured(epsilon="2/3") | {"noise": {"distribution": "discrete laplace", "scale": "30"}},
                ]
            ),
            "contradict each other",
        ),
        (_forged(definition="ε-ish"), "does not know"),
        (_with_last_charge(noise={"distribution": "discrete laplace"}), "not a receipt"),
        (_with_last_charge(noise={"distribution": "discrete laplace", "scale": "0"}), "not above 0"),
        (_forged(rho="1"), "not a receipt"),
    ],
)
def test_a_receipt_that_contradicts_itself_is_refused(forged: dict[str, object], match: str) -> None:
    """Whoever forges one field has to forge all that follow from it."""
    assert Receipt.from_dict(receipt().to_dict()) == receipt()
    with pytest.raises(InputError, match=match):
        Receipt.from_dict(forged)


def test_a_sensitivity_that_nobody_verified_may_be_small() -> None:
    """What noise costs at least is known of privmine's own queries only."""
    small = {"noise": {"distribution": "discrete laplace", "scale": "1"}, "mechanism": "discrete laplace of scale 1"}
    kept = Receipt.from_dict(_with_last_charge(**small, verified=False))
    assert (kept.charges[1].verified, kept.charges[1].noise) == (False, DiscreteLaplace(1))


@pytest.mark.parametrize(
    "values",
    [
        [],
        None,
        "receipt",
        _forged(charges=[[]]),
        _forged(charges=["x"]),
        _forged(pipeline={"a": 1}),
        _forged(private=1),
        _forged(n_public=0),
        _forged(entry=True),
        _forged(version=3),
        _forged(dataset=5),
        _forged(noise=None),
        _forged(assumptions=[1]),
        _forged(notes=[None]),
        _forged(notes=["lone \ud800 surrogate"]),
        _forged(unit={"name": 3, "baskets": 1, "merged": False}),
        _with_last_charge(verified=1),
        _with_last_charge(query=None),
    ],
)
def test_what_is_no_receipt_is_refused(values: Any) -> None:
    """Lists and texts where names and values should be."""
    with pytest.raises(InputError, match="not a receipt"):
        Receipt.from_dict(values)


def test_the_receipt_of_a_simulation_survives_its_file() -> None:
    """Its noise is continuous and protects nobody; its words may be those of another version."""
    noise = Laplace(3)
    charges = [Charge("reconstruct_counts", "own", "bins", str(noise), cost(1), noise=noise)]
    simulated = receipt(private=False, noise=SimulatedNoise(1).name, charges=charges)
    assert Receipt.from_dict(simulated.to_dict()) == simulated
    assert Receipt.from_dict(simulated.to_dict() | {"protects": "nobody, as it was put"}) == simulated


def test_a_sum_of_too_many_digits_is_not_made() -> None:
    """Adding up stops where denominators grow beyond 16,384 bits, which no budget needs."""
    assert _bounded_sum([Fraction(1, 2**16383)]) == Fraction(1, 2**16383)
    assert _bounded_sum([Fraction(1, 2**16384)]) is None
    assert _bounded_sum([Fraction(1, 3**6000), Fraction(1, 2**9000)]) is None
    assert _bounded_sum([]) == 0
