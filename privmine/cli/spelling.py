"""Messages are written with Python's names of options; in the shell they get the shell's.

`epsilon=1` becomes `--epsilon 1`, `simulate=True` becomes `--simulate`, and `max_baskets` becomes `--max-baskets`.
"""

from __future__ import annotations

import re
import shlex

from privmine.option_names import READING_OPTIONS, RUN_OPTIONS

#: The options whose names differ by more than hyphens.
_RENAMED = {"overwrite": "--force"}
#: Calls that are options in the shell.
_CALLS = {"release.downward_closed().rules(…)": "--downward-closed"}
#: The arguments of `read`, `mine`, `plan` and `rules` that are options of commands.
OPTIONS = (
    (READING_OPTIONS | RUN_OPTIONS)
    .difference(("noise", "observers"))
    .union(
        ("trust", "transactions", "lam", "bases", "length", "target_error", "target_size"),
        ("like", "like_is_public", "wanted", "runs", "support_only", "min_threshold", "prune"),
    )
)
_ASSIGNED = re.compile(
    r"(?<![\w.\-/])(?P<name>[a-z_]+)=(?P<value>True\b|'[^']*'|\"[^\"]*\"|\{[^}]*\}|[\w.…]*[\w…])?(?!=)"
)
#: Names that mean an option also without "=". Others are words of the language, or parameters of components.
PLAIN = frozenset(("max_baskets", "merge_by", "n_public", "target_error", "target_size", "downward_closed"))
_QUOTES = "'\""
_PLAIN = re.compile(rf"(?<![\w.\-/])(?P<name>{'|'.join(sorted(PLAIN))})(?![\w.(=])")


def in_shell(message: str) -> str:
    """The message with the names of options as they are typed in a shell."""
    for call, option in _CALLS.items():
        message = message.replace(call, option)
    assigned = _ASSIGNED.sub(lambda found: _typed(found["name"], found["value"]) or found[0], message)
    return _PLAIN.sub(lambda found: _typed(found["name"], None) or found[0], assigned)


def option_of(name: str) -> str:
    """The option that a Python argument is in the shell."""
    return _RENAMED.get(name, f"--{name.replace('_', '-')}")


def _typed(name: str, value: str | None) -> str:
    if name not in OPTIONS:
        return ""
    if value in (None, "True"):
        return option_of(name)
    assert value is not None
    if value.startswith("{"):
        return f"{option_of(name)} {shlex.quote(value[2:-2]) if value[1] in _QUOTES else 'NAME'}"
    quoted = value[0] in _QUOTES
    return f"{option_of(name)} {shlex.quote(value[1:-1]) if quoted else value}"
