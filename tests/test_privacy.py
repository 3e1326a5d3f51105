"""What a look at the data costs, and how the receipt tells it."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import pytest

from privmine.errors import InputError
from privmine.model import Unit
from privmine.privacy import Charge, Noise, PureDP, Receipt, Sensitivity, amount

NORMS = Sensitivity(8, 20, 3)
MONOTONE = Sensitivity(8, 20, 3, monotone=True)


def test_norms_of_several_transactions() -> None:
    """m transactions move m times as far, and the squared norm by m²; one direction stays one direction."""
    assert NORMS.times(5) == Sensitivity(40, 500, 15, monotone=False)
    assert MONOTONE.times(5) == Sensitivity(40, 500, 15, monotone=True)


def test_a_sensitivity_claims_no_direction_unless_told() -> None:
    """Monotone is a promise that halves the noise of a selection, so it is made explicitly."""
    assert not Sensitivity(1, 1, 1).monotone


@pytest.mark.parametrize(("sensitivity", "factor"), [(MONOTONE, 1), (NORMS, 2)], ids=["monotone", "both ways"])
def test_the_noise_of_pure_privacy(sensitivity: Sensitivity, factor: int) -> None:
    """Measurements go by L1; selections by L∞ and the number of draws, and twice that where scores go both ways."""
    definition, epsilon = PureDP(), Fraction(1, 7)
    assert definition.scale(sensitivity, epsilon) == 56
    assert definition.rate(sensitivity, epsilon, 5) == Fraction(1, 7 * 5 * 3 * factor)
    assert definition.top_scale(sensitivity, epsilon, 5) == 7 * 5 * 3 * factor


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(40)])
def test_the_variance_of_noise(scale: Fraction) -> None:
    """2b² of the continuous distribution; of the discrete one the sum of x²·p(x)."""
    weights = {x: exp(-abs(x) / scale) for x in range(-4000, 4001)}
    variance = sum(x * x * weight for x, weight in weights.items()) / sum(weights.values())
    assert Noise("discrete laplace", scale).variance == pytest.approx(variance)
    assert Noise("laplace", scale).variance == pytest.approx(2 * float(scale) ** 2)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(1, 2), "0.5"),
        (Fraction(3), "3"),
        (Fraction(1, 3), "1/3 ≈ 0.333333"),
        (Fraction(1234567, 10**6), "1234567/1000000 ≈ 1.23457"),
        (Fraction(1, 1234567890123456789), "≈ 8.1e-19"),
        (Fraction(1, 123456789012345678), "1/123456789012345678 ≈ 8.1e-18"),
        (Fraction(10**400), "a number beyond all bounds"),
    ],
)
def test_amounts_are_never_rounded_silently(value: Fraction, text: str) -> None:
    """Decimal where that is exact, else the fraction and about what it is, or only the latter if it is long."""
    assert amount(value) == text


def receipt(**changes: object) -> Receipt:
    """One charge that privmine vouches for, and one that it does not."""
    charges = (
        Charge("select_elements", "tried", "supports", "exponential mechanism, 2 draws", Fraction(1, 3)),
        Charge("reconstruct_counts", "own", "bins", "discrete laplace of scale 3", "2/3", verified=False),
    )
    values: dict[str, object] = {
        "epsilon": 1,
        "definition": "pure ε-differential privacy",
        "protects": "one transaction: adding or removing it",
        "noise": "exact noise",
        "private": True,
        "charges": charges,
    }
    return Receipt(**(values | changes))


def test_the_receipt_adds_up() -> None:
    """What was spent is the sum of the charges; the guarantee is ε, or 2ε where N is published."""
    assert receipt().spent == 1
    assert receipt(charges=()).spent == 0
    assert receipt().guaranteed == 1
    assert receipt(n_public=True).guaranteed == 2


def test_the_receipt_in_words() -> None:
    """The promise, whom it protects, each charge with its caveat, and the sum."""
    assert receipt().lines() == [
        "Privacy: pure ε-differential privacy, ε = 1",
        "Protects: one transaction: adding or removing it",
        "Noise: exact noise",
        "Charge: ε = 1/3 ≈ 0.333333  select_elements (tried): supports, exponential mechanism, 2 draws",
        "Charge: ε = 2/3 ≈ 0.666667  reconstruct_counts (own): bins, discrete laplace of scale 3"
        " [sensitivity declared, not verified]",
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
    assert "in 1 charge for one" in total
    assert total.endswith("ε = 2")
    assert receipt(dataset="orders").head()[-1] == "Charged to: orders"


def test_whom_and_what_a_receipt_is_about() -> None:
    """In a few words for tables, by the unit that was protected."""
    assert receipt().whom == "one transaction"
    assert receipt().counted == "transactions"
    assert receipt(unit=Unit()).counted == "transactions"
    assert receipt(unit=Unit("customer", merged=True)).counted == "transactions, one for each customer"
    assert receipt(unit=Unit("customer", 5)).counted == "counted transactions, at most 5 of each customer"


def test_a_receipt_survives_its_file() -> None:
    """Fractions are text, so nothing is rounded; what is no receipt is refused in a sentence."""
    kept = receipt(unit=Unit("customer", 5), dataset="orders", entry=7, notes=["x"])
    plain = kept.to_dict()
    assert plain["epsilon"] == "1"
    assert [charge["epsilon"] for charge in plain["charges"]] == ["1/3", "2/3"]
    assert [charge["verified"] for charge in plain["charges"]] == [True, False]
    assert Receipt.from_dict(plain) == kept
    assert Receipt.from_dict({name: value for name, value in plain.items() if name != "unit"}).unit is None
    with pytest.raises(InputError, match="not a receipt"):
        Receipt.from_dict({"epsilon": "1"})
