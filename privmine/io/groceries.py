"""The embedded baskets: a generated week at a grocery shop that has never existed.

They are what `privmine mine` runs on without data, so that a first look needs no file and touches
nobody's privacy. The shop has shoppers of several kinds; each kind has habits, and a habit puts most
of its products into the basket together. The rest is browsing along the shelves.

The baskets must be the same everywhere and for good, so only the raw 64-bit words of PCG64 are used
(numpy keeps bit streams stable, the methods of its generators not), and only integer arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from privmine.store.transactions import Transactions

Labels: TypeAlias = list[str]

BASKETS: Final = 10_000
SEED: Final = 2012
LONGEST: Final = 20

#: What the shop sells, the products that catch the browsing eye most often first.
SHELVES: Final = """
whole milk, bananas, white bread, eggs, tomatoes, apples, butter, onions, potatoes, cheddar,
yoghurt, orange juice, chicken breast, carrots, coffee, chocolate, cucumber, toilet paper, rye bread, crisps,
lettuce, beer, cola, mineral water, peppers, mushrooms, lemons, garlic, rice, olive oil,
ham, sausages, bacon, beef mince, spaghetti, tomato sauce, parmesan, mozzarella, red wine, cream,
strawberries, grapes, oranges, pears, blueberries, avocados, broccoli, spinach, courgettes, leeks,
flour, sugar, jam, honey, peanut butter, muesli, porridge oats, corn flakes, croissants, bagels,
black tea, green tea, biscuits, crackers, ice cream, frozen pizza, frozen peas, fish fingers, salmon, tuna,
tortillas, salsa, kidney beans, chickpeas, lentils, coconut milk, curry paste, soy sauce, noodles, ginger,
ketchup, mustard, mayonnaise, burger buns, burgers, charcoal, gherkins, feta, olives, hummus,
brie, goat cheese, white wine, sparkling wine, gin, tonic water, limes, almonds, raisins, walnuts,
baking powder, vanilla sugar, cocoa, oat milk, tofu, nappies, baby wipes, baby food, cat food, dog food,
washing powder, dish soap, kitchen roll, shampoo, toothpaste, soap, candles, matches, batteries, cut flowers
"""

#: What is bought together, each product with its chance in a thousand once the habit strikes.
HABITS: Final[Mapping[str, Mapping[str, int]]] = {
    "breakfast": {"white bread": 920, "butter": 880, "jam": 800},
    "coffee": {"coffee": 940, "whole milk": 850},
    "pasta": {"spaghetti": 930, "tomato sauce": 900, "parmesan": 850},
    "tacos": {"tortillas": 950, "salsa": 920, "avocados": 930, "beef mince": 930},
    "baking": {"flour": 930, "sugar": 900, "eggs": 900, "butter": 850, "baking powder": 500},
    "barbecue": {"sausages": 920, "burger buns": 850, "charcoal": 800, "ketchup": 700, "beer": 600},
    "newborn": {"nappies": 960, "beer": 900, "baby wipes": 500},
    "salad": {"tomatoes": 920, "cucumber": 880, "lettuce": 850, "feta": 450},
    "film night": {"crisps": 900, "cola": 850, "chocolate": 600},
    "curry": {"rice": 900, "coconut milk": 850, "curry paste": 850, "chicken breast": 700},
    "cheese board": {"brie": 850, "crackers": 800, "grapes": 800, "red wine": 800},
    "tea time": {"black tea": 850, "biscuits": 850, "whole milk": 500},
    "staples": {"whole milk": 800, "white bread": 650, "eggs": 550, "bananas": 550},
}


@frozen
class Shopper:
    """A kind of shopper; all figures in a thousand.

    Attributes:
        share: how many of the baskets are theirs.
        browsing: how likely one more product catches their eye, at each of `GLANCES` glances.
        habits: how often each habit strikes.
    """

    share: int
    browsing: int
    habits: Mapping[str, int]


FAMILY: Final = Shopper(
    share=380,
    browsing=330,
    habits={
        "staples": 480,
        "breakfast": 420,
        "newborn": 340,
        "pasta": 260,
        "tacos": 240,
        "coffee": 220,
        "baking": 170,
        "salad": 120,
        "film night": 80,
        "barbecue": 60,
    },
)
STUDENT: Final = Shopper(
    share=220,
    browsing=200,
    habits={"pasta": 400, "tacos": 230, "film night": 200, "coffee": 200, "staples": 180, "breakfast": 80},
)
COOK: Final = Shopper(
    share=200,
    browsing=330,
    habits={
        "salad": 360,
        "coffee": 320,
        "baking": 240,
        "staples": 240,
        "pasta": 220,
        "curry": 200,
        "cheese board": 200,
        "tacos": 120,
    },
)
ON_THE_WAY_HOME: Final = Shopper(
    share=200,
    browsing=220,
    habits={
        "staples": 330,
        "coffee": 300,
        "breakfast": 200,
        "tea time": 140,
        "newborn": 110,
        "film night": 80,
        "barbecue": 70,
    },
)
SHOPPERS: Final = (FAMILY, STUDENT, COOK, ON_THE_WAY_HOME)
GLANCES: Final = 8


def groceries() -> Transactions:
    """The embedded baskets, with the whole assortment as the item universe."""
    labels, offsets, items = generate()
    return Transactions.from_lists(_baskets(labels, offsets, items), items=labels)


def generate(n: int = BASKETS, seed: int = SEED) -> tuple[Labels, NDArray[np.int64], NDArray[np.int32]]:
    """Generate baskets, the same for the same arguments on every platform.

    Args:
        n: how many baskets.
        seed: another one gives another week at the same shop.

    Returns:
        The products in alphabetical order; where each basket starts in the third array, and where the
        last one ends; and the positions of the products, ascending within each basket.
    """
    shelf = [label.strip() for label in SHELVES.split(",")]
    labels = sorted(shelf)
    number = {label: position for position, label in enumerate(labels)}
    words = _Words(seed)

    shares = np.cumsum([shopper.share for shopper in SHOPPERS])
    kind = np.searchsorted(shares, words.below(1000, n), side="right")
    taken = np.zeros((n, len(labels)), dtype=np.bool_)
    for habit, products in HABITS.items():
        chance = np.array([shopper.habits.get(habit, 0) for shopper in SHOPPERS])
        struck = np.flatnonzero(words.below(1000, n) < chance[kind])
        for product, likely in products.items():
            bought = words.below(1000, len(struck)) < likely
            taken[struck[bought], number[product]] = True

    # Zipf's law along the shelves, flattened at its head, in whole numbers.
    attraction = np.cumsum(1_000_000 // (np.arange(len(shelf)) + 8))
    position = np.array([number[label] for label in shelf])
    browsing = np.array([shopper.browsing for shopper in SHOPPERS])
    for glance in range(GLANCES):
        seen = np.searchsorted(attraction, words.below(int(attraction[-1]), n), side="right")
        # Nobody leaves with nothing: an empty basket takes what the first glance fell on.
        picked = (words.below(1000, n) < browsing[kind]) | (~taken.any(axis=1) if glance == 0 else False)
        taken[np.flatnonzero(picked), position[seen[picked]]] = True

    # An overfull basket loses what comes last in the alphabet.
    taken &= np.cumsum(taken, axis=1) <= LONGEST
    offsets = np.concatenate([[0], np.cumsum(taken.sum(axis=1))]).astype(np.int64)
    return labels, offsets, np.nonzero(taken)[1].astype(np.int32)


def _baskets(labels: Labels, offsets: NDArray[np.int64], items: NDArray[np.int32]) -> Iterator[Labels]:
    named = [labels[item] for item in items.tolist()]
    bounds = offsets.tolist()
    for start, stop in pairwise(bounds):
        yield named[start:stop]


class _Words:
    """Random whole numbers made of the raw words of one bit stream."""

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def below(self, bound: int, count: int) -> NDArray[np.int64]:
        """So many numbers from 0 to bound − 1; the bias of at most bound/2³² does not matter here."""
        high = np.asarray(self._bits.random_raw(count), dtype=np.uint64) >> np.uint64(32)
        return ((high * np.uint64(bound)) >> np.uint64(32)).astype(np.int64)
