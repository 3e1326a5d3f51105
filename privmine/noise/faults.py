"""Versions of OpenDP whose noise is not what it claims to be, recognised by the name of a source of noise.

It does not import OpenDP: a release names the version that drew its noise, and is read without it.
"""

from __future__ import annotations

import re

#: The first version that divides large fractions correctly (opendp issue 2638).
SOUND = (0, 14, 2)

_NAMED = re.compile(r"OpenDP (\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?([^\s),]*)")


def faulty_version(noise: str) -> str:
    """The version of OpenDP that the name of a source of noise carries, if it is biased; else nothing."""
    named = _NAMED.search(noise)
    if named is None:
        return ""
    numbers = tuple(int(part or 0) for part in named.groups()[:3])
    # Something behind the number marks what came before that version, such as 0.14.2a1.
    biased = numbers < SOUND or (numbers == SOUND and named[4] != "")
    return named[0].removeprefix("OpenDP ") if biased else ""


def fault(version: str) -> str:
    """What is wrong with a faulty version, as a sentence."""
    return (
        f"OpenDP {version} draws biased noise: at some scales the ratio of two probabilities exceeds what ε allows "
        f"(opendp issue 2638, fixed in {'.'.join(map(str, SOUND))})."
    )
