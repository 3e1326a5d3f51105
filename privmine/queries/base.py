"""What a query is, and what a selection is made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeAlias

from attrs import field, frozen

from privmine.model import IntArray, Itemset, itemset_tuple
from privmine.noise.protocol import Tail
from privmine.privacy import Sensitivity
from privmine.store.abstract import Store

#: What a selection answers with: an itemset, or a number such as λ.
Candidate: TypeAlias = Itemset | int


@frozen
class Scores:
    """The exact scores of a selection's candidates; it never leaves the curator.

    Attributes:
        values: the scores of the listed candidates.
        candidate: names the listed candidate at a position.
        tail: the candidates that are not listed, if any.
        tail_member: draws a uniform candidate of the whole candidate set, given a source of uniform
            integers; the curator rejects what is listed or was drawn before.
    """

    values: IntArray
    candidate: Callable[[int], Candidate]
    tail: Tail | None = None
    tail_member: Callable[[Callable[[int], int]], Candidate] | None = None


class Query(ABC):
    """A question to the data with whole numbers as its answer."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What the receipt calls it. It is shown to anybody: public facts only."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many numbers the answer has, or how many candidates a selection has; public."""

    @property
    @abstractmethod
    def sensitivity(self) -> Sensitivity:
        """How far one transaction, added or removed, can move the answer."""

    @abstractmethod
    def evaluate(self, store: Store) -> IntArray:
        """The exact answer."""

    def candidate(self, index: int) -> Candidate:
        """What a selection answers with when it draws position `index`."""
        return index

    def scores(self, store: Store) -> Scores:
        """The exact answer as the scores of a selection."""
        return Scores(self.evaluate(store), self.candidate)


@frozen
class ItemsetQuery(Query):
    """A query with one number for each of given itemsets."""

    itemsets: tuple[Itemset, ...] = field(converter=itemset_tuple)

    @property
    def size(self) -> int:
        return len(self.itemsets)

    def candidate(self, index: int) -> Candidate:
        return self.itemsets[index]
