"""What ε and δ mean for one who is protected, as odds that people know."""

from __future__ import annotations

from math import exp

from privmine.privacy.guarantee import Guarantee

#: What somebody may believe beforehand.
BELIEFS = (0.01, 0.1, 0.5, 0.9)
#: Beyond it e^ε is no number of a computer, and no promise either.
_LARGEST = 700.0
_CERTAIN = 0.9995


def belief_after(before: float, guarantee: Guarantee) -> tuple[float, float]:
    """The least and the highest belief that a release can leave, given the belief before (Bayes' rule)."""
    epsilon = min(float(guarantee.epsilon), _LARGEST)
    against = (1 - before) / before
    return 1 / (1 + against * exp(epsilon)), 1 / (1 + against * exp(-epsilon))


def chance(value: float) -> str:
    """A probability of which nothing is rounded to certainty."""
    if value > _CERTAIN:
        return "more than 99.9 %"
    if value < 1 - _CERTAIN:
        return "less than 0.1 %"
    return f"{100 * value:.1f} %"


def in_a_hundred(value: float) -> str:
    """A probability as a number of cases."""
    if value > _CERTAIN:
        return "practically 100 in 100"
    return f"{100 * value:.0f} in 100" if value < 0.99 else f"{1000 * value:.0f} in 1,000"


def one_in(delta: float) -> str:
    """A small probability as one case in so many."""
    return f"1 in {1 / delta:,.0f}"


def strength(guarantee: Guarantee) -> str:
    """A rough word for an ε; it is about the worst case."""
    epsilon = float(guarantee.epsilon)
    if epsilon <= 0.1:
        return "This is strong: next to nothing can be learnt about one of those who are protected."
    if epsilon <= 1:
        return "This is moderate: a suspicion can be strengthened, but not proved."
    if epsilon < 3:
        return "This is limited: a suspicion can be strengthened considerably."
    return "This is weak: for somebody who is suspected already, the worst case is close to certainty."


def promise(guarantee: Guarantee, whom: str) -> list[str]:
    """What a guarantee promises, in sentences for people who never heard of ε.

    Args:
        guarantee: the ε and perhaps the δ.
        whom: who is protected, such as "one customer".
    """
    even, tenth = (belief_after(before, guarantee)[1] for before in (0.5, 0.1))
    sentences = [
        f"Suppose that somebody wonders whether the data of {whom} was used, and thinks that it is as likely as not. "
        f"After reading this release they can be right in at most {in_a_hundred(even)} cases, whatever else they know.",
        f"Somebody who takes it for 10 in 100 beforehand can come to at most {in_a_hundred(tenth)}.",
        strength(guarantee),
    ]
    if guarantee.delta:
        sentences.append(
            f"But for a chance of at most {one_in(float(guarantee.delta))} (δ), in which nothing of this is promised."
        )
    return sentences
