"""How the noise in a released count is distributed, and how wide an interval for it must be.

The noise of a count is a weighted sum of independent draws, Z = Σ wᵢ·(sum of nᵢ draws of scale bᵢ). Both
kinds of Laplace draw have a moment generating function of one form, E e^(s·X) = 1/(1 − κ·g(s/2)), where κ is twice
the variance: g(z) = z² for the Laplace distribution, g(z) = sinh² z for the discrete one. So

    K(s) = ln E e^(s·Z) = −Σ nᵢ·ln(1 − κᵢ·g(wᵢ·s/2))

is known, and quantiles of Z follow from it. Gaussian noise adds V·s²/2 to K, V being its variance; that of discrete
Gaussian noise is never more than that (Canonne, Kamath and Steinke 2020).

Of Laplace noise, Pr[Z > x] = 1/(2πi)·∫ e^(K(s) − s·x)/s ds along any path from below to above that crosses
the real axis between 0 and the first pole of K. `_Sum.quantile` goes along a hyperbola through the saddle
point, where the trapezoidal rule converges geometrically: some 200 nodes give a dozen digits of a tail
probability, whether there is one draw or a million.

Discrete noise lies on the lattice of whole multiples of a step that its weights have in common. There
Pr[|Z| ≤ m·step] is a sum of e^K over imaginary s, as far as that is not negligible, and `_Lattice` finds
the least m. Weights without a simple common step get a bound instead, on the wide side.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, frexp, inf, log, log1p, pi, sqrt
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from privmine.model import FloatArray
from privmine.privacy.noise import DiscreteGaussian, Gaussian, Noise

#: Pairs (draws, weight): the sum of so many independent draws, times the weight; all added up.
Terms: TypeAlias = tuple[tuple[int, float], ...]
#: Pairs (noise, terms): the distribution of one draw, and the terms that it is drawn for.
Parts: TypeAlias = tuple[tuple[Noise, Terms], ...]

# Discrete noise of less variance is 0 in all of any number of draws, but for a probability that no float would show.
_NO_VARIANCE = 1e-200
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
# From this σ on a Gaussian of that other one makes discrete Gaussian noise smooth: see `_half_width_without_lattice`.
_FINE_SCALE = 3.0
_SMOOTHING = Fraction(1225, 1000)  # its square is above 3/2
# The part of a lattice step that keeps a point on the border of an interval inside.
_BORDER = 1e-3
# The path: the distance of nodes, how far it goes (what falls as 1/s² has fallen by 10^−17), and how steep it ends.
_NODES = np.arange(0.0, 21.0, 0.1)
_STEEPNESS = 2.1


@lru_cache(maxsize=16384)
def half_width(parts: Parts, level: float) -> float:
    """The least h such that the sum of all parts lies within ±h with a probability of at least `level`."""
    parts = tuple(part for part in parts if part[0].variance > _NO_VARIANCE or not part[0].is_discrete)
    noise = _Sum.of(parts)
    if noise.all_zero() >= level:
        return 0.0
    if noise.draws.tolist() == [1] and not noise.normals.size:
        return _one_draw(float(parts[0][0].scale), float(noise.weights[0]), level, noise.discrete)
    if not noise.discrete:
        return noise.quantile(level)
    lattice = _Lattice.of(noise) if 1 - level >= _SMALLEST_TAIL else None
    if lattice is not None:
        return _inside(lattice.steps_within(level), lattice.step)
    return _half_width_without_lattice(parts, noise, level)


def _half_width_without_lattice(parts: Parts, noise: _Sum, level: float) -> float:
    """A half-width of discrete noise that is never too small, and hardly too large."""
    normals = noise.normals
    if normals.size and (normals.scales.min() < _FINE_SCALE or 1 - level < _SMALLEST_TAIL):
        return noise.bound((1 - level) / 2)
    # A Laplace draw is the difference of two exponential ones, and a discrete one that of their whole parts, which
    # are independent of the rest. So Laplace noise is Z + R with an independent R. Let W be the sum of the weights,
    # and V be Z with each term spread evenly over a step of its own lattice: V is unimodal and within W/2 of Z, so
    # Pr[|Z + R| ≤ x] ≤ Pr[|V + R| ≤ x + W/2] ≤ Pr[|V| ≤ x + W/2] ≤ Pr[|Z| ≤ x + W] (Anderson's inequality).
    # Discrete Gaussian noise has such an R as well, up to a factor: with independent Gaussian noise of variance τ² on
    # top, its density is that of Gaussian noise of variance σ² + τ² times a sum over the lattice, which is within
    # 1 ± 3·e^(−2π²·σ²τ²/(σ² + τ²)) of 1 (Poisson's summation formula). Of a sum of draws only the first one counts,
    # since every further one is added to something smoother. For σ ≥ 3 and τ² = 3/2 that is 1 ± 3·10^−11.
    continuous = [(draw.continuous, terms) for draw, terms in parts]
    smoother = [(Gaussian(_SMOOTHING), ((1, weight),)) for weight in normals.weights.tolist()]
    level = min(level + _ERROR, 1 - _ERROR) if normals.size else level
    total = float(noise.weights.sum() + normals.weights.sum())
    return half_width((*continuous, *smoother), level) + total


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


@frozen(eq=False)
class _Normals:
    """Terms of Gaussian noise in arrays, a value a term."""

    draws: FloatArray
    weights: FloatArray
    scales: FloatArray

    @property
    def size(self) -> int:
        return len(self.draws)

    @property
    def variance(self) -> float:
        """That of Gaussian noise of these scales; discrete noise has at most as much."""
        return float(self.draws @ (self.weights * self.scales) ** 2)


@frozen(eq=False)
class _Sum:
    """The noise of a law in arrays, a value a term, with the functions that its quantiles are computed from."""

    draws: FloatArray
    weights: FloatArray
    curvatures: FloatArray  # κ, twice the variance of a draw
    normals: _Normals
    discrete: bool

    @classmethod
    def of(cls, parts: Parts) -> _Sum:
        rows: dict[bool, list[tuple[float, float, float]]] = {False: [], True: []}
        for draw, terms in parts:
            is_normal = isinstance(draw, Gaussian | DiscreteGaussian)
            width = float(draw.scale) if is_normal else 2 * draw.variance
            rows[is_normal].extend((draws, weight, width) for draws, weight in terms)
        laplace, normal = (np.array(rows[kind], dtype=np.float64).reshape(-1, 3).T for kind in (False, True))
        return cls(laplace[0], laplace[1], laplace[2], _Normals(*normal), all(draw.is_discrete for draw, _ in parts))

    @property
    def all_weights(self) -> FloatArray:
        """The weights of all terms."""
        return np.concatenate([self.weights, self.normals.weights])

    def all_zero(self) -> float:
        """A probability that all draws are 0 with at least; it is 1 where there are none."""
        if not self.discrete:
            return 0.0 if len(self.all_weights) else 1.0
        # The characteristic function of a draw is 1/(1 + κ·sin²), so Pr[X ≠ 0] = 1 − 1/√(1 + κ).
        roots = np.sqrt(1 + self.curvatures)
        others = float(self.draws @ (self.curvatures / (roots * (1 + roots))))
        for draws, scale in zip(self.normals.draws, self.normals.scales, strict=True):
            # A large σ leaves so little for 0 that it need not be known.
            outside = 2 * sum(exp(-x * x / (2 * scale * scale)) for x in range(1, 40)) if scale < _FINE_SCALE else inf
            others += draws / (1 + 1 / outside) if outside else 0.0
        return 1 - min(others, 1.0)

    def cumulant(self, s: NDArray[Any]) -> NDArray[Any]:
        """K(s); of discrete Gaussian noise a bound, for a real s."""
        z = s[:, None] * (self.weights / 2)
        g = np.sinh(z) ** 2 if self.discrete else z * z
        values: NDArray[Any] = -(_log1p(-self.curvatures * g) @ self.draws) + self.normals.variance / 2 * s * s
        return values

    def pole(self) -> float:
        """Where K becomes infinite; of Gaussian noise alone, nowhere."""
        if not len(self.weights):
            return inf
        roots = 1 / np.sqrt(self.curvatures)
        return float((2 * (np.arcsinh(roots) if self.discrete else roots) / self.weights).min())

    def bound(self, probability: float) -> float:
        """An x that the noise exceeds with at most this probability (Chernoff)."""
        if not len(self.weights):
            return sqrt(-2 * self.normals.variance * log(probability))
        s = self.pole() * np.geomspace(1e-6, 0.999, 400)
        return float(((self.cumulant(s) - log(probability)) / s).min())

    def damping(self, frequencies: FloatArray) -> FloatArray:
        """−ln of the characteristic function of discrete noise."""
        total = np.zeros(len(frequencies))
        for draws, weight, curvature in zip(self.draws, self.weights, self.curvatures, strict=True):
            total += draws * np.log1p(curvature * np.sin(frequencies * (weight / 2)) ** 2)
        for draws, weight, scale in zip(self.normals.draws, self.normals.weights, self.normals.scales, strict=True):
            total += draws * _normal_damping(frequencies * weight, scale)
        return total

    def damped_from(self, frequency: float) -> bool:
        """Whether the characteristic function is negligible from here up to half a period of the finest weight.

        That of a term falls for half a period. So in between two half-periods of terms, those that are finer
        damp at least as much as they do at the first.
        """
        weights = self.all_weights
        coarser = weights[(weights < pi / frequency) & (weights > weights.min())]
        for largest in (pi / frequency, *coarser.tolist()):
            finer = evolve(
                self,
                draws=np.where(self.weights < largest, self.draws, 0.0),
                normals=evolve(self.normals, draws=np.where(self.normals.weights < largest, self.normals.draws, 0.0)),
            )
            if finer.damping(np.array([pi / largest]))[0] < _DAMPED:
                return False
        return True

    def derivatives(self, s: float) -> tuple[float, float]:
        """K′(s) and K″(s) of noise in floating point, for a real s left of the first pole."""
        z = s * self.weights / 2
        rest = 1 - self.curvatures * z * z
        first = self.curvatures * z * self.weights / rest
        second = self.curvatures * self.weights**2 / 2 / rest
        variance = self.normals.variance
        return float(self.draws @ first) + variance * s, float(self.draws @ (second + first**2)) + variance

    def quantile(self, level: float) -> float:
        """The x with Pr[|Z| > x] = 1 − level, for noise in floating point."""
        if not len(self.weights):
            return sqrt(self.normals.variance) * NormalDist().inv_cdf((1 + level) / 2)
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
        weights = noise.all_weights
        finest = float(weights.min())
        step = _common_step(weights)
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


def _normal_damping(phases: FloatArray, scale: float) -> FloatArray:
    """−ln of the characteristic function of a discrete Gaussian draw.

    By Poisson's summation formula it is a sum of e^(−σ²·(t − 2πj)²/2) over whole j, divided by that for t = 0. For a
    small σ the sum over the draw's own values has fewer terms.
    """
    nearest = phases - 2 * pi * np.rint(phases / (2 * pi))
    if scale < 1:
        values = np.arange(1, 13)
        weights = np.exp(-(values**2) / (2 * scale * scale))
        cosines = np.cos(nearest[:, None] * values)
        return np.asarray(-np.log((1 + 2 * cosines @ weights) / (1 + 2 * weights.sum())))
    half = scale * scale / 2
    others = np.zeros(len(nearest))
    for j in (-2, -1, 1, 2):
        others += np.exp(-half * ((nearest - 2 * pi * j) ** 2 - nearest**2))
    whole = 2 * sum(exp(-half * (2 * pi * j) ** 2) for j in (1, 2))
    return np.asarray(half * nearest**2 - np.log1p(others) + log1p(whole))


def _log1p(z: NDArray[Any]) -> NDArray[Any]:
    """ln(1 + z), accurate for a small z: numpy's own is not where z is complex, and 10^18 draws multiply its error."""
    logarithms: NDArray[Any]
    if np.iscomplexobj(z):
        size = np.log1p(z.real * (2 + z.real) + z.imag**2) / 2
        logarithms = size + 1j * np.arctan2(z.imag, 1 + z.real)
    else:
        logarithms = np.log1p(z)
    return logarithms


def _common_step(weights: FloatArray) -> float | None:
    """A number that all weights are whole multiples of; None where there is no simple one."""
    for parts in range(1, 65):
        multiples = weights / weights.min() * parts
        if (np.abs(multiples - np.rint(multiples)) <= _ROUNDING * multiples).all():
            return float(weights.min()) / parts
    return None
