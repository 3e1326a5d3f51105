"""All that is known by name, and the plugins that brought it."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, packages_distributions, version
from typing import TYPE_CHECKING, Any

import attrs
import pluggy
from attrs import define, field, frozen

from privmine.entries import canonical as canonical
from privmine.entries import in_order, installed_points, owner
from privmine.errors import (
    DuplicateNameError,
    InputError,
    PluginError,
    PrivmineError,
    UnknownNameError,
)
from privmine.extensions import (
    Dataset,
    Extension,
    Target,
    check_command_name,
    check_metric_name,
    check_target,
)
from privmine.hookspecs import PROJECT, Stages, hookspec
from privmine.model import A_NUMBER, STAGES, exact
from privmine.presets import Preset, normal_stages

if TYPE_CHECKING:
    import cattrs

HELP = "privmine_help"
#: What the plugins of privmine's own repository bring, so that an error can say what to install.
IN_OTHER_DISTRIBUTIONS: Mapping[tuple[str, str], str] = {
    ("command", "experiment paper"): "privmine-paper",
    ("command", "plugins compare"): "privmine-bases",
    ("dataset", "aol"): "privmine-paper",
    ("dataset", "aol-like"): "privmine-paper",
    ("method", "tf"): "privmine-tf",
    ("method", "tf-monotone"): "privmine-tf",
    ("method", "tf-noisy"): "privmine-tf",
}


class Discovery:
    """The hook by which a plugin announces what it brings."""

    @hookspec
    def privmine_register(self, registry: Registrar) -> None:
        """Register what the plugin brings; called when the plugin is loaded.

        Args:
            registry: takes `add(stage, name, cls)`, `add_preset(name, {...}, summary, base)`,
                `add_command(name, target, summary)`, `add_dataset(dataset)` and `add_metric(name, target, summary)`.
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
        """All commands, datasets or metrics by name, in the order in which they were registered."""
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
            hints.append(f"It is part of {home}. Run: pip install {home}.")
        if self.failures:
            broken = "; ".join(f"{failure.plugin} ({failure.reason})" for failure in self.failures)
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


@define
class Registrar:
    """What a plugin registers with; it becomes part of the registry when all of it is sound."""

    _registry: Registry
    _distribution: str
    _version: str
    components: dict[tuple[str, str], Registered] = field(factory=dict, init=False)
    presets: dict[str, Preset] = field(factory=dict, init=False)
    extensions: dict[tuple[str, str], Extension] = field(factory=dict, init=False)

    def add(self, stage: str, name: str, cls: type) -> None:
        """Register a component class for a stage under a name."""
        if stage not in STAGES:
            raise UnknownNameError("stage", stage, STAGES)
        check_component_class(stage, cls)
        known = self.components.get((stage, name)) or self._registry.components.get((stage, name))
        self._refuse_taken(f"{stage}={name}", known)
        self.components[stage, name] = Registered(stage, name, cls, self._distribution, self._version)

    def add_preset(self, name: str, stages: Mapping[str, Any], summary: str = "", *, base: str | None = None) -> None:
        """Register a whole pipeline under a name.

        Args:
            name: what users call the method.
            stages: by stage a component's name, or a mapping of `use` and parameters. With a base, only what differs;
                a mapping without `use` changes parameters of the base's component.
            summary: what it is, in one line.
            base: the method to start from, for example "privbasis".
        """
        start = None
        if base is not None:
            start = self.presets.get(base) or self._registry.presets.get(base)
            if start is None:
                raise UnknownNameError("method", base, {**self._registry.presets, **self.presets})
        known = self.presets.get(name) or self._registry.presets.get(name)
        self._refuse_taken(f"the method {name!r}", known)
        settled = normal_stages(name, stages, start)
        self.presets[name] = Preset(name, settled, summary, self._distribution, self._version)

    def add_command(self, name: str, target: Target, summary: str) -> None:
        """Register a command of the command line.

        Args:
            name: the word that users type after `privmine`; for a command of an open group two, such as
                "experiment paper".
            target: the click command, or better its import path "package.module:name", so that it is imported only
                when it is used.
            summary: what it does, in one line, for the list of commands.
        """
        check_command_name(name)
        check_target(f"command {name!r}", target)
        self._extend("command", name, summary, target)

    def add_dataset(self, dataset: Dataset) -> None:
        """Register a dataset under its name."""
        if dataset.generator is not None:
            check_target(f"generator of the dataset {dataset.name!r}", dataset.generator)
        self._extend("dataset", dataset.name, dataset.title, dataset)

    def add_metric(self, name: str, target: Target, summary: str) -> None:
        """Register a metric of experiments.

        Args:
            name: the column of results.
            target: a function of a `ReleaseAndTruth` that returns a number, or None where the metric does not apply;
                or its import path "package.module:name".
            summary: the words that a table or a figure labels it with.
        """
        check_metric_name(name)
        check_target(f"metric {name!r}", target)
        self._extend("metric", name, summary, target)

    def _extend(self, kind: str, name: str, summary: str, value: Any) -> None:
        key = kind, name.casefold()
        self._refuse_taken(f"the {kind} {name!r}", self.extensions.get(key) or self._registry.extensions.get(key))
        self.extensions[key] = Extension(kind, name, summary, value, self._distribution, self._version)

    def _refuse_taken(self, what: str, known: Registered | Preset | Extension | None) -> None:
        if known is not None:
            raise DuplicateNameError(
                f"{self._distribution} registers {what}, which {known.distribution} has registered already; "
                "one of the two must choose another name."
            )


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
    from cattrs.errors import AttributeValidationNote

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

    import cattrs  # Here, since it takes as long to load as all of privmine's registry, and few commands need it.

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
