"""What is drawn: distributions of noise as values."""

from __future__ import annotations

from fractions import Fraction
from math import exp, expm1
from typing import Any, ClassVar

from attrs import field, frozen

from privmine.errors import InputError
from privmine.exact import amount, exact
from privmine.privacy.sensitivity import ConeSensitivity, Sensitivity


@frozen
class Noise:
    """The distribution of the noise in one value of an answer, symmetric about zero.

    A definition of privacy says which noise a measurement needs, a source of noise is asked to add it, and later
    stages read it from the answer. A distribution is a subclass with a `distribution` of its own, a `variance`,
    and a function in `privmine.intervals` that gives its half-widths.

    Attributes:
        distribution: its name in receipts and files.
        is_discrete: whether a draw is a whole number, as that of an exact sampler is.
        scale: the exact scale that the budget asks for.
    """

    distribution: ClassVar[str] = ""
    is_discrete: ClassVar[bool] = True

    scale: Fraction = field(converter=exact)

    @property
    def variance(self) -> float:
        """The variance of one draw."""
        raise NotImplementedError

    @property
    def diagonal_variance(self) -> float:
        """The variance of the diagonal of a moment matrix that gets this noise; most noise is the same everywhere."""
        return self.variance

    @property
    def continuous(self) -> Noise:
        """The distribution that a simulation in floating point draws instead."""
        return self

    @property
    def least_sensitivity(self) -> Sensitivity:
        """The smallest that a query of privmine's own with such noise has: its answers are whole numbers."""
        return Sensitivity(1, 1, 1)

    @classmethod
    def read(cls, scale: Fraction, values: dict[str, Any]) -> Noise:
        """The noise of this scale, with whatever else `to_dict` wrote."""
        return cls(scale)

    def __str__(self) -> str:
        return f"{self.distribution} of scale {amount(self.scale)}"

    def to_dict(self) -> dict[str, str]:
        """Plain values for JSON; the scale becomes text, so that nothing is rounded."""
        return {"distribution": self.distribution, "scale": str(self.scale)}


@frozen
class Laplace(Noise):
    """Laplace noise in floating point, as a simulation draws it: density ∝ e^(−|x|/scale)."""

    distribution = "laplace"
    is_discrete = False

    @property
    def variance(self) -> float:
        """Twice the squared scale."""
        return 2 * float(self.scale) * float(self.scale)


@frozen
class DiscreteLaplace(Noise):
    """Whole numbers with Pr[x] ∝ e^(−|x|/scale)."""

    distribution = "discrete laplace"

    @property
    def variance(self) -> float:
        """Σ x²·p(x) in closed form: 2q / (1−q)² with q = e^(−1/scale)."""
        scale = float(self.scale)
        return 2 * exp(-1 / scale) / expm1(-1 / scale) ** 2

    @property
    def continuous(self) -> Noise:
        """Laplace noise of the same scale."""
        return Laplace(self.scale)


@frozen
class Gaussian(Noise):
    """Gaussian noise in floating point, as a simulation draws it; its scale is σ, the standard deviation."""

    distribution = "gaussian"
    is_discrete = False

    @property
    def variance(self) -> float:
        """σ²."""
        return float(self.scale) * float(self.scale)


#: Beyond this σ a discrete Gaussian has the variance σ², but for a part below e^(−2π²σ²)·4π²σ².
_FINE = 4
#: Below that σ, nothing further out than so many standard deviations changes a float.
_FAR = 40


@frozen
class DiscreteGaussian(Noise):
    """Whole numbers with Pr[x] ∝ e^(−x²/(2σ²)); its scale is σ."""

    distribution = "discrete gaussian"

    @property
    def variance(self) -> float:
        """Σ x²·p(x), which is never more than σ²."""
        scale = float(self.scale)
        if scale > _FINE:
            return scale * scale
        weights = [exp(-x * x / (2 * scale * scale)) for x in range(1, int(_FAR * scale) + 2)]
        return 2 * sum(x * x * weight for x, weight in enumerate(weights, 1)) / (1 + 2 * sum(weights))

    @property
    def continuous(self) -> Noise:
        """Gaussian noise of the same σ."""
        return Gaussian(self.scale)


#: Noise for more variables is never drawn; a file that names it was not written by privmine.
_MOST_VARIABLES = 1000


@frozen
class DiscreteElliptope(Noise):
    """Noise for a moment matrix: scale·(A − B), rounded to whole numbers.

    A and B are independent, each with density ∝ e^(−a₀) on the cone of symmetric matrices that have one value a₀ on the
    diagonal and no negative eigenvalue. The values of the matrix are uncorrelated, but not independent.

    Attributes:
        variables: the size p of the matrix, which has M = 1 + p·(p − 1)/2 values.
    """

    distribution = "discrete elliptope"

    variables: int

    @property
    def size(self) -> int:
        """M: the diagonal, and the values above it."""
        return 1 + self.variables * (self.variables - 1) // 2

    @property
    def variance(self) -> float:
        """That of a value above the diagonal, up to the rounding: 2·M·(M + 1)/(p + 1) for scale 1."""
        return 2 * self.size * (self.size + 1) / (self.variables + 1) * float(self.scale) ** 2

    @property
    def diagonal_variance(self) -> float:
        """That of the diagonal, up to the rounding: A has a Gamma variable of shape M there, and B has one."""
        return 2 * self.size * float(self.scale) ** 2

    @property
    def continuous(self) -> Noise:
        """The same without the rounding."""
        return Elliptope(self.scale, self.variables)

    @property
    def least_sensitivity(self) -> Sensitivity:
        """One moment matrix."""
        return ConeSensitivity(self.size, self.size, 1, variables=self.variables)

    def __str__(self) -> str:
        return f"{self.distribution} of {self.variables} variables and scale {amount(self.scale)}"

    def to_dict(self) -> dict[str, str]:
        """Plain values for JSON."""
        return {**super().to_dict(), "variables": str(self.variables)}

    @classmethod
    def read(cls, scale: Fraction, values: dict[str, Any]) -> Noise:
        """With the number of variables."""
        variables: Any = values.get("variables")
        digits = isinstance(variables, str) and variables.isdecimal() and len(variables) <= len(str(_MOST_VARIABLES))
        if not digits or not 0 < int(variables) <= _MOST_VARIABLES:
            raise InputError("This version of privmine does not know this noise. Upgrade privmine.")
        return cls(scale, int(variables))


@frozen
class Elliptope(DiscreteElliptope):
    """Noise for a moment matrix in floating point, as a simulation draws it."""

    distribution = "elliptope"
    is_discrete = False


#: The distributions that a file may name.
DISTRIBUTIONS: dict[str, type[Noise]] = {
    kind.distribution: kind
    for kind in (Laplace, DiscreteLaplace, Gaussian, DiscreteGaussian, Elliptope, DiscreteElliptope)
}


def noise_from_dict(values: dict[str, Any]) -> Noise:
    """Read what `Noise.to_dict` wrote, and nothing else: a file may come from anybody."""
    kind = DISTRIBUTIONS.get(values["distribution"])
    if kind is None or not isinstance(values["scale"], str):
        raise InputError("This version of privmine does not know this noise. Upgrade privmine.")
    scale = exact(values["scale"], "The scale of noise")
    if scale <= 0:
        raise InputError("The scale of noise is not above 0.")
    return kind.read(scale, values)
