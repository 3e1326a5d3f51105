"""Covering designs."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from privmine_bases.cover import CoveringDesign
from privmine_bases.designs import covering_design, fewest_blocks

from privmine.api import Elements, InputError


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 30), st.integers(2, 12), st.integers(0, 15), st.integers(0, 5))
def test_every_pair_is_in_a_block(points: int, length: int, iterations: int, seed: int) -> None:
    """And every number; no block is too long, superfluous, or there twice."""
    blocks = covering_design(points, length, iterations, seed)
    pairs = set(combinations(range(points), 2))
    assert {pair for block in blocks for pair in combinations(block, 2)} == pairs
    assert {point for block in blocks for point in block} == set(range(points))
    assert all(len(block) <= length for block in blocks)
    assert len(blocks) >= fewest_blocks(points, length)
    for left_out in blocks if len(blocks) > 1 else ():
        rest = {pair for block in blocks if block != left_out for pair in combinations(block, 2)}
        assert rest != pairs


@pytest.mark.parametrize(("points", "length", "bound"), [(7, 3, 7), (13, 4, 13), (9, 3, 12), (8, 8, 1), (32, 8, 20)])
def test_the_bound_for_known_designs(points: int, length: int, bound: int) -> None:
    """The Fano plane has seven blocks, the projective plane of order three thirteen."""
    assert fewest_blocks(points, length) == bound


def test_the_search_finds_the_projective_plane() -> None:
    """Greedily 13 numbers in fours take more than the 13 blocks that are possible, and attempts find those."""
    assert len(covering_design(13, 4)) > 13
    assert len(covering_design(13, 4, iterations=2000)) == 13


def test_attempts_never_make_it_worse() -> None:
    """The number of blocks falls or stays as the limit grows."""
    widths = [len(covering_design(30, 6, iterations)) for iterations in (0, 5, 20, 80)]
    assert widths == sorted(widths, reverse=True)


def test_a_seed_decides_the_design() -> None:
    """The same seed gives the same blocks, another one others."""
    first = covering_design(30, 6, iterations=30, seed=1)
    assert covering_design(30, 6, iterations=30, seed=1) == first
    assert covering_design(30, 6, iterations=30, seed=2) != first


def test_cover_says_what_it_does_not_cover() -> None:
    """Longer itemsets are covered by chance only."""
    basis = CoveringDesign(max_length=3).construct_basis(Elements(range(9), [(0, 1), range(4)]))
    assert basis.notes == (
        "All pairs of the 9 selected items are covered by 12 blocks of at most 3 items; of longer itemsets only "
        "those inside a block are.",
        "In no basis, so that they cannot be released: 1 of the 2 selected itemsets.",
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"iterations": -1}, "iterations must be a whole number from 0 to 100,000"),
        ({"iterations": 10**6}, "iterations must be a whole number from 0 to 100,000"),
        ({"iterations": True}, "iterations must be a whole number"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
        ({"seed": 1.5}, "seed must be a whole number"),
    ],
)
def test_unusable_parameters_are_refused(parameters: dict[str, int], message: str) -> None:
    """The search has a limit, and a seed is a number."""
    with pytest.raises(InputError, match=message):
        CoveringDesign(**parameters)
