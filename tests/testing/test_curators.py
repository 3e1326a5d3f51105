"""A curator for tests of components and queries."""

from __future__ import annotations

import numpy as np
import pytest

from privmine.api import ItemSupports, Query, Sensitivity
from privmine.errors import QueryError
from privmine.noise.secure import SecureNoise
from privmine.testing import curator_for

BASKETS = [["bread", "milk"], ["bread"]] * 50


class Failing(Query):
    """Fails while it counts."""

    name = "failing"
    size = 1
    sensitivity = Sensitivity(1, 1, 1)

    def evaluate(self, store):
        raise ZeroDivisionError("the mistake")


class Halved(Failing):
    """Answers with half a number."""

    def evaluate(self, store):
        return np.array([0.5])


def test_error_of_a_query_is_told_on_made_up_data() -> None:
    """Its author cannot mend what is withheld."""
    with pytest.raises(ZeroDivisionError, match="the mistake"):
        curator_for(BASKETS, trusted=True).measure(Failing())


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (Halved(), "1 whole numbers, as declared, not float64"),
        (ItemSupports(3), r"3 whole numbers, .* shape \(2,\)"),
    ],
)
def test_answer_of_another_form_is_described_on_made_up_data(query: Query, said: str) -> None:
    """What was declared, and what came."""
    with pytest.raises(ValueError, match=said):
        curator_for(BASKETS, trusted=True).measure(query)


def test_candidates_tell_errors_on_made_up_data() -> None:
    """A selection asks for scores, which are the values."""
    with pytest.raises(ZeroDivisionError, match="the mistake"):
        curator_for(BASKETS, trusted=True).choose(Failing())


def test_error_of_a_query_is_withheld_where_noise_is_private() -> None:
    """Then the data may be private, too; the message tells where to look."""
    with pytest.raises(QueryError, match=r"withheld.*curator_for"):
        curator_for(BASKETS, noise=SecureNoise(), trusted=True).measure(Failing())
