"""The entry points by which plugins are found; nothing of a plugin is imported here."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points

from privmine.hooks.specs import ENTRY_POINT_GROUP, PROJECT


def installed_points() -> Iterable[EntryPoint]:
    """The entry points of all plugins that are installed."""
    return entry_points(group=ENTRY_POINT_GROUP)


def in_order(points: Iterable[EntryPoint]) -> list[EntryPoint]:
    """The entry points to load: privmine's own first, so that nobody else can take a name of its own; then by name."""
    ordered = sorted(points, key=lambda point: (owner(point) != PROJECT, owner(point), point.name))
    return [point for point in ordered if _is_wanted(owner(point))]


def third_parties() -> bool:
    """Whether any distribution but privmine itself brings a plugin to load."""
    return any(owner(point) != PROJECT for point in in_order(installed_points()))


def owner(point: EntryPoint) -> str:
    """The distribution that an entry point belongs to."""
    return point.dist.name if point.dist else "unknown"


def canonical(distribution: str) -> str:
    """A distribution's name as PEP 503 compares it: privmine_tf is privmine-tf."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _is_wanted(distribution: str) -> bool:
    """Whether the environment lets a distribution's plugins be loaded."""
    limit = os.environ.get("PRIVMINE_LOAD_PLUGINS")
    if limit is None or distribution == PROJECT:
        return True
    return canonical(distribution) in {canonical(name.strip()) for name in limit.split(",")}
