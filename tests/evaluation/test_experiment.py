from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from experiment_files import experiment_file

import privmine as pm
from privmine.errors import PrivmineError
from privmine.evaluation.data_sources import data_opener
from privmine.evaluation.experiment import DEFAULT_REPEATS, Experiment
from privmine.evaluation.seeds import Cell, epsilon_text, seed_of
from privmine.model import Origin

SPEC = experiment_file('["one", "two"]', [5, 10], [0.1, 1], 4)


def written(folder: Path, text: str) -> Path:
    """An experiment file."""
    path = folder / "spec.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_describes_all_combinations(tmp_path: Path) -> None:
    """Two datasets × two pipelines × two k × two ε × three repeats."""
    experiment = Experiment.read(written(tmp_path, SPEC))
    cells = experiment.cells()
    assert len(cells) == len(set(cells)) == 48
    assert experiment.data == ("one", "two")
    assert cells[0] == Cell("one", "paper", 5, "0.1", 0)


def test_single_values_need_no_list(tmp_path: Path) -> None:
    """A name and a number stand for lists of one, and repeats have a default."""
    text = 'data = "one"\nk = 5\nepsilon = 0.1\n[pipelines.paper]\n'
    experiment = Experiment.read(written(tmp_path, text))
    assert len(experiment.cells()) == DEFAULT_REPEATS


def test_k_may_depend_on_the_data(tmp_path: Path) -> None:
    """A table gives each dataset its own k."""
    text = 'data = ["one", "two"]\nepsilon = 1\n[k]\none = 5\ntwo = [6, 7]\n[pipelines.paper]\n'
    assert Experiment.read(written(tmp_path, text)).k == {"one": (5,), "two": (6, 7)}


def test_a_pipeline_file_is_found_beside_the_experiment(tmp_path: Path) -> None:
    """`file` is relative to the experiment file, and gives the same definition as the same table."""
    (tmp_path / "short.toml").write_text("[stages.construct_basis]\nmax_length = 4\n", encoding="utf-8")
    text = SPEC + '[pipelines.filed]\nfile = "short.toml"\n'
    pipelines = Experiment.read(written(tmp_path, text)).pipelines
    assert pipelines["filed"].definition() == pipelines["short"].definition() != pipelines["paper"].definition()


def test_python_objects_describe_the_same_experiment() -> None:
    """A Pipeline, a method's name and a table of the same components have one definition."""
    given = {"object": pm.Pipeline(), "name": "privbasis", "table": {"method": "privbasis"}}
    experiment = Experiment.of("d", given, k=5, epsilon=[Fraction(1, 3), "0.50"])
    assert len({recipe.definition() for recipe in experiment.pipelines.values()}) == 1
    assert experiment.epsilon == ("1/3", "0.5")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("repeats = 3", "repeat = 3", "no key of an experiment file named 'repeat'.*Did you mean 'repeats'"),
        ("repeats = 3", "repeats = 0", "repeats must be at least 1, not 0"),
        ("repeats = 3", "repeats = true", "repeats must be a whole number"),
        ("k = [5, 10]", "", "'k' is missing"),
        ("k = [5, 10]", "k = []", "at least one value"),
        ("k = [5, 10]", "k = [5, 5]", "k lists 5 more than once"),
        ("k = [5, 10]", "k = [5.5]", "k must be a whole number"),
        ("k = [5, 10]", "k = [10_001]", "k must be at most 10,000, not 10,001"),
        ("k = [5, 10]", "k = {one = 5}", "no entry for 'two'"),
        ("k = [5, 10]", "k = {one = 5, two = 5, three = 5}", "'three'"),
        ("[0.1, 1]", '["0.1", 0.10]', "more than once"),
        ("[0.1, 1]", "[0]", "epsilon must lie between"),
        ("[0.1, 1]", '["much"]', "epsilon must be a number"),
        ('["one", "two"]', '["one", 2]', "A dataset must be named by one line of text"),
        ('"privbasis"', '"privbases"', "'paper' cannot be made.*privbasis"),
        ('method = "privbasis"', 'methode = "privbasis"', r"no key of \[pipelines.paper\] named 'methode'"),
        ('method = "privbasis"', 'file = "x.toml"\nmethod = "tf"', "Drop the other keys"),
        ('method = "privbasis"', 'file = "none.toml"', "Cannot read the pipeline file"),
        ("construct_basis", "construct_bases", "Did you mean 'construct_basis'"),
        ("max_length = 4", "longest = 4", "'short' cannot be made"),
        ("k = [5, 10]", "k = [5, 10", "not a valid TOML file"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    """Every error of a spec names the file and says what is wrong, before anything runs."""
    assert old in SPEC
    path = written(tmp_path, SPEC.replace(old, new))
    with pytest.raises(PrivmineError, match=message) as error:
        Experiment.read(path)
    assert str(path) in str(error.value)


def test_an_experiment_without_pipelines_is_refused(tmp_path: Path) -> None:
    """There must be something to run."""
    with pytest.raises(PrivmineError, match="'pipelines' is missing"):
        Experiment.read(written(tmp_path, 'data = "one"\nk = 5\nepsilon = 1\n'))
    with pytest.raises(PrivmineError, match="at least one pipeline"):
        Experiment.of("d", {}, k=5, epsilon=1)


def test_seeds_are_stable() -> None:
    """A seed is a fixed function of data, k, ε and repeat, in any process and version."""
    assert seed_of(Cell("retail", "paper", 100, "0.5", 3)) == 14349000038639141


def test_seeds_differ_by_all_but_the_pipeline() -> None:
    """Pipelines are paired: they share their seed; everything else changes it."""
    base = Cell("d", "p", 10, "1", 0)
    others = [
        Cell("e", "p", 10, "1", 0),
        Cell("d", "p", 11, "1", 0),
        Cell("d", "p", 10, "2", 0),
        Cell("d", "p", 10, "1", 1),
    ]
    assert seed_of(Cell("d", "q", 10, "1", 0)) == seed_of(base)
    assert len({seed_of(cell) for cell in (base, *others)}) == 5


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1, "0.1"), ("0.10", "0.1"), (1, "1"), ("1/3", "1/3"), (Fraction(1, 4), "0.25"), ("1e-5", "1e-05")],
)
def test_epsilon_has_one_text(value: object, text: str) -> None:
    """However it was written, a budget is one key."""
    assert epsilon_text(value) == text


