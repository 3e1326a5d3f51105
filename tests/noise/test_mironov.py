"""Mironov's attack on the low bits of floating-point noise (CCS 2012), replayed.

A float Laplace sampler turns a uniform number of 53 bits into noise by a logarithm. Its outputs are a set
of floats with holes, and exact value + noise is that set, moved. An attacker who sees a noisy count asks
of each possible exact count whether any uniform number could have led to this output. Where the answer is
no for one of two candidates, privacy is lost altogether, whatever ε was.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest

from privmine.noise.secure import LONGEST_FOR_OPENDP, SecureNoise
from privmine.noise.simulated import SimulatedNoise
from privmine.noise.vectorised import discrete_laplace

SCALE = Fraction(10)  # one count at ε = 1/10
OUTPUTS = 1000
UNIFORM_BITS = 53


def numpy_laplace(step, scale):
    """The noise that numpy's generator makes of its uniform number step/2^53."""
    uniform = step / 2**UNIFORM_BITS
    if uniform >= 0.5:
        return -scale * log(2.0 - uniform - uniform)
    return scale * log(uniform + uniform)


def float_noise_can_lead(exact, output, scale):
    """Whether any uniform number of numpy's generator leads from this exact value to this output."""
    noise = output - exact
    uniform = exp(noise / scale) / 2 if noise < 0 else 1 - exp(-noise / scale) / 2
    guess = round(uniform * 2**UNIFORM_BITS)
    # Rounding in exp, in the logarithm and in the sums moves the inverse by a few steps.
    steps = range(max(1, guess - 40), min(2**UNIFORM_BITS, guess + 41))
    return any(exact + numpy_laplace(step, scale) == output for step in steps)


def integer_noise_can_lead(exact, output, _scale):
    """Whether discrete noise leads from this exact value to this output: any integer does."""
    return Fraction(output) - exact == int(Fraction(output) - exact)


def attack(outputs, candidates, can_lead):
    """For each output, the candidates that could have led to it."""
    return [{exact for exact in candidates if can_lead(exact, output, float(SCALE))} for output in outputs]


@pytest.mark.parametrize(("truth", "other"), [(0, 1), (1, 0)])
def test_attack_reads_the_exact_count_from_simulated_noise(truth, other):
    """At ε = 1/10, most outputs of the float sampler prove which of two neighbouring counts is the true one."""
    values = np.full(OUTPUTS, truth)
    outputs = SimulatedNoise(2012).laplace(values, SCALE).tolist()
    possible = attack(outputs, (truth, other), float_noise_can_lead)
    # The attacker never errs: the true count is always among those that are possible.
    assert all(truth in candidates for candidates in possible)
    convicted = sum(candidates == {truth} for candidates in possible)
    print(f"simulated: the attack is certain of {convicted} of {OUTPUTS} outputs")
    # An ε of 1/10 allows a guess that is right in 52.5 % of cases; here the attacker knows.
    assert convicted > OUTPUTS / 2


@pytest.mark.parametrize("size", [LONGEST_FOR_OPENDP, LONGEST_FOR_OPENDP + 1])
def test_attack_learns_nothing_from_the_default_source(size):
    """The default source answers in integers, and each of them is possible from both counts."""
    outputs = SecureNoise().laplace(np.zeros(size, dtype=np.int64), SCALE).tolist()
    assert all(isinstance(output, int) for output in outputs)
    assert all(candidates == {0, 1} for candidates in attack(outputs, (0, 1), integer_noise_can_lead))


@pytest.mark.parametrize("size", [LONGEST_FOR_OPENDP, 20_000])
def test_both_counts_really_lead_to_the_same_outputs(size):
    """Around the counts 0 and 1 no integer is missing from the outputs of either.

    At scale 1, each integer from −3 to 4 has probability at least 0.8 % for both counts, and 20,000 draws
    miss one of them with probability below 16·(1 − 0.008)^20000 < 10^(−60).
    """
    for exact in (0, 1):
        seen = set()
        for _ in range(20_000 // size):
            seen.update(SecureNoise().laplace(np.full(size, exact), Fraction(1)).tolist())
        assert set(range(-3, 5)) <= seen


def test_the_same_output_is_reached_from_both_counts_by_chosen_bits():
    """For each output there are random bits that lead to it from 0, and others that lead to it from 1."""
    heads, tails = (0).to_bytes(2, "little"), (2**16 - 1).to_bytes(2, "little")

    def bits_for(noise):
        magnitude = ~noise if noise < 0 else noise
        digits = [heads if magnitude >> digit & 1 else tails for digit in range(7)]
        return iter([*digits, tails, heads if noise < 0 else tails])

    for output in range(-100, 101):
        for exact in (0, 1):
            script = bits_for(output - exact)
            noise = discrete_laplace(1, SCALE, lambda _, script=script: next(script))
            assert exact + int(noise[0]) == output
