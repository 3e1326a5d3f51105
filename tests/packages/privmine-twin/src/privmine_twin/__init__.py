"""Plugins that each register one name that is taken."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from privmine.api import Dataset, Reader, Registrar, hookimpl


@frozen
class Plugin:
    """A plugin that registers one thing."""

    register: Callable[[Registrar], None]

    @hookimpl
    def privmine_register(self, registry: Registrar) -> None:
        """Register it."""
        self.register(registry)


def _dataset(name: str) -> Dataset:
    return Dataset(name, "a twin", "this file", "none", 1, 1, 1.0, generator=lambda: [["a"]])


commands = Plugin(lambda registry: registry.add_command("greet", "privmine_twin:greet", "A twin."))
datasets = Plugin(lambda registry: registry.add_dataset(_dataset("Corner-Shop")))
methods = Plugin(lambda registry: registry.add_preset("short", {}, "a twin", base="privbasis"))
metrics = Plugin(lambda registry: registry.add_metric("longest", lambda found: 0.0, "a twin"))
own_commands = Plugin(lambda registry: registry.add_command("mine", "privmine_twin:mine", "A twin."))
own_datasets = Plugin(lambda registry: registry.add_dataset(_dataset("Retail")))
own_metrics = Plugin(lambda registry: registry.add_metric("fnr", lambda found: 0.0, "a twin"))
readers = Plugin(lambda registry: registry.add_reader(Reader("till", "a twin", lambda source: False, list)))
own_options = Plugin(lambda registry: registry.add_reader(Reader("sql", "an option", lambda source: False, list)))
