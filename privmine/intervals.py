"""How the noise in a released count is distributed, and how wide an interval for it must be.

The noise of a count is a weighted sum of independent draws, Z = Σ wᵢ·(sum of nᵢ draws). Both kinds of
draw have a moment generating function of one form, E e^(s·X) = 1/(1 − κ·g(s/2)), where κ is twice the
variance: g(z) = z² for the Laplace distribution, g(z) = sinh² z for the discrete one. So

    K(s) = ln E e^(s·Z) = −Σ nᵢ·ln(1 − κ·g(wᵢ·s/2))

is known, and Pr[Z > x] = 1/(2πi)·∫ e^(K(s) − s·x)/s ds along any path from below to above that crosses
the real axis between 0 and the first pole of K. `_tail` goes along a hyperbola through the saddle point,
where the trapezoidal rule converges geometrically: some 200 nodes give a dozen digits of a tail
probability, whether there is one draw or a million.

Discrete noise lies on a lattice, where a quantile jumps. As long as the lattice is coarse enough to
matter, its probabilities are computed one by one, by a Fourier transform of the characteristic function.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import asinh, ceil, exp, inf, isfinite, log, log1p, log2, pi, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from privmine.errors import ContractError, InputError
from privmine.model import FloatArray, NoiseLaw
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

        Of discrete noise with weights other than 1, a thousandth of a lattice step more: a count is
        rounded to a float, and an interval must not lose the point on its border to that.
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
        """Read what `to_dict` wrote."""
        scale = Fraction(values["scale"])
        if values["distribution"] not in ("laplace", "discrete laplace") or scale <= 0:
            raise InputError("This is no noise that this version of privmine knows; upgrade privmine.")
        return cls(Noise(values["distribution"], scale), values["terms"])


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
            table = cls((level, law.half_width(level)) for level in _TABULATED)
        except Exception as error:
            raise ContractError(f"The law {type(law).__name__} of a count's noise gives no half-widths.") from error
        widths = [width for _, width in table.widths]
        if not all(isfinite(width) and width >= 0 for width in widths) or widths != sorted(widths):
            raise ContractError(
                f"The half-widths of the law {type(law).__name__} must be finite and grow with the level, from 0 on."
            )
        return table

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


_TABULATED = (*(percent / 100 for percent in range(1, 100)), 0.995, 0.999, 0.9999)


#: The laws that can be written to a file and read again.
KeptLaw: TypeAlias = NoiseSum | TabulatedLaw


def kept_law(law: NoiseLaw | None) -> KeptLaw | None:
    """A law as a release keeps it: one of privmine's own stays what it is, any other becomes a table."""
    return law if law is None or isinstance(law, NoiseSum | TabulatedLaw) else TabulatedLaw.of(law)


def law_from_dict(values: dict[str, Any]) -> KeptLaw:
    """Read what the `to_dict` of a kept law wrote."""
    return (TabulatedLaw if values["distribution"] == "tabulated" else NoiseSum).from_dict(values)


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


# A lattice of more steps than this is not computed point by point.
_LARGEST_LATTICE = 2**20
# What lies beyond the ends of such a lattice; a Fourier transform could hardly tell it from nothing.
_NEGLIGIBLE = 1e-14
# Where a lattice moves the half-width by less than this part of the standard error, it is smoothed over.
_SMOOTH = 1e-3
# The grid for a rough lattice with smooth noise between its points has so many steps for one of the lattice.
_GRID = 128
# From this scale on a discrete draw may be taken for a continuous one.
_CONTINUOUS = 10
# K has a period on a lattice. A path of integration may end after half of it if the integrand has fallen by e^−20.
_PATH_END = 20.0
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
    finest = float(noise.weights.min())
    if law.terms == ((1, finest),):
        return finest * _one_draw(float(law.noise.scale), level, noise.discrete)
    if not noise.discrete:
        return noise.quantile(level)
    border = 0.0 if law.terms == ((law.terms[0][0], 1.0),) else _BORDER
    if len(noise.draws) == 1 and noise.path_end() >= _PATH_END:
        # Pr[S ≥ m + 1] as a function of m + ½ is smooth, and `quantile` solves for that.
        return finest * (max(ceil(noise.quantile(level) / finest - 0.5), 0) + border)
    roughness = noise.roughness()
    smooth = roughness <= _SMOOTH * law.standard_error
    if smooth and noise.path_end() >= _PATH_END:
        return noise.quantile(level) + roughness
    large = law.noise.scale >= _CONTINUOUS
    if not (smooth and large):
        # A coarse grid will do if a lattice is rough and the terms of small weight are smooth between its points.
        grid = float(noise.weights.max()) / _GRID
        if noise.smooth_below(grid) and noise.bound(_NEGLIGIBLE) / grid < _LARGEST_LATTICE / 2:
            return grid * (_on_lattice(noise, grid, level) + 1)
        step = _common_step(noise.weights)
        if step is not None and noise.bound(_NEGLIGIBLE) / step < _LARGEST_LATTICE / 2:
            return step * (_on_lattice(noise, step, level) + border)
    if not large:
        return noise.bound((1 - level) / 2)
    # A Laplace draw is a discrete one plus independent noise, so that this errs on the wide side.
    return _half_width(NoiseSum(Noise("laplace", law.noise.scale), law.terms), level) + roughness


