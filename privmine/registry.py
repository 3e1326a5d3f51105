"""The components and presets that are known by name, and the plugins that brought them."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, entry_points, packages_distributions, version
from typing import Any

import attrs
import cattrs
import pluggy
from attrs import define, field, frozen
from cattrs.errors import AttributeValidationNote

from privmine.errors import (
    DuplicateNameError,
    InputError,
    PluginError,
    PrivmineError,
    UnknownNameError,
)
from privmine.hookspecs import ENTRY_POINT_GROUP, PROJECT, Stages, hookspec
from privmine.model import A_NUMBER, STAGES, exact

HELP = "privmine_help"


class Discovery:
    """The hook by which a plugin announces its components."""

    @hookspec
    def privmine_register(self, registry: Registrar) -> None:
        """Register components and presets; called once, when the plugin is loaded.

        Args:
            registry: takes `add(stage, name, cls)` and `add_preset(name, {...}, summary)`.
        """


@frozen
class Registered:
    """A component under its name, with the distribution that brought it."""

    stage: str
    name: str
    cls: type
    distribution: str
    version: str


@frozen
class Preset:
    """A whole pipeline under a name: for each stage a component's name, or its name and parameters."""

    name: str
    stages: Mapping[str, Any]
    summary: str
    distribution: str


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
    failures: list[LoadFailure] = field(factory=list)

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
                f"component for {stage}", name, self.names(stage), hint=self._failure_hint()
            ) from None

    def preset(self, name: str) -> Preset:
        """The preset of that name, or an error that lists the known ones."""
        try:
            return self.presets[name]
        except KeyError:
            raise UnknownNameError("method", name, self.presets, hint=self._failure_hint()) from None

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

    def _failure_hint(self) -> str:
        if not self.failures:
            return ""
        broken = "; ".join(f"{failure.plugin} ({failure.reason})" for failure in self.failures)
        return f"Plugins that failed to load: {broken}."

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


@define
class Registrar:
    """What a plugin registers with; it becomes part of the registry when all of it is sound."""

    _registry: Registry
    _distribution: str
    _version: str
    components: dict[tuple[str, str], Registered] = field(factory=dict, init=False)
    presets: dict[str, Preset] = field(factory=dict, init=False)

    def add(self, stage: str, name: str, cls: type) -> None:
        """Register a component class for a stage under a name."""
        if stage not in STAGES:
            raise UnknownNameError("stage", stage, STAGES)
        check_component_class(stage, cls)
        known = self.components.get((stage, name)) or self._registry.components.get((stage, name))
        if known:
            raise DuplicateNameError(
                f"{self._distribution} registers {stage}={name}, which {known.distribution} has registered already; "
                "one of the two must choose another name."
            )
        self.components[stage, name] = Registered(stage, name, cls, self._distribution, self._version)

    def add_preset(self, name: str, stages: Mapping[str, Any], summary: str = "") -> None:
        """Register a whole pipeline under a name."""
        for stage in stages:
            if stage not in STAGES:
                raise UnknownNameError("stage", stage, STAGES)
        known = self.presets.get(name) or self._registry.presets.get(name)
        if known:
            raise DuplicateNameError(
                f"{self._distribution} registers the method {name!r}, which {known.distribution} has registered "
                "already; one of the two must choose another name."
            )
        self.presets[name] = Preset(name, dict(stages), summary, self._distribution)


def check_component_class(stage: str, cls: type) -> None:
    """A component is a frozen attrs class with its stage as a method that pluggy can call."""
    where = f"{cls.__module__}.{cls.__qualname__}"
    if not attrs.has(cls):
        raise PluginError(f"{where} must be a frozen attrs class, so that its fields are its parameters.")
    method = inspect.getattr_static(cls, stage, None)
    if method is None:
        raise PluginError(f"{where} has no method {stage}, so it cannot be a component for that stage.")
    check_stage_method(where, stage, method)


