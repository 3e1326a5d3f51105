from __future__ import annotations

import pytest

import privmine as pm
from privmine.planning.plan_text import big, choice_table, epsilon_table, number, percent, span


def test_a_plan_prints_all_its_tables() -> None:
    """Assumptions, budget, counts, choices, other ε, and the answers asked for."""
    text = str(pm.plan(100, 1, transactions=88_000, items=16_470, lam=38, target_error=50))
    for part in (
        "Plan: privbasis, k = 100, ε = 1\n",
        "Assumes: about 88,000 transactions, 16,470 items to choose from, λ = 38",
        "Protects: one transaction, not one customer",
        "reconstruct_counts  basis-frequencies  0.5",
        "38 of 16,470",
        "▸ 1",
        "Target: ε = ",
    ):
        assert part in text
    assert max(len(line) for line in text.splitlines() if line.startswith("  ")) <= 80


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ({"lam": 8}, "For one basis of 8 items."),
        ({"lam": 20}, "sets of bases were tried. The data decides which."),
        ({"bases": 7, "length": 4}, "For 7 bases of up to 4 items, for itemsets in one basis of 4 items"),
        ({"bases": [["tea", "milk"], ["tea"]]}, "For the given bases: 2 bases of up to 2 items."),
        ({"method": "tf"}, "Each of 30 itemsets is counted separately."),
    ],
)
def test_what_the_errors_are_for_is_said(question: dict[str, object], sentence: str) -> None:
    """One basis, several, given ones, or none."""
    assert sentence in str(pm.plan(30, 1, **question))  # type: ignore[arg-type]


def test_one_is_no_plural() -> None:
    """Of transactions as of items."""
    assert "Assumes: about 1 transaction, 1 item to choose from" in str(pm.plan(1, 1, transactions=1, items=1))


def test_who_is_protected_is_said() -> None:
    """With the number of transactions that count."""
    assert "one customer_id, of whose transactions at most 5 are counted" in str(
        pm.plan(30, 1, lam=6, unit="customer_id", max_baskets=5)
    )
    merged = pm.plan(30, 1, lam=6, merge_by="customer_id")
    assert "one customer_id, whose transactions were merged into one" in str(merged)
    assert "one customer_id, of whose transactions at most 1 are counted" in str(
        pm.plan(30, 1, lam=6, unit="customer_id")
    )


def test_what_is_found_is_told_alike_in_both_tables() -> None:
    """Over ε, the row of the plan itself spans the figures of the choices above."""
    made = pm.plan(100, 1, items=16_470, lam=38)
    leads = [number(choice.lead) for choice in made.choices]
    (planned,) = [row for row in epsilon_table(made).rows if row[0].startswith("▸")]
    assert planned[-1] == f"{min(leads)} – {max(leads)}"
    assert leads == [row[1] for row in choice_table(made).rows]


def test_one_item_is_one_item() -> None:
    """Not 1 items."""
    assert "Assumes: 1 item to choose from, λ = 1 item in the top itemsets" in str(pm.plan(1, 1, items=1))


def test_a_notebook_shows_the_plan_and_no_markup() -> None:
    """A dataset's name is text."""
    made = pm.plan(30, 1, lam=6)
    assert made._repr_html_().startswith("<pre>Plan: privbasis")
    assert repr(made) == "<Plan: privbasis, k = 30, ε = 1>"


def test_numbers_have_no_more_digits_than_they_deserve() -> None:
    """Large ones are whole, small ones have two digits."""
    assert [number(value) for value in (12345.6, 10, 9.94, 0.0312)] == ["12,346", "10", "9.9", "0.031"]
    assert [percent(value) for value in (25.4, 0.2, 3.0)] == ["25", "0.20", "3.0"]
    assert [span(1.01, 1.02), span(10, 20)] == ["1", "10 – 20"]
    assert [big(1234), big(2**64)] == ["1,234", "10^19"]
