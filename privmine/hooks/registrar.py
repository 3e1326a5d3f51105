"""What a plugin registers with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attrs import define, field

from privmine.errors import DuplicateNameError, UnknownNameError
from privmine.hooks.components import Registered, check_component_class
from privmine.hooks.extensions import (
    Dataset,
    Extension,
    Reader,
    Target,
    check_command_name,
    check_metric_name,
    check_reader,
    check_target,
    imported,
)
from privmine.hooks.presets import Preset, normal_stages
from privmine.hooks.specs import hookspec
from privmine.stage_names import STAGES

if TYPE_CHECKING:
    from privmine.hooks.registry import Registry


class Discovery:
    """The hook by which a plugin announces what it brings."""

    @hookspec
    def privmine_register(self, registry: Registrar) -> None:
        """Register what the plugin brings; called when the plugin is loaded.

        Args:
            registry: takes `add(stage, name, target)`, `add_preset(name, {...}, summary, base)`,
                `add_command(name, target, summary)`, `add_dataset(dataset)`, `add_metric(name, target, summary)`
                and `add_reader(reader)`.
        """


@define
class Registrar:
    """What a plugin registers with; it becomes part of the registry when all of it is sound."""

    _registry: Registry
    _distribution: str
    _version: str
    components: dict[tuple[str, str], Registered] = field(factory=dict, init=False)
    presets: dict[str, Preset] = field(factory=dict, init=False)
    extensions: dict[tuple[str, str], Extension] = field(factory=dict, init=False)

    def add(self, stage: str, name: str, target: type | str) -> None:
        """Register a component for a stage under a name.

        Args:
            stage: the stage that it implements.
            name: what users call it.
            target: its class, or better its import path "package.module:name", so that the commands are listed
                without importing it.
        """
        if stage not in STAGES:
            raise UnknownNameError("stage", stage, STAGES)
        check_target(f"component {stage}={name}", target)
        if not self._registry.imports_components:
            return
        cls = imported(target)
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

    def add_reader(self, reader: Reader) -> None:
        """Register a reader under its name: what `pm.read` and the commands that read data accept."""
        check_reader(reader)
        self._extend("reader", reader.name, reader.title, reader)

    def _extend(self, kind: str, name: str, summary: str, value: Any) -> None:
        key = kind, name.casefold()
        self._refuse_taken(f"the {kind} {name!r}", self.extensions.get(key) or self._registry.extensions.get(key))
        self.extensions[key] = Extension(kind, name, summary, value, self._distribution, self._version)

    def _refuse_taken(self, what: str, known: Registered | Preset | Extension | None) -> None:
        if known is not None:
            raise DuplicateNameError(
                f"{self._distribution} registers {what}, but {known.distribution} has registered that "
                "name already. One of the two must choose another name."
            )