def check_stage_method(where: str, stage: str, method: Any) -> None:
    """Catch what pluggy would accept and then not do."""
    if not hasattr(method, f"{PROJECT}_impl"):
        raise PluginError(f"{where}.{stage} lacks the @hookimpl decorator, so it would never be called.")
    marks = getattr(method, f"{PROJECT}_impl")
    if marks.get("wrapper") or marks.get("hookwrapper"):
        raise PluginError(f"{where}.{stage} is a hook wrapper; a component implements its stage itself.")
    offered = list(inspect.signature(getattr(Stages, stage)).parameters)[1:]
    for parameter in list(inspect.signature(method).parameters.values())[1:]:
        if parameter.name not in offered:
            close = get_close_matches(parameter.name, offered, n=1)
            guess = f"did you mean {close[0]!r}? " if close else ""
            raise PluginError(
                f"{where}.{stage} takes {parameter.name!r}, which the hook does not offer; {guess}"
                f"It offers {', '.join(offered)}."
            )
        if parameter.default is not parameter.empty or parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
            raise PluginError(
                f"{where}.{stage} takes {parameter.name!r} with a default, by keyword only or as a "
                "collection; pluggy never passes such an argument. Take it as a plain one."
            )


def build(registered: Registered, parameters: Mapping[str, Any]) -> Any:
    """Make a component from its registered class and parameters given as plain values or text."""
    known = {attribute.alias: attribute for attribute in attrs.fields(registered.cls) if attribute.init}
    owner = f"{registered.stage}={registered.name}"
    for name in parameters:
        if name not in known:
            raise UnknownNameError(f"parameter of {owner}", name, known)
    try:
        return _converter().structure(dict(parameters), registered.cls)
    except PrivmineError:
        raise
    except Exception as error:
        raise InputError(f"{owner} cannot be made: {_reason(error, list(parameters))}") from error


def _reason(error: BaseException, given: list[str]) -> str:
    """The sentence behind cattrs' nested groups, with the name of the parameter that it is about, if that is known."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    sentence = str(error).rstrip(".") + "."
    notes = [note.name for note in getattr(error, "__notes__", ()) if isinstance(note, AttributeValidationNote)]
    # A field's own converter leaves no note.
    name = (notes or (given if len(given) == 1 else []))[:1]
    return sentence.replace(A_NUMBER, name[0], 1) if name else sentence


@cache
def _converter() -> cattrs.Converter:
    from fractions import Fraction

    converter = cattrs.Converter(prefer_attrib_converters=True, use_alias=True)
    converter.register_structure_hook(int, lambda value, _: _whole(value))
    converter.register_structure_hook(Fraction, lambda value, _: exact(value))
    return converter


def _whole(value: Any) -> int:
    try:
        number = exact(value)
    except InputError:
        number = None
    if number is None or number.denominator != 1:
        raise InputError(f"{A_NUMBER} must be a whole number, not {value!r}.")
    return int(number)


def parameter(default: Any = attrs.NOTHING, *, help: str, **options: Any) -> Any:  # noqa: A002 - attrs' own word
    """A component's parameter: an attrs field with a help text that `privmine plugins show` prints."""
    return attrs.field(default=default, metadata={HELP: help}, **options)


def discover(points: Iterable[EntryPoint] | None = None) -> Registry:
    """Load every plugin of the entry-point group; one that fails is noted and stops nothing.

    `PRIVMINE_LOAD_PLUGINS`, a comma-separated list of distributions, limits what is loaded besides
    privmine itself.
    """
    registry = Registry()
    found = entry_points(group=ENTRY_POINT_GROUP) if points is None else points
    # privmine's own plugin first, so that a third party cannot take a default's name; then by name.
    ordered = sorted(found, key=lambda point: (_owner(point) != PROJECT, _owner(point), point.name))
    wanted = _wanted_plugins()
    for point in ordered:
        owner = _owner(point)
        if owner != PROJECT and wanted is not None and canonical(owner) not in wanted:
            continue
        try:
            registry.load(point.load(), point.name, owner, point.dist.version if point.dist else "unknown")
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a plugin may fail in any way; the others go on
            reason = f"{type(error).__name__}: {error}"
            registry.failures.append(LoadFailure(point.name, owner, reason))
    return registry


def _owner(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "unknown"


def _wanted_plugins() -> set[str] | None:
    limit = os.environ.get("PRIVMINE_LOAD_PLUGINS")
    return None if limit is None else {canonical(name.strip()) for name in limit.split(",") if name.strip()}


def canonical(distribution: str) -> str:
    """A distribution's name as PEP 503 compares it: privmine_tf is privmine-tf."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


@cache
def registry() -> Registry:
    """The registry of this process, filled on first use."""
    return discover()


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
