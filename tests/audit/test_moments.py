"""Audits of moment matrices: sound runs pass, and what breaks the proof of the cone is found."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from attrs import evolve, frozen

from privmine.api import BasisSet, Curator, MomentMatrix, NoisyCounts, hookimpl
from privmine.audit import Case, counterexamples, replay, some_cases
from privmine.audit.distances import outside_cone
from privmine.audit.samplers import source_bounds
from privmine.audit.trace import Call
from privmine.errors import InputError
from privmine.noise.simulated import SimulatedNoise
from privmine.pipeline import Pipeline
from privmine.privacy import ConeSensitivity, DiscreteElliptope, PureDP

SMALL = Case(items=3, transactions=[(0, 1), (0,)], extra=(1, 2), k=3)


@frozen
class Moments:
    """Releases the items of the bases with counts from their moments."""

    @hookimpl
    def reconstruct_counts(self, basis: BasisSet, curator: Curator) -> NoisyCounts:
        """Measure."""
        items = tuple(sorted({item for found in basis.bases for item in found}))
        answer = curator.measure(MomentMatrix(items))
        counts = (answer.values[0] + answer.values[1 : len(items) + 1]) / 2
        return NoisyCounts([(item,) for item in items], counts, np.ones(len(items)), float(answer.values[0]), 1.0)


def rules(pipeline, case=SMALL):
    """Which rules a case breaks."""
    return {finding.rule for finding in replay(pipeline, case)}


def test_sound_pipeline_has_no_findings():
    """Each transaction adds its own matrix, and the noise is what was paid for."""
    assert list(counterexamples(Pipeline(reconstruct_counts=Moments()), some_cases(40, seed=3))) == []


def test_values_that_leave_the_cone_are_found(monkeypatch):
    """An answer in which an item counts twice as much moves within its norms, but not by a moment matrix."""
    original = MomentMatrix.evaluate

    def evaluate(self, store):
        values = original(self, store)
        if len(values) > 3:
            values[-1] = -values[-1]
        return values

    monkeypatch.setattr(MomentMatrix, "evaluate", evaluate)
    assert rules(Pipeline(reconstruct_counts=Moments())) == {"sensitivity"}


def test_transaction_counted_twice_is_found(monkeypatch):
    """Twice the matrix lies in the cone, but costs twice as much."""
    original = MomentMatrix.evaluate
    monkeypatch.setattr(MomentMatrix, "evaluate", lambda self, store: 2 * original(self, store))
    assert rules(Pipeline(reconstruct_counts=Moments())) == {"sensitivity"}


def test_scale_that_is_too_small_is_found(monkeypatch):
    """Noise of 95 % of the scale costs more than was charged."""
    original = PureDP.noise_for

    def noise_for(self, sensitivity, cost):
        noise = original(self, sensitivity, cost)
        return evolve(noise, scale=noise.scale * Fraction(95, 100)) if isinstance(noise, DiscreteElliptope) else noise

    monkeypatch.setattr(PureDP, "noise_for", noise_for)
    assert rules(Pipeline(reconstruct_counts=Moments())) == {"scale"}


def call(values):
    """A measurement of these moments."""
    return Call("reconstruct_counts", "measure", len(values), 0, Fraction(1), np.array(values))


@pytest.mark.parametrize(
    ("change", "elements", "inside"),
    [
        ([1, 1, 1, 1], 1, True),
        ([1, -1, 1, -1], 1, True),
        ([-1, 1, -1, 1], 1, True),  # a transaction with the first and without the second item is taken away
        ([0, 0, 0, 0], 1, True),
        ([1, 0, 0, 0], 1, True),
        ([2, 0, 2, 0], 2, True),
        ([2, 0, 2, 0], 1, False),  # two transactions
        ([1, 1, 1, -1], 1, False),  # a negative eigenvalue
        ([0, 1, 0, 0], 1, False),
        ([3, 1, 1, -3], 3, False),
    ],
)
def test_membership_in_the_cone(change, elements, inside):
    """The change of a matrix of three variables is a sum of so many elements of the cone, or it is not."""
    declared = ConeSensitivity(4, 4, 1, variables=3).times(elements)
    assert (outside_cone(call([9, 9, 9, 9]), call([9 + step for step in change]), declared) == "") is inside


class TooLittle(SimulatedNoise):
    """Adds half of the noise of a cone, and all of any other."""

    def add(self, values, noise):
        if isinstance(noise, DiscreteElliptope):
            noise = evolve(noise, scale=noise.scale * Fraction(1, 2))
        return super().add(values, noise)


class Without(SimulatedNoise):
    """Has no noise for moments."""

    def draws(self, noise):
        if isinstance(noise, DiscreteElliptope):
            raise InputError("There is no such noise.")
        return super().draws(noise)


def test_source_is_sampled_for_moments():
    """Of a sound source the bound stays below ε = 1 and comes close to it; one with too little noise exceeds it."""
    bounds = {bound.group: bound for bound in source_bounds(SimulatedNoise, samples=4000)}
    assert not any(bound.violates for bound in bounds.values())
    assert any("moments" in output for output in bounds)
    weak = [bound for bound in source_bounds(TooLittle, samples=8000) if bound.violates]
    assert weak
    assert all("moments" in bound.group for bound in weak)


def test_source_without_such_noise_is_sampled_otherwise():
    """A source of one's own need not know moments."""
    assert all("moments" not in bound.group for bound in source_bounds(Without, samples=200))
