"""What an experiment is: datasets × pipelines × k × ε × repeats, from a TOML file or from Python."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from privmine.errors import DataError, InputError, PrivmineError, UnknownNameError
from privmine.evaluation.data_sources import is_file
from privmine.evaluation.recipes import Recipe
from privmine.evaluation.seeds import Cell, epsilon_text
from privmine.exact import exact, whole_number
from privmine.io.readers.options import ReadOptions
from privmine.option_names import READING_OPTIONS
from privmine.pipeline.request import LARGEST_EPSILON, LARGEST_K, SMALLEST_EPSILON
from privmine.pipeline.settings import check_spec, read_spec
from privmine.store.transactions import is_private

DEFAULT_REPEATS = 30
#: What may be said of a file: the options of `privmine.read`, but for those that name another source.
READ_OPTIONS = READING_OPTIONS - {"sql", "database"}
KEYS = ("data", "k", "epsilon", "repeats", "trust", "pipelines", "read")
PIPELINE_KEYS = ("method", "file", "stages", "delta", "theta")


@frozen
class Experiment:
    """A full factorial design.

    Attributes:
        k: for each dataset the numbers of itemsets to ask for.
        epsilon: the budgets, as exact text.
        pipelines: the pipelines by name.
        repeats: how many runs of each combination.
        reading: for each file the options of `privmine.read` that say how it is read.
    """

    k: Mapping[str, tuple[int, ...]]
    epsilon: tuple[str, ...]
    pipelines: Mapping[str, Recipe]
    repeats: int = field(default=DEFAULT_REPEATS)
    reading: Mapping[str, Mapping[str, Any]] = field(factory=dict)

    @property
    def data(self) -> tuple[str, ...]:
        """The datasets."""
        return tuple(self.k)

    @classmethod
    def of(
        cls,
        data: Any,
        pipelines: Mapping[str, Any],
        k: Any,
        epsilon: Any,
        repeats: Any = DEFAULT_REPEATS,
        reading: Mapping[str, Any] | None = None,
    ) -> Experiment:
        """Check and convert what a user gave.

        Args:
            data: the name of a dataset, or several.
            pipelines: by name a `Pipeline`, the name of a method, or what a pipeline file holds.
            k: how many itemsets, or several such numbers; or a mapping of these by dataset.
            epsilon: a budget, or several.
            repeats: how many runs of each combination.
            reading: by the name of a file how it is read, as options of `privmine.read`, such as its columns.
        """
        names = _distinct("data", [_name(name, "A dataset") for name in _several(data)])
        budgets = _distinct("epsilon", [_budget(value) for value in _several(epsilon)])
        if not isinstance(pipelines, Mapping) or not pipelines:
            raise InputError("An experiment needs at least one pipeline: a table [pipelines.NAME].")
        recipes = {_name(name, "A pipeline"): _recipe(name, pipeline) for name, pipeline in pipelines.items()}
        return cls(
            _k_by_data(k, names), budgets, recipes, whole_number(repeats, "repeats"), _reading(reading or {}, names)
        )

    @classmethod
    def read(cls, path: str | Path) -> Experiment:
        """Read an experiment file; pipeline files that it names are found beside it."""
        path = Path(path)
        try:
            # Decimals stay text, so that ε is exactly what was written.
            content = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=str)
        except OSError as error:
            raise DataError(f"Cannot read the experiment file {path}: {error.strerror}.") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise DataError(f"{path} is not a valid TOML file: {error}.") from None
        try:
            return _from_content(content, path.parent)
        except PrivmineError as error:
            raise InputError(f"{path}: {error}") from error

    def with_repeats(self, repeats: int) -> Experiment:
        """The same with another number of repeats."""
        return evolve(self, repeats=whole_number(repeats, "repeats"))

    def cells(self) -> list[Cell]:
        """All runs; a whole repeat of a dataset before the next, so that what is done early says something of all."""
        return [
            Cell(data, pipeline, k, epsilon, repeat)
            for data in self.data
            for repeat in range(self.repeats)
            for k in self.k[data]
            for epsilon in self.epsilon
            for pipeline in self.pipelines
        ]

    def cell(self, data: str, pipeline: str, k: int, epsilon: str, repeat: int) -> Cell:
        """One run by its names; any k, ε and repeat will do, the dataset and the pipeline must be known."""
        if data not in self.k:
            raise UnknownNameError("dataset in this experiment", data, self.k)
        if pipeline not in self.pipelines:
            raise UnknownNameError("pipeline in this experiment", pipeline, self.pipelines)
        if repeat < 0:
            raise InputError(f"A repeat is a whole number from 0, not {repeat}.")
        return Cell(data, pipeline, _k(k), _budget(epsilon), repeat)


def _from_content(content: Mapping[str, Any], folder: Path) -> Experiment:
    for key in content:
        if key not in KEYS:
            raise UnknownNameError("key of an experiment file", key, KEYS)
    for key in ("data", "k", "epsilon", "pipelines"):
        if key not in content:
            raise InputError(f"The key {key!r} is missing. An experiment needs data, k, epsilon and [pipelines.NAME].")
    tables = content["pipelines"]
    if not isinstance(tables, dict):
        raise InputError("pipelines must be tables: [pipelines.NAME].")
    trust = [_name(name, "A distribution in trust") for name in _several(content.get("trust", []), empty=True)]
    pipelines = {name: evolve(_from_table(name, table, folder), trust=trust) for name, table in tables.items()}
    return Experiment.of(
        content["data"],
        pipelines,
        content["k"],
        content["epsilon"],
        content.get("repeats", DEFAULT_REPEATS),
        _beside(content.get("read", {}), folder),
    )


def _beside(reading: Any, folder: Path) -> Any:
    """The tables of [read.FILE], where files of labels are found beside the experiment file, as the data is."""
    if not isinstance(reading, dict) or not all(isinstance(options, dict) for options in reading.values()):
        raise InputError('read must be tables, one for each file: [read."orders.csv"].')

    def found(name: str, value: Any) -> Any:
        names_a_file = name in ("items", "names") and isinstance(value, str) and not is_private(value)
        return str(folder / value) if names_a_file else value

    return {file: {name: found(name, value) for name, value in options.items()} for file, options in reading.items()}


def _reading(reading: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """How files are read; what is wrong with it shows before anything runs."""
    for file, options in reading.items():
        if file not in names:
            raise UnknownNameError("file in data", file, names)
        if not is_file(file):
            raise InputError(
                f"{file} is a dataset that is known by name, and it is known how to read it. Drop its table."
            )
        for name in options:
            if name not in READ_OPTIONS:
                raise UnknownNameError(f"option for {file}", name, READ_OPTIONS)
        ReadOptions.of(**options)
    return {file: dict(options) for file, options in reading.items()}


def _from_table(name: str, table: Any, folder: Path) -> Recipe:
    where = f"[pipelines.{name}]"
    if not isinstance(table, dict):
        raise InputError(f"{where} must be a table with method, file or stages.")
    for key in table:
        if key not in PIPELINE_KEYS:
            raise UnknownNameError(f"key of {where}", key, PIPELINE_KEYS)
    if "file" in table:
        if not set(table) <= {"file", "delta", "theta"}:
            raise InputError(
                f"{where} names a file, which contains the whole pipeline. Drop the other keys, or the file."
            )
        spec = read_spec(folder / _name(table["file"], f"The file of {where}"))
        return Recipe.of({**spec, "delta": table.get("delta"), "theta": table.get("theta")})
    check_spec(table, where, f"pipelines.{name}.")
    return Recipe.of(table)


def _recipe(name: str, pipeline: Any) -> Recipe:
    """A pipeline that can be made; what is wrong with it shows before anything runs."""
    recipe = Recipe.of(pipeline)
    try:
        recipe.make()
    except PrivmineError as error:
        raise InputError(f"The pipeline {name!r} cannot be made: {error}") from error
    return recipe


def _k_by_data(k: Any, names: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    if not isinstance(k, Mapping):
        values = _distinct("k", [_k(value) for value in _several(k)])
        return dict.fromkeys(names, values)
    for name in k:
        if name not in names:
            raise UnknownNameError("dataset in data", name, names)
    missing = [name for name in names if name not in k]
    if missing:
        raise InputError(f"k is a table by dataset, but has no entry for {missing[0]!r}.")
    return {name: _distinct("k", [_k(value) for value in _several(k[name])]) for name in names}


def _k(value: Any) -> int:
    if whole_number(value, "k") > LARGEST_K:
        raise InputError(f"k must be at most {LARGEST_K:,}, not {value:,}.")
    return int(value)


def _several(value: Any, *, empty: bool = False) -> list[Any]:
    """One value or several, as a list."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        value = [value]
    values = list(value)
    if not values and not empty:
        raise InputError("data, k and epsilon need at least one value each.")
    return values


def _distinct(what: str, values: list[Any]) -> tuple[Any, ...]:
    for value in values:
        if values.count(value) > 1:
            raise InputError(
                f"{what} lists {value!r} more than once. Drop one: each combination runs `repeats` times anyway."
            )
    return tuple(values)


def _name(value: Any, what: str) -> str:
    # Names become fields of a results file, one row a line.
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise InputError(f"{what} must be named by one line of text, not by {value!r}.")
    return value


def _budget(value: Any) -> str:
    budget = exact(value, "epsilon")
    if not SMALLEST_EPSILON <= budget <= LARGEST_EPSILON:
        raise InputError(f"epsilon must lie between {float(SMALLEST_EPSILON):g} and {LARGEST_EPSILON}, not {value}.")
    return epsilon_text(budget)
