"""What privacy costs and what it is worth, as values.

`definition` says what mechanisms cost and which noise they need; `cost` adds up what was spent; `guarantee` is what a
total is worth; `unit` is who is protected; `receipt` is all of it for one release. Everything is exact: costs, shares
and scales are fractions, and nothing is rounded before the sampler, which rounds towards more noise.
"""

from __future__ import annotations

from privmine.exact import amount
from privmine.privacy.cost import UNSPENT, Charge, Cost, Meter
from privmine.privacy.definition import ZCDP, Definition, PureDP
from privmine.privacy.guarantee import Guarantee, at_epsilon
from privmine.privacy.noise import (
    DiscreteElliptope,
    DiscreteGaussian,
    DiscreteLaplace,
    Elliptope,
    Gaussian,
    Laplace,
    Noise,
    noise_from_dict,
)
from privmine.privacy.receipt import Receipt
from privmine.privacy.sensitivity import ConeSensitivity, Sensitivity
from privmine.privacy.unit import Unit

__all__ = [
    "UNSPENT",
    "ZCDP",
    "Charge",
    "ConeSensitivity",
    "Cost",
    "Definition",
    "DiscreteElliptope",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Elliptope",
    "Gaussian",
    "Guarantee",
    "Laplace",
    "Meter",
    "Noise",
    "PureDP",
    "Receipt",
    "Sensitivity",
    "Unit",
    "amount",
    "at_epsilon",
    "noise_from_dict",
]
