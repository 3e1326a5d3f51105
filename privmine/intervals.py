"""How the noise in a released count is distributed, and how wide an interval for it must be.

The noise of a count is a weighted sum of independent draws, Z = Σ wᵢ·(sum of nᵢ draws). Both kinds of
draw have a moment generating function of one form, E e^(s·X) = 1/(1 − κ·g(s/2)), where κ is twice the
variance: g(z) = z² for the Laplace distribution, g(z) = sinh² z for the discrete one. So

    K(s) = ln E e^(s·Z) = −Σ nᵢ·ln(1 − κ·g(wᵢ·s/2))

is known, and quantiles of Z follow from it.

Of Laplace noise, Pr[Z > x] = 1/(2πi)·∫ e^(K(s) − s·x)/s ds along any path from below to above that crosses
the real axis between 0 and the first pole of K. `_Sum.quantile` goes along a hyperbola through the saddle
point, where the trapezoidal rule converges geometrically: some 200 nodes give a dozen digits of a tail
probability, whether there is one draw or a million.

Discrete noise lies on the lattice of whole multiples of a step that its weights have in common. There
Pr[|Z| ≤ m·step] is a sum of e^K over imaginary s, as far as that is not negligible, and `_Lattice` finds
the least m. Weights without a simple common step get a bound instead, on the wide side.
"""

from __future__ import annotations

from functools import lru_cache
from math import asinh, ceil, exp, frexp, inf, isfinite, log, log1p, pi, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from privmine.errors import ContractError, InputError
from privmine.model import FloatArray, NoiseLaw, exact
from privmine.privacy import Noise


def _terms(values: Any) -> tuple[tuple[int, float], ...]:
    """Sorted; terms of equal weight are one term, and what adds nothing is left out."""
    draws_of: dict[float, int] = {}
    for draws, weight in values:
        if draws < 0 or not isfinite(weight):
            raise InputError(f"A term of noise is a number of draws and a weight, not {draws!r} and {weight!r}.")
        # The distributions are symmetric, so the sign of a weight makes no difference.
        draws_of[abs(float(weight))] = draws_of.get(abs(float(weight)), 0) + int(draws)
    return tuple(sorted((draws, weight) for weight, draws in draws_of.items() if draws and weight))


