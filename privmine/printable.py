"""Text that comes from others, made safe to print.

A label, a note or a file name may hold what moves a cursor, hides text or turns its direction around. On a
screen such characters are shown by their escapes, so that nobody can forge what privmine says.
"""

from __future__ import annotations

import json
from typing import Any


def printable(text: str) -> str:
    """The text with every character that is not printable as Python escapes it; a space stays a space."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def printable_lines(text: str) -> str:
    """The same for text of several lines, which stay lines."""
    return "\n".join(map(printable, text.split("\n")))


def json_text(value: Any, **options: Any) -> str:
    r"""Indented JSON in which letters stay letters, and characters that are not printable are \u escapes."""
    lines = json.dumps(value, ensure_ascii=False, indent=2, **options).split("\n")
    # Within a text JSON escapes a line break itself, so that those that are left are its own.
    return "\n".join("".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line) for line in lines)
