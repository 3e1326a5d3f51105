"""How long exact noise takes beside the simulation, in one run: `python tests/benchmarks/selection_speed.py`."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from statistics import median
from time import perf_counter

import numpy as np

from privmine.noise.secure import SecureNoise
from privmine.noise.simulated import SimulatedNoise

REPEATS = 7


def seconds(work: Callable[[], object]) -> float:
    """The median time of some repetitions; the first one, which warms up, does not count."""
    times = []
    for _ in range(REPEATS + 1):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return median(times[1:])


def report(what: str, exact: float, simulated: float) -> None:
    """One line: both times and their ratio."""
    print(f"{what:<58} {exact * 1e3:9.2f} ms {simulated * 1e3:9.2f} ms {exact / simulated:7.2f}")


def main() -> None:
    """Time selection and Laplace noise with both sources."""
    exact, simulated = SecureNoise(), SimulatedNoise(1)
    generator = np.random.default_rng(0)
    print(f"{'':<58} {'exact':>12} {'simulated':>12} {'ratio':>7}")
    for items, n in ((2_300_000, 200), (16_470, 40)):
        counts = np.minimum(generator.zipf(1.5, items), 1_000_000)
        for epsilon in (Fraction(1), Fraction(1, 10), Fraction(1, 1000)):
            rate = epsilon / n

            def run(source: SecureNoise | SimulatedNoise, counts=counts, n=n, rate=rate) -> object:  # type: ignore[no-untyped-def]
                return source.select(counts, n, rate)

            report(
                f"select {n} of {items:,}, zipf counts, ε = {float(epsilon):g}",
                seconds(lambda run=run: run(exact)),
                seconds(lambda run=run: run(simulated)),
            )
    histogram = np.zeros(2_300_000, dtype=np.int64)
    for scale in (Fraction(1), Fraction(20), Fraction(1000, 3)):
        report(
            f"laplace on {len(histogram):,} counts, scale {float(scale):.4g}",
            seconds(lambda scale=scale: exact.laplace(histogram, scale)),
            seconds(lambda scale=scale: simulated.laplace(histogram, scale)),
        )
    short = np.zeros(1000, dtype=np.int64)
    report(
        "laplace on 1,000 counts (OpenDP), scale 20",
        seconds(lambda: exact.laplace(short, Fraction(20))),
        seconds(lambda: simulated.laplace(short, Fraction(20))),
    )


if __name__ == "__main__":
    main()