def _one_draw(scale: float, level: float, discrete: bool) -> float:
    """The half-width for a single draw of weight 1, in closed form."""
    if not discrete:
        return -scale * log1p(-level)
    # Pr[|X| > m] = 2·q^(m+1)/(1 + q) with q = e^(−1/scale).
    return float(max(ceil(scale * (log(2 / (1 + exp(-1 / scale))) - log1p(-level))) - 1, 0))


def _common_step(weights: FloatArray) -> float | None:
    """A number that all weights are whole multiples of; None where there is no simple one."""
    for parts in range(1, 65):
        multiples = weights / weights.min() * parts
        if (np.abs(multiples - np.rint(multiples)) <= 1e-9 * multiples).all():
            return float(weights.min()) / parts
    return None


def _on_lattice(noise: _Sum, step: float, level: float) -> int:
    """The least number of steps that holds so much of the probability, each point of the lattice by itself."""
    if 1 - level < 100 * _NEGLIGIBLE:
        return ceil(noise.bound((1 - level) / 2) / step)
    size = 2 ** ceil(log2(2 * noise.bound(_NEGLIGIBLE) / step + 2))
    frequencies = 2 * pi / step * np.arange(size // 2 + 1) / size
    probabilities = np.fft.irfft(np.exp(-noise.damping(frequencies)), size)[: size // 2]
    within = probabilities[0] + 2 * np.concatenate([[0.0], np.cumsum(probabilities[1:])])
    return int(np.searchsorted(within, level))


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

    def derivatives(self, s: float) -> tuple[float, float]:
        """K′(s) and K″(s) for a real s left of the first pole."""
        z = s * self.weights / 2
        g, slope, bend = (
            (np.sinh(z) ** 2, np.sinh(2 * z), 2 * np.cosh(2 * z)) if self.discrete else (z * z, 2 * z, 2 + 0 * z)
        )
        rest = 1 - self.curvature * g
        first = self.curvature * slope * self.weights / 2 / rest
        second = self.curvature * bend * self.weights**2 / 4 / rest
        return float(self.draws @ first), float(self.draws @ (second + first**2))

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

    def path_end(self) -> float:
        """The damping after half a period of the largest weight."""
        return float(self.damping(np.array([pi / self.weights.max()]))[0])

    def smooth_below(self, step: float) -> bool:
        """Whether the terms of smaller weight leave nothing that changes faster than a grid of this step can tell."""
        fine = self.weights < step
        angles = pi / 2 * self.weights[fine] / step
        return float(self.draws[fine] @ np.log1p(self.curvature * np.sin(angles) ** 2)) >= _PATH_END

    def roughness(self) -> float:
        """How far a quantile may be off where the noise is treated as if it lay on no lattice.

        A term of weight w lies on a lattice of step w and moves a quantile by up to w/2, times what the
        other terms leave of it: their characteristic function at the frequency of that lattice.
        """
        angles = pi * self.weights[None, :] / self.weights[:, None]
        exponents = np.log1p(self.curvature * np.sin(angles) ** 2) * self.draws
        np.fill_diagonal(exponents, 0.0)
        return float(self.weights @ np.exp(-exponents.sum(axis=1))) / 2

    def quantile(self, level: float) -> float:
        """The x with Pr[|Z| > x] = 1 − level, as if the noise lay on no lattice.

        Of a single discrete term, the x = (m + ½)·weight with Pr[|Z| > m·weight] = 1 − level, were there
        such an m.
        """
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
        nodes = _NODES
        if self.discrete:
            nodes = nodes[breadth * np.sinh(nodes) < pi / self.weights.max()]
        s = centre + breadth * ((np.cosh(nodes) - 1) / _STEEPNESS + 1j * np.sinh(nodes))
        way = breadth * (np.sinh(nodes) / _STEEPNESS + 1j * np.cosh(nodes)) * (_NODES[1] / pi)
        way[0] /= 2
        if self.discrete and len(self.weights) == 1:
            below = 2 * np.sinh(s * self.weights[0] / 2) / self.weights[0]
        else:
            below = s
        return _Path(s, self.cumulant(s), way, below, 1 / breadth)


@frozen(eq=False)
class _Path:
    """Nodes of the path of integration, with all that does not depend on x."""

    s: NDArray[np.complex128]
    cumulants: NDArray[np.complex128]
    way: NDArray[np.complex128]
    below: NDArray[np.complex128]
    reach: float  # how far x may move without making this a bad path

    def integrals(self, x: float) -> tuple[float, float]:
        """Pr[Z > x], and minus its derivative."""
        values = np.exp(self.cumulants - self.s * x) * self.way / self.below
        return float(values.imag.sum()), float((values * self.s).imag.sum())