def test_a_single_cell_needs_known_names(tmp_path: Path) -> None:
    """A cell of an unknown dataset or pipeline lists the known ones."""
    experiment = Experiment.read(written(tmp_path, SPEC))
    assert experiment.cell("one", "paper", 7, "0.30", 9) == Cell("one", "paper", 7, "0.3", 9)
    with pytest.raises(PrivmineError, match="'three'"):
        experiment.cell("three", "paper", 7, "1", 0)
    with pytest.raises(PrivmineError, match="'plain'"):
        experiment.cell("one", "plain", 7, "1", 0)


READ = """
data = ["orders.csv"]
k = 2
epsilon = 1
repeats = 1
[pipelines.paper]
[read."orders.csv"]
transaction = "bon"
item = "ware"
layout = "long"
separator = "tab"
items = "items.txt"
fold_case = true
"""


def test_a_file_is_read_as_the_experiment_says(tmp_path: Path) -> None:
    """Columns, layout, separator and catalogue, which is found beside the experiment file; nothing is guessed."""
    (tmp_path / "orders.csv").write_text("bon\tware\n1\tTea\n1\tmilk\n2\ttea\n")
    (tmp_path / "items.txt").write_text("Tea\nMilk\n")
    experiment = Experiment.read(written(tmp_path, READ))
    told: list[Origin] = []
    baskets = data_opener(None, tmp_path, told.append, experiment.reading)("orders.csv")
    assert baskets.universe.labels.tolist() == ["Tea", "Milk"]
    assert baskets.store.supports([(0,), (0, 1)]).tolist() == [2, 1]
    assert told[0].guessed == ()


def test_items_may_be_private(tmp_path: Path) -> None:
    """The word names no file beside the experiment file."""
    (tmp_path / "orders.csv").write_text("bon\tware\n1\tTea\n")
    experiment = Experiment.read(written(tmp_path, READ.replace("items.txt", "private")))
    assert data_opener(None, tmp_path, print, experiment.reading)("orders.csv").universe.private


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('read."orders.csv"', 'read."order.csv"', "orders.csv"),
        ("fold_case", "fold_cases", "fold_case"),
        ('"long"', '"wide"', "There is no layout 'wide'"),
        ('"tab"', '"tabs"', "separator="),
        ('[read."orders.csv"]', "[read]", "one for each file"),
    ],
)
def test_wrong_options_for_a_file_show_before_anything_runs(tmp_path: Path, old: str, new: str, words: str) -> None:
    """An unknown file or option, and a wrong value."""
    (tmp_path / "items.txt").write_text("Tea\nMilk\n")
    with pytest.raises(PrivmineError, match=re.escape(words)):
        Experiment.read(written(tmp_path, READ.replace(old, new)))


def test_named_datasets_need_no_options() -> None:
    """It is known how to read them."""
    with pytest.raises(PrivmineError, match="is a dataset that is known by name"):
        Experiment.of("retail", {"paper": "privbasis"}, 5, 1, reading={"retail": {"layout": "fimi"}})
