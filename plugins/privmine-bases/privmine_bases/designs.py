"""Covering designs: few blocks of numbers that contain every pair of numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privmine.api import IntArray, Itemset, in_order

PairMatrix: TypeAlias = NDArray[np.bool_]

#: How many blocks one attempt at a better design takes out, from … to.
FEWEST_REPLACED, MOST_REPLACED = 2, 7
#: How much chance there is in which blocks those are: 0, always the ones that are missed least.
CHANCE = 0.7


def fewest_blocks(points: int, length: int) -> int:
    """A lower bound on the number of blocks (Schönheim's), below which no search need go on."""
    if points <= length:
        return 1
    around_each = -(-(points - 1) // (length - 1))
    return -(-points * around_each // length)


def covering_design(points: int, length: int, iterations: int = 0, seed: int = 0) -> list[Itemset]:
    """Cover all pairs of the numbers 0 … points − 1 by blocks of at most `length` numbers.

    A greedy cover, then attempts at a better one: take a few blocks out, cover greedily what they alone
    had covered, ties in random order, drop what has become superfluous, and keep the result unless it
    is worse. A block that alone covers few pairs is more likely to be taken out.

    Args:
        points: how many numbers; at least 1.
        length: the longest block; at least 2.
        iterations: the limit on attempts. They end early where no fewer blocks are possible.
        seed: of the attempts' random choices. Equal arguments give equal designs.
    """
    if points <= length:
        return [tuple(range(points))]
    design = _Design(points, greedy_blocks(~np.eye(points, dtype=np.bool_), length, np.arange(points)))
    design.drop_superfluous()
    random = np.random.default_rng(seed)
    for _ in range(iterations):
        if len(design.blocks) <= fewest_blocks(points, length):
            break
        # On a tie the new design comes first: to wander among equals is how the search leaves a dead end.
        design = min(_attempt(design, length, random), design, key=_Design.badness)
    return in_order(design.blocks)


def greedy_blocks(open_pairs: PairMatrix, length: int, order: IntArray) -> list[Itemset]:
    """Cover the open pairs, block by block.

    A block starts with the number that has most open pairs, and takes in what closes most of them.
    It may stay shorter than `length`: a number that closes no pair would only double the block's noise.

    Args:
        open_pairs: symmetric, its diagonal false; which pairs are to be covered.
        length: the longest block.
        order: a permutation of the numbers, in which ties are broken.
    """
    left = open_pairs[np.ix_(order, order)]
    blocks = []
    while left.any():
        degrees = left.sum(axis=1)
        block = [int(degrees.argmax())]
        closes = left[block[0]].astype(np.int64)
        while len(block) < length:
            # Lexicographic in one number: what closes most pairs, then what has most of them open.
            chosen = int((closes * (len(left) + 1) + degrees * (closes > 0)).argmax())
            if not closes[chosen]:
                break
            block.append(chosen)
            closes += left[chosen]
            closes[block] = 0
        left[np.ix_(block, block)] = False
        blocks.append(tuple(sorted(order[block].tolist())))
    return blocks


class _Design:
    """Blocks, and how often they cover each pair; both change together, so that an attempt costs little.

    Args:
        points: the numbers are 0 … points − 1.
        blocks: what to begin with.
    """

    def __init__(self, points: int, blocks: Iterable[Itemset] = ()) -> None:
        self._points = points
        self.blocks: list[Itemset] = []
        #: For each block where its pairs stand in `_times`.
        self._places: list[IntArray] = []
        self._times = np.zeros(points * points, dtype=np.int64)
        for block in blocks:
            self.add(block)

    def copy(self) -> _Design:
        """A design to try something on."""
        made = _Design(self._points)
        made.blocks, made._places, made._times = list(self.blocks), list(self._places), self._times.copy()
        return made

    def add(self, block: Itemset) -> None:
        """Take a block in."""
        members = np.array(block, dtype=np.int64)
        first, second = np.triu_indices(len(block), k=1)
        places = members[first] * self._points + members[second]
        self._times[places] += 1
        self.blocks.append(block)
        self._places.append(places)

    def remove(self, position: int) -> None:
        """Take a block out."""
        self.blocks.pop(position)
        self._times[self._places.pop(position)] -= 1

    def covered_alone(self) -> IntArray:
        """The number of pairs that each block covers and no other one does."""
        once = self._times == 1
        return np.array([np.count_nonzero(once[places]) for places in self._places], dtype=np.int64)

    def open_pairs(self) -> PairMatrix:
        """Which pairs no block covers."""
        above = np.triu((self._times == 0).reshape(self._points, self._points), k=1)
        opened: PairMatrix = above | above.T
        return opened

    def drop_superfluous(self) -> None:
        """Take out, one by one, blocks that cover no pair alone."""
        while not (missed := self.covered_alone()).all():
            self.remove(int(missed.argmin()))

    def badness(self) -> tuple[int, int]:
        """Fewer blocks are better, then fewer bins."""
        return len(self.blocks), sum(2 ** len(block) for block in self.blocks)


def _attempt(design: _Design, length: int, random: np.random.Generator) -> _Design:
    """The design with some blocks replaced."""
    tried = design.copy()
    missed = design.covered_alone()
    reluctance = missed + random.random(len(missed)) * missed.max() * CHANCE
    replaced = np.argsort(reluctance, kind="stable")[: random.integers(FEWEST_REPLACED, MOST_REPLACED + 1)]
    for position in sorted(replaced.tolist(), reverse=True):
        tried.remove(position)
    open_pairs = tried.open_pairs()
    for block in greedy_blocks(open_pairs, length, random.permutation(len(open_pairs))):
        tried.add(block)
    tried.drop_superfluous()
    return tried
