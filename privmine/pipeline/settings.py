"""Pipelines as files and as command-line settings."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from privmine.errors import DataError, InputError, UnknownNameError
from privmine.model import STAGES


def read_spec(path: str | Path) -> dict[str, Any]:
    """Read a pipeline file and check its shape."""
    try:
        spec = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"Cannot read the pipeline file {path}: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not a valid TOML file: {error}.") from None
    check_keys(spec)
    check_spec(spec, str(path))
    return spec


def check_keys(spec: Mapping[str, Any], known: Sequence[str] = ("method", "stages")) -> None:
    """Refuse a key or a stage that does not exist: nobody would notice that it does nothing."""
    for key in spec:
        if key not in known:
            hint = f"Write [stages.{key}]." if key in STAGES else ""
            raise UnknownNameError("key of a pipeline file", key, known, hint=hint)
    stages = spec.get("stages", {})
    for stage in stages if isinstance(stages, Mapping) else ():
        if stage not in STAGES:
            raise UnknownNameError("stage", stage, STAGES)


def check_spec(spec: Mapping[str, Any], where: str, above: str = "") -> None:
    """Refuse a pipeline whose method is no name, or whose stages are no tables.

    Args:
        spec: what a TOML file holds of a pipeline.
        where: the place that an error names.
        above: what its tables are called before `stages`.
    """
    stages = spec.get("stages", {})
    if not isinstance(stages, Mapping) or not isinstance(spec.get("method", ""), str):
        raise InputError(f"{where}: method must be a name, and each stage a table [{above}stages.STAGE].")
    for stage, table in stages.items():
        if stage not in STAGES:
            raise UnknownNameError("stage", stage, STAGES)
        if not isinstance(table, Mapping | str):
            raise InputError(f"{where}: [{above}stages.{stage}] must be a table with use = NAME and parameters.")


def override(spec: Mapping[str, Any], settings: Iterable[str]) -> dict[str, Any]:
    """Apply settings such as `construct_basis=single` and `construct_basis.max_length=10` to a spec."""
    stages = {
        stage: {"use": table} if isinstance(table, str) else dict(table)
        for stage, table in spec.get("stages", {}).items()
    }
    for setting in settings:
        target, separator, value = setting.partition("=")
        stage, _, name = target.partition(".")
        if not separator or not value:
            raise InputError(f"{setting!r} is not of the form STAGE=COMPONENT or STAGE.PARAMETER=VALUE.")
        if stage not in STAGES:
            raise UnknownNameError("stage", stage, STAGES)
        if name:
            stages.setdefault(stage, {})[name] = _value(value)
        else:
            stages[stage] = {"use": value}  # Another component: what was set for the former one is gone.
    return {**spec, "stages": stages}


def _value(text: str) -> Any:
    """A value as TOML would read it, else the text itself; decimals stay text, so that they stay exact."""
    try:
        return tomllib.loads(f"value = {text}", parse_float=str)["value"]
    except tomllib.TOMLDecodeError:
        return text
