"""All that is known by name, and the plugins that brought it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, packages_distributions, version

import pluggy
from attrs import define, field, frozen

from privmine.errors import PluginError, UnknownNameError
from privmine.hooks.components import Registered
from privmine.hooks.entry_points import in_order, installed_points, owner
from privmine.hooks.extensions import Extension
from privmine.hooks.presets import Preset
from privmine.hooks.registrar import Discovery, Registrar
from privmine.hooks.specs import PROJECT
from privmine.stage_names import STAGES

#: What the plugins of privmine's own repository bring, so that an error can say what to install.
IN_OTHER_DISTRIBUTIONS: Mapping[tuple[str, str], str] = {
    ("command", "experiment paper"): "privmine-paper",
    ("command", "leaderboard"): "privmine-paper",
    ("command", "plugins compare"): "privmine-bases",
    ("dataset", "aol"): "privmine-paper",
    ("dataset", "aol-like"): "privmine-paper",
    ("method", "plus"): "privmine-plus",
    ("method", "tf"): "privmine-tf",
    ("method", "tf-monotone"): "privmine-tf",
    ("method", "tf-noisy"): "privmine-tf",
}


@frozen
class LoadFailure:
    """A plugin that could not be loaded, and why."""

    plugin: str
    distribution: str
    reason: str


@define
class Registry:
    """All that is known by name."""

    components: dict[tuple[str, str], Registered] = field(factory=dict)
    presets: dict[str, Preset] = field(factory=dict)
    #: By kind and name; the case of the name does not matter.
    extensions: dict[tuple[str, str], Extension] = field(factory=dict)
    failures: list[LoadFailure] = field(factory=list)
    #: False where only commands are wanted: a component that is registered by its import path is then left out.
    imports_components: bool = True

    def names(self, stage: str) -> list[str]:
        """The names of a stage's components."""
        return sorted(name for known_stage, name in self.components if known_stage == stage)

    def find(self, stage: str, name: str) -> Registered:
        """The component of that name, or an error that lists the known ones."""
        if stage not in STAGES:
            raise UnknownNameError("stage", stage, STAGES)
        try:
            return self.components[stage, name]
        except KeyError:
            raise UnknownNameError(
                f"component for {stage}", name, self.names(stage), hint=self.hint(stage, name)
            ) from None

    def preset(self, name: str) -> Preset:
        """The preset of that name, or an error that lists the known ones."""
        try:
            return self.presets[name]
        except KeyError:
            raise UnknownNameError("method", name, self.presets, hint=self.hint("method", name)) from None

    def all_of(self, kind: str) -> dict[str, Extension]:
        """All commands, datasets, metrics or readers by name, in the order in which they were registered."""
        return {found.name: found for found in self.extensions.values() if found.kind == kind}

    def extension(self, kind: str, name: str, *, hint: str = "") -> Extension:
        """The command, dataset or metric of that name, or an error that lists the known ones.

        Args:
            kind: "command", "dataset" or "metric".
            name: its name, in upper or lower case.
            hint: what else to tell if there is none.
        """
        try:
            return self.extensions[kind, name.casefold()]
        except KeyError:
            hints = [hint, self.hint(kind, name.casefold())]
            raise UnknownNameError(kind, name, self.all_of(kind), hint=" ".join(filter(None, hints))) from None

    def distribution_of(self, component: object) -> str:
        """The distribution that a component comes from."""
        for registered in self.components.values():
            if registered.cls is type(component):
                return registered.distribution
        return distribution_of(type(component))

    def name_of(self, stage: str, component: object) -> str:
        """The registered name of a component, else the name of its class."""
        for registered in self.components.values():
            if registered.stage == stage and registered.cls is type(component):
                return registered.name
        return type(component).__name__

    def hint(self, kind: str, name: str) -> str:
        """Where the name may be found: in a distribution that is not installed, or in a plugin that failed."""
        hints = []
        home = IN_OTHER_DISTRIBUTIONS.get((kind, name))
        if home is not None:
            hints.append(f"It is part of {home}. In a checkout of privmine, run `pip install ./plugins/{home}`.")
        if self.failures:
            broken = "; ".join(f"{found.plugin} from {found.distribution} ({found.reason})" for found in self.failures)
            hints.append(f"Plugins that failed to load: {broken}.")
        return " ".join(hints)

    def load(self, plugin: object, name: str, distribution: str, dist_version: str) -> None:
        """Take in all that a plugin registers, or nothing of it if anything is wrong."""
        # A manager of its own: one that rejected a plugin keeps half of it registered.
        manager = pluggy.PluginManager(PROJECT)
        manager.add_hookspecs(Discovery)
        manager.register(plugin, name=name)
        manager.check_pending()
        if not manager.hook.privmine_register.get_hookimpls():
            raise PluginError(f"The plugin {name!r} implements no privmine_register hook.")
        registrar = Registrar(self, distribution, dist_version)
        manager.hook.privmine_register(registry=registrar)
        self.components.update(registrar.components)
        self.presets.update(registrar.presets)
        self.extensions.update(registrar.extensions)


def discover(points: Iterable[EntryPoint] | None = None, *, imports_components: bool = True) -> Registry:
    """Load every plugin of the entry-point group; one that fails is noted and stops nothing.

    `PRIVMINE_LOAD_PLUGINS`, a comma-separated list of distributions, limits what is loaded besides
    privmine itself.
    """
    registry = Registry(imports_components=imports_components)
    waiting = in_order(installed_points() if points is None else points)
    while waiting:
        failed = [(point, error) for point in waiting if (error := _load(registry, point)) is not None]
        # A preset may start from one of a plugin that comes later in the order: try again when the others are loaded.
        early = [point for point, error in failed if isinstance(error, UnknownNameError) and error.kind == "method"]
        waiting = early if len(early) < len(waiting) else []
        for point, error in failed:
            if point not in waiting:
                reason = f"{type(error).__name__}: {error}"
                registry.failures.append(LoadFailure(point.name, owner(point), reason))
    return registry


def _load(registry: Registry, point: EntryPoint) -> BaseException | None:
    """Load a plugin, or return why it cannot be loaded."""
    try:
        registry.load(point.load(), point.name, owner(point), point.dist.version if point.dist else "unknown")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a plugin may fail in any way; the others go on
        return error
    return None


@cache
def registry() -> Registry:
    """The registry of this process, filled on first use."""
    return discover()


@cache
def commands_of_plugins() -> dict[str, Extension]:
    """All commands by name. Components are not imported for it: numpy alone takes longer than the rest."""
    return discover(imports_components=False).all_of("command")


def distribution_of(cls: type) -> str:
    """The distribution that a class was installed with, or where its code was typed in."""
    package = cls.__module__.partition(".")[0]
    if package == PROJECT:
        return PROJECT
    return _package_owners().get(package, "local code")


@cache
def _package_owners() -> dict[str, str]:
    """The distribution of each importable package; reading them all takes a good part of a second."""
    owners = {package: distributions[0] for package, distributions in packages_distributions().items()}
    # An editable installation does not list its packages; the code that it registered tells.
    known = registry().components.values()
    registered = {found.cls.__module__.partition(".")[0]: found.distribution for found in known}
    return registered | owners


@cache
def own_version() -> str:
    """The version of privmine."""
    return version(PROJECT)
