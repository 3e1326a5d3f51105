"""A small experiment as a file has it: two pipelines, three repeats."""

from __future__ import annotations

from typing import Any

_FILE = """
data = {data}
k = {k}
epsilon = {epsilon}
repeats = 3
[pipelines.paper]
method = "privbasis"
[pipelines.short.stages.construct_basis]
max_length = {longest}
"""


def experiment_file(data: str, k: Any, epsilon: Any, longest: int) -> str:
    """The text of the file; `data` is as TOML writes it."""
    return _FILE.format(data=data, k=k, epsilon=epsilon, longest=longest)