@frozen
class NoiseSum:
    """The noise of a count that is a weighted sum of measured numbers, each with noise of its own.

    Attributes:
        noise: the distribution of one draw.
        terms: pairs (draws, weight): the sum of so many independent draws, times the weight; all added up.
    """

    noise: Noise
    terms: tuple[tuple[int, float], ...] = field(converter=_terms)

    @property
    def standard_error(self) -> float:
        """The standard deviation."""
        return sqrt(self.noise.variance * sum(draws * weight * weight for draws, weight in self.terms))

    def half_width(self, level: float) -> float:
        """The least h such that the noise lies within ±h with a probability of at least `level`.

        Of discrete noise on a lattice whose step is no power of two, a thousandth of a step more: a count
        is rounded to a float, and an interval must not lose the point on its border to that. Of discrete
        noise whose weights have no simple common step, the half-width of Laplace noise plus the sum of the
        weights, which is never less.
        """
        return _half_width(self, check_level(level))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; the scale becomes text, so that nothing is rounded."""
        return {
            "distribution": self.noise.distribution,
            "scale": str(self.noise.scale),
            "terms": [list(term) for term in self.terms],
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> NoiseSum:
        """Read what `to_dict` wrote, and nothing else: a file may come from anybody."""
        if values["distribution"] not in ("laplace", "discrete laplace") or not isinstance(values["scale"], str):
            raise InputError("This is no noise that this version of privmine knows; upgrade privmine.")
        if not all(type(draws) is int and type(weight) in (int, float) for draws, weight in values["terms"]):
            raise InputError("A term of noise is a number of draws and a weight.")
        return cls(Noise(values["distribution"], exact(values["scale"], "The scale of noise")), values["terms"])


@frozen
class NormalLaw:
    """Noise of which only the standard deviation is known, taken to be normal."""

    standard_error: float

    def half_width(self, level: float) -> float:
        """The half-width of a normal interval."""
        return self.standard_error * NormalDist().inv_cdf((1 + check_level(level)) / 2)


def _table(values: Any) -> tuple[tuple[float, float], ...]:
    return tuple(sorted((float(level), float(width)) for level, width in values))


@frozen
class TabulatedLaw:
    """Noise that is known by the half-widths of a few intervals, so that it can be saved.

    Attributes:
        widths: pairs (level, half-width), in order of their levels.
    """

    widths: tuple[tuple[float, float], ...] = field(converter=_table)

    @classmethod
    def of(cls, law: NoiseLaw) -> TabulatedLaw:
        """Ask any law for its half-widths."""
        try:
            return cls((level, law.half_width(level)) for level in _TABULATED)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # A law that exits would take a release along that is paid for.
            raise ContractError(f"The law {type(law).__name__} of a count's noise gives no half-widths.") from error

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"distribution": "tabulated", "widths": [list(pair) for pair in self.widths]}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TabulatedLaw:
        """Read what `to_dict` wrote."""
        return cls(values["widths"])

    def half_width(self, level: float) -> float:
        """The half-width at the next higher level that is in the table."""
        fitting = [width for known, width in self.widths if known >= check_level(level)]
        if not fitting:
            raise InputError(f"Intervals of this release are known up to a level of {self.widths[-1][0]:g} only.")
        return fitting[0]


# What scales, weights and half-widths may be; all that mechanisms need lies far inside.
_SMALLEST, _LARGEST = 1e-50, 1e50
_MOST_DRAWS = 1 << 62
_TABULATED = (*(percent / 100 for percent in range(1, 100)), 0.995, 0.999, 0.9999)


#: The laws that can be written to a file and read again.
KeptLaw: TypeAlias = NoiseSum | TabulatedLaw


def kept_law(law: NoiseLaw | None) -> KeptLaw | None:
    """A law as a release keeps it: one of privmine's own stays what it is, any other becomes a table.

    Raises:
        ContractError: no intervals can be computed from it.
    """
    if law is None:
        return None
    kept = law if isinstance(law, NoiseSum | TabulatedLaw) else TabulatedLaw.of(law)
    usable = _is_usable_sum(kept) if isinstance(kept, NoiseSum) else _is_usable_table(kept)
    if not usable:
        raise ContractError(
            f"The law {type(law).__name__} of a count's noise gives no intervals: half-widths must be finite and grow "
            f"with the level, from 0 on; scales and weights must lie between {_SMALLEST:g} and {_LARGEST:g}."
        )
    return kept


def law_from_dict(values: dict[str, Any]) -> KeptLaw | None:
    """Read what the `to_dict` of a kept law wrote."""
    return kept_law((TabulatedLaw if values["distribution"] == "tabulated" else NoiseSum).from_dict(values))


def _is_usable_sum(law: NoiseSum) -> bool:
    """Whether quantiles can be computed: beyond these bounds squares leave the range of floats."""
    return _SMALLEST <= law.noise.scale <= _LARGEST and all(
        draws <= _MOST_DRAWS and _SMALLEST <= weight <= _LARGEST for draws, weight in law.terms
    )


def _is_usable_table(law: TabulatedLaw) -> bool:
    levels, widths = [level for level, _ in law.widths], [width for _, width in law.widths]
    return (
        levels == sorted({level for level in levels if 0 < level < 1})
        and max(levels, default=0) >= _TABULATED[-1]
        and all(0 <= width <= _LARGEST for width in widths)
        and widths == sorted(widths)
    )


class Interval(NamedTuple):
    """From where to where, both ends included."""

    low: float
    high: float


def interval(value: float, law: NoiseLaw, level: float, most: float = inf) -> Interval:
    """An interval for a count around its noisy value.

    No count is below 0 or above `most`, so that an interval ends there. One that lies wholly outside becomes
    the nearest possible count: cutting off what cannot be never loses the truth.
    """
    reach = law.half_width(level)
    return Interval(*(min(max(end, 0.0), most) for end in (value - reach, value + reach)))


def check_level(level: float) -> float:
    """Refuse a level that is no probability."""
    if isinstance(level, bool) or not isinstance(level, float) or not 0 < level < 1:
        raise InputError(f"The level of an interval must lie between 0 and 1, for instance 0.95, not {level!r}.")
    return float(level)


# What lies beyond the ends of a lattice.
_NEGLIGIBLE = 1e-14
# By how much a probability may be off that was computed on a lattice: so much more is asked for.
_ERROR = 1e-10
# Tails that are not much larger than this error are not computed on a lattice.
_SMALLEST_TAIL = 1e-8
# Frequencies need not be added up where the characteristic function is below e^−24, a part of that error.
_DAMPED = 24.0
# The numbers of frequencies to try, few first; each is even.
_SIZES = tuple(2**power for power in range(12, 21))
# Weights are whole multiples of a step if they are but for rounding.
_ROUNDING = 1e-12
# The part of a lattice step that keeps a point on the border of an interval inside.
_BORDER = 1e-3
# The path: the distance of nodes, how far it goes (what falls as 1/s² has fallen by 10^−17), and how steep it ends.
_NODES = np.arange(0.0, 21.0, 0.1)
_STEEPNESS = 2.1


@lru_cache(maxsize=16384)
def _half_width(law: NoiseSum, level: float) -> float:
    noise = _Sum.of(law)
    if noise.all_zero() >= level:
        return 0.0
    if law.terms == ((1, law.terms[0][1]),):
        return _one_draw(float(law.noise.scale), law.terms[0][1], level, noise.discrete)
    if not noise.discrete:
        return noise.quantile(level)
    lattice = _Lattice.of(noise) if 1 - level >= _SMALLEST_TAIL else None
    if lattice is not None:
        return _inside(lattice.steps_within(level), lattice.step)
    # A Laplace draw is the difference of two exponential ones, and a discrete one that of their whole parts, which
    # are independent of the rest. So Laplace noise is Z + R with an independent R. Let W be the sum of the weights,
    # and V be Z with each term spread evenly over a step of its own lattice: V is unimodal and within W/2 of Z, so
    # Pr[|Z + R| ≤ x] ≤ Pr[|V + R| ≤ x + W/2] ≤ Pr[|V| ≤ x + W/2] ≤ Pr[|Z| ≤ x + W] (Anderson's inequality).
    return _half_width(NoiseSum(Noise("laplace", law.noise.scale), law.terms), level) + float(noise.weights.sum())


def _one_draw(scale: float, weight: float, level: float, discrete: bool) -> float:
    """The half-width for a single draw, in closed form."""
    if not discrete:
        return -weight * scale * log1p(-level)
    # Pr[|X| > m] = 2·q^(m+1)/(1 + q) with q = e^(−1/scale).
    steps = ceil(scale * (log(2 / (1 + exp(-1 / scale))) - log1p(-level))) - 1
    return _inside(max(steps, 0), weight)


def _inside(steps: int, step: float) -> float:
    """A half-width of so many steps of a lattice, and a little more where its points are rounded."""
    return step * (steps if frexp(step)[0] == 0.5 else steps + _BORDER)


@frozen
class _Sum:
    """The noise of a law in arrays, with the functions that its quantiles are computed from."""

    draws: FloatArray
    weights: FloatArray
    curvature: float  # κ, twice the variance of a draw
    discrete: bool

    @classmethod
    def of(cls, law: NoiseSum) -> _Sum:
        terms = np.array(law.terms, dtype=np.float64).reshape(-1, 2)
        return cls(terms[:, 0], terms[:, 1], 2 * law.noise.variance, law.noise.distribution == "discrete laplace")

    def all_zero(self) -> float:
        """A probability that all draws are 0 with at least; it is 1 where there are none."""
        # The characteristic function of a draw is 1/(1 + κ·sin²), so Pr[X ≠ 0] = 1 − 1/√(1 + κ).
        root = sqrt(1 + self.curvature)
        other = self.curvature / (root * (1 + root)) if self.discrete else 1.0
        return 1 - min(float(self.draws.sum()) * other, 1.0)

    def cumulant(self, s: NDArray[Any]) -> NDArray[Any]:
        """K(s)."""
        z = s[:, None] * (self.weights / 2)
        g = np.sinh(z) ** 2 if self.discrete else z * z
        values: NDArray[Any] = -(np.log1p(-self.curvature * g) @ self.draws)
        return values

    def pole(self) -> float:
        """Where K becomes infinite."""
        root = 1 / sqrt(self.curvature)
        return 2 * (asinh(root) if self.discrete else root) / float(self.weights.max())

    def bound(self, probability: float) -> float:
        """An x that the noise exceeds with at most this probability (Chernoff)."""
        s = self.pole() * np.geomspace(1e-6, 0.999, 400)
        return float(((self.cumulant(s) - log(probability)) / s).min())

    def damping(self, frequencies: FloatArray) -> FloatArray:
        """−ln of the characteristic function of discrete noise."""
        total = np.zeros(len(frequencies))
        for draws, weight in zip(self.draws, self.weights, strict=True):
            total += draws * np.log1p(self.curvature * np.sin(frequencies * (weight / 2)) ** 2)
        return total

    def damped_from(self, frequency: float) -> bool:
        """Whether the characteristic function is negligible from here up to half a period of the finest weight.

        That of a term falls for half a period. So in between two half-periods of terms, those that are finer
        damp at least as much as they do at the first.
        """
        coarser = self.weights[(self.weights < pi / frequency) & (self.weights > self.weights.min())]
        for largest in (pi / frequency, *coarser.tolist()):
            finer = self.weights < largest
            angles = pi / 2 * self.weights[finer] / largest
            if self.draws[finer] @ np.log1p(self.curvature * np.sin(angles) ** 2) < _DAMPED:
                return False
        return True

    def derivatives(self, s: float) -> tuple[float, float]:
        """K′(s) and K″(s) of Laplace noise, for a real s left of the first pole."""
        z = s * self.weights / 2
        rest = 1 - self.curvature * z * z
        first = self.curvature * z * self.weights / rest
        second = self.curvature * self.weights**2 / 2 / rest
        return float(self.draws @ first), float(self.draws @ (second + first**2))

    def quantile(self, level: float) -> float:
        """The x with Pr[|Z| > x] = 1 − level, for Laplace noise."""
        wanted = log((1 - level) / 2)
        x = sqrt(self.derivatives(0.0)[1]) * NormalDist().inv_cdf((1 + level) / 2)
        path, built = self._path(x), x
        for _ in range(60):
            if abs(x - built) > 0.3 * path.reach:
                path, built = self._path(x), x
            tail, density = path.integrals(x)
            # ln Pr[Z > x] is concave, so from the second step on Newton's method comes down to x from above.
            change = (log(tail) - wanted) * tail / density
            x += change
            if abs(change) < 1e-13 * x:
                break
        return x

    def _path(self, x: float) -> _Path:
        low, high = 0.0, self.pole()
        for _ in range(40):
            s = (low + high) / 2
            low, high = (s, high) if self.derivatives(s)[0] < x + 1 / s else (low, s)
        centre = (low + high) / 2
        breadth = 1 / sqrt(self.derivatives(centre)[1] + 1 / centre**2)
        s = centre + breadth * ((np.cosh(_NODES) - 1) / _STEEPNESS + 1j * np.sinh(_NODES))
        way = breadth * (np.sinh(_NODES) / _STEEPNESS + 1j * np.cosh(_NODES)) * (_NODES[1] / pi)
        way[0] /= 2
        return _Path(s, self.cumulant(s), way, 1 / breadth)


@frozen(eq=False)
class _Path:
    """Nodes of the path of integration, with all that does not depend on x."""

    s: NDArray[np.complex128]
    cumulants: NDArray[np.complex128]
    way: NDArray[np.complex128]
    reach: float  # how far x may move without making this a bad path

    def integrals(self, x: float) -> tuple[float, float]:
        """Pr[Z > x], and minus its derivative."""
        density = np.exp(self.cumulants - self.s * x) * self.way
        return float((density / self.s).imag.sum()), float(density.imag.sum())


@frozen(eq=False)
class _Lattice:
    """Discrete noise on the lattice that it lies on, by a discrete Fourier transform of as many points as needed.

    The points of the lattice are taken together in blocks, an odd number of them around each multiple of
    `block` steps, since a sum of many draws has no frequencies that would tell them apart. Where it has, a block is
    a point.
    """

    step: float
    size: int  # the number of blocks
    block: int  # the number of points in each
    values: FloatArray  # the characteristic function

    @classmethod
    def of(cls, noise: _Sum) -> _Lattice | None:
        """None where there is no lattice, or where it has too many points that matter."""
        finest = float(noise.weights.min())
        step = _common_step(noise.weights)
        if step is None:
            return None
        reach = noise.bound(_NEGLIGIBLE) / step
        for size in _SIZES:
            block = ceil(2 * reach / size) | 1
            if block == 1 or (step == finest and noise.damped_from(pi / (block * step))):
                frequencies = 2 * pi / (size * block * step) * np.arange(size // 2 + 1)
                return cls(step, size, block, np.exp(-noise.damping(frequencies)))
        return None

    def steps_within(self, level: float) -> int:
        """The least m with Pr[|Z| ≤ m·step] ≥ level."""
        half: FloatArray = pi / self.size * np.arange(1, self.size // 2 + 1, dtype=np.float64)
        whole_block = self.values.copy()
        whole_block[1:] *= np.sin(half) / (self.block * np.sin(half / self.block))
        probabilities = np.fft.irfft(whole_block, self.size)[: self.size // 2]
        within = probabilities[0] + 2 * np.concatenate([[0.0], np.cumsum(probabilities[1:])])
        blocks = int(np.searchsorted(within, level + _ERROR))
        high = blocks * self.block + self.block // 2
        low = high - self.block
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._within(middle, half) >= level + _ERROR else (middle, high)
        return high

    def _within(self, steps: int, half: FloatArray) -> float:
        """Pr[|Z| ≤ steps·step]."""
        angles = half / self.block
        points = float(2 * steps + 1)
        kernel = np.sin(points * angles) / np.sin(angles)
        return float(points * self.values[0] + 2 * self.values[1:] @ kernel) / (self.size * self.block)


def _common_step(weights: FloatArray) -> float | None:
    """A number that all weights are whole multiples of; None where there is no simple one."""
    for parts in range(1, 65):
        multiples = weights / weights.min() * parts
        if (np.abs(multiples - np.rint(multiples)) <= _ROUNDING * multiples).all():
            return float(weights.min()) / parts
    return None
