"""Which items occur is private: found under noise, and nothing tells of an item that was not found."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import privmine as pm
from privmine.cli.commands import cli
from privmine.cli.spelling import in_shell
from privmine.curator import Measurement
from privmine.discovery import ItemWeights, find_items
from privmine.errors import InputError
from privmine.evaluation.evaluate import evaluate
from privmine.hooks.registry import registry
from privmine.ledger import Ledger
from privmine.noise.secure import SecureNoise
from privmine.noise.simulated import SimulatedNoise
from privmine.pipeline import Pipeline
from privmine.pipeline.request import Wish
from privmine.privacy.definition import ZCDP
from privmine.privacy.unit import Unit
from privmine.store.memory import MemoryStore

DELTA = "1e-6"
COMMON = [["bread", "milk"]] * 3000 + [["milk"]] * 2000 + [["bread", "milk", "tea"]] * 1000
#: A basket with an item that nobody else has, a text where others have numbers in their place.
RARE = ["a rare book", "milk"]


def private(baskets: list[list[str]] = COMMON, **options: object) -> pm.Transactions:
    """The baskets, whose items are private."""
    return pm.read([*baskets, RARE], items="private", **options)


@pytest.mark.parametrize("method", sorted(registry().presets))
def test_frequent_items_are_found_and_others_are_not(method: str) -> None:
    """With every method; the charges sum to the cost, and the guarantee is what was asked for."""
    release = pm.mine(private(), k=7, epsilon=4, delta=DELTA, method=method)
    named = {item for row in release for item in row.items}
    assert named == {"bread", "milk", "tea"}
    receipt = release.receipt
    assert receipt.spent == receipt.cost
    assert (receipt.charges[0].stage, receipt.charges[0].cost) == ("find_items", receipt.cost / 10)
    assert receipt.guarantee.delta == Fraction(DELTA)
    assert receipt.guarantee.epsilon <= 4
    assert any("3 of them were found under noise" in note for note in receipt.notes)
    assert "book" not in str(receipt)


def test_strict_mode_needs_no_catalogue() -> None:
    """Nothing is taken from the data."""
    release = pm.mine(private(), k=3, epsilon=4, delta=DELTA, strict=True)
    assert release.receipt.assumptions == ()


def test_a_saved_release_loads_with_its_guarantee(tmp_path: Path) -> None:
    """The part of δ that paid for the items is in the file."""
    release = pm.mine(private(), k=3, epsilon=1, delta=DELTA, output=tmp_path / "r.json")
    loaded = pm.load(tmp_path / "r.json")
    assert loaded.receipt == release.receipt
    assert str(loaded.receipt.guarantee) == "ε = 1, δ = 1e-06"


def test_labels_are_numbers_if_those_that_were_found_are() -> None:
    """One text among the labels must not turn the numbers of all others into texts."""
    numbers = [[1, 20], [20], [3]] * 2000
    plain = pm.mine(pm.read(numbers, items="private"), k=7, epsilon=4, delta=DELTA)
    beside = pm.mine(pm.read([*numbers, RARE], items="private"), k=7, epsilon=4, delta=DELTA)
    for release in (plain, beside):
        assert {item for row in release for item in row.items} == {1, 3, 20}
        # As texts 20 comes before 3, so that a count could end up with the other's name.
        counts = {row.items: row.count for row in release}
        for items, exact in {(20,): 4000, (1,): 2000, (3,): 2000, (1, 20): 2000}.items():
            assert counts[items] == pytest.approx(exact, abs=500)


def test_nothing_is_told_of_an_item_that_is_not_found() -> None:
    """Not by the data's words, a dry run, a refusal, or the number of items that a stage sees."""
    without, beside = pm.read(COMMON, items="private"), private()
    assert repr(without) == repr(beside) == "<Transactions over private items, list layout of a collection>"
    plans = [Pipeline().dry_run(data, 5, 1, delta=DELTA).to_dict() for data in (without, beside)]
    assert plans[0] == plans[1]
    assert plans[0]["items"] is None
    for data in (without, beside):
        release = pm.mine(data, k=3, epsilon=4, delta=DELTA)
        assert any("private: 3 of them" in note for note in release.receipt.notes)


def test_a_label_that_nothing_can_write_is_no_refusal() -> None:
    """It would tell that somebody has it. It is dropped, and its basket counts."""
    release = pm.mine(pm.read([*COMMON, ["\ud800"]], items="private"), k=3, epsilon=4, delta=DELTA)
    assert len(release) == 3
    with pytest.raises(InputError, match="lone surrogate"):
        pm.read([*COMMON, ["\ud800"]])


def test_data_without_items_is_released_as_nothing() -> None:
    """That there are none is private too."""
    for baskets in ([], [[]] * 100, [["once"]]):
        release = pm.mine(pm.read(baskets, items="private"), k=3, epsilon=1, delta=DELTA)
        assert len(release) == 0


def test_an_item_is_found_through_every_unit_that_has_it() -> None:
    """With up to five baskets for each customer the noise and the threshold are larger."""
    baskets = [["milk"]] * 4000 + [["tea"]] * 120
    customers = [f"c{number // 5}" for number in range(len(baskets))]
    one = pm.read(baskets, items="private")
    five = pm.read(baskets, items="private", unit=customers, max_baskets=5)
    assert names(pm.mine(one, k=3, epsilon=2, delta=DELTA)) == {"milk", "tea"}
    assert names(pm.mine(five, k=3, epsilon=2, delta=DELTA)) == {"milk"}
    merged = pm.read(baskets, items="private", merge_by=customers)
    assert names(pm.mine(merged, k=3, epsilon=2, delta=DELTA)) >= {"milk"}


def names(release: pm.Release) -> set[str]:
    """All items of a release."""
    return {item for row in release for item in row.items}


def test_a_frequency_and_private_items_go_together() -> None:
    """Items first, then the number of itemsets, then the stages: all within the budget."""
    release = pm.mine(private(), theta=0.3, k_max=5, epsilon=4, delta=DELTA)
    assert [charge.stage for charge in release.receipt.charges[:2]] == ["find_items", "estimate_k"]
    assert release.receipt.spent == release.receipt.cost
    assert {frozenset(row.items) for row in release} <= {
        frozenset({"milk"}),
        frozenset({"bread"}),
        frozenset({"bread", "milk"}),
    }


def test_later_stages_get_the_noisy_weights() -> None:
    """As an answer like any other, item by item of what was found, in the order of the universe."""
    data = pm.read([["b", "a"]] * 4000 + [["a"]] * 4000, items="private")
    run = Pipeline().prepare(Wish(5, 4, delta=DELTA).request(data))
    access = run._find_items(data, run.access(data.store, SimulatedNoise(1), lambda _: False))
    (answer,) = access.answers
    assert run.request.public.universe.labels.tolist() == ["a", "b"]
    assert access.store.item_count == 2
    assert isinstance(answer, Measurement)
    assert answer.query.size == 2
    assert answer.values[0] > answer.values[1] > 0


def test_the_charge_comes_before_the_draw() -> None:
    """A source that fails leaves the charge."""

    class Broken(SecureNoise):
        def add(self, values, noise):
            raise ValueError("secret 42")

    with pytest.raises(pm.errors.PrivmineError) as caught:
        pm.mine(private(), k=3, epsilon=1, delta=DELTA, noise=Broken())
    assert "secret" not in str(caught.value)

    data = private()
    run = Pipeline().prepare(Wish(3, 1, delta=DELTA).request(data))
    access = run.access(data.store, Broken(), lambda _: False)
    with pytest.raises(pm.errors.PrivmineError):
        find_items(access, run.request.budget / 10)
    assert [charge.cost for charge in access.meter.charges] == [run.request.budget / 10]


def test_a_store_that_fails_after_the_draw_tells_no_data() -> None:
    """What a third party's store raises while it leaves out items may hold anything."""

    class Telling(MemoryStore):
        def restricted(self, items):
            raise ValueError(f"secret 42 {self.count()}")

    data = private()
    telling = Telling(data.store.rows, data.store.item_count)
    with pytest.raises(pm.errors.PrivmineError) as caught:
        pm.mine(pm.Transactions(data.universe, telling, hidden=data.hidden), k=3, epsilon=4, delta=DELTA)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


# What is refused


def test_without_delta_it_is_refused_before_data_is_read(tmp_path: Path) -> None:
    """In Python and in the shell, with words for each, and nothing is charged."""
    with pytest.raises(InputError, match="items='private' needs a δ"):
        pm.mine(private(), k=3, epsilon=1)
    with pytest.raises(InputError, match="needs a δ"):
        pm.ItemsetMiner(k=3, epsilon=1, items="private").fit(COMMON)
    told = CliRunner().invoke(cli, ["mine", str(tmp_path / "none.csv"), "--items", "private", "--epsilon", "1"])
    assert told.exit_code != 0
    words = in_shell(str(told.exception))
    assert "--items private needs a δ" in words
    assert "--delta 1e-6" in words


@pytest.mark.parametrize("matrix", [np.eye(3, dtype=np.int64)])
def test_columns_that_are_items_are_known(matrix, tmp_path: Path) -> None:
    """A one-hot table names its items."""
    with pytest.raises(InputError, match="the columns are the items"):
        pm.read(matrix, items="private")
    (tmp_path / "flags.csv").write_text("milk,bread\n1,0\n0,1\n")
    with pytest.raises(InputError, match="the columns are the items"):
        pm.read(tmp_path / "flags.csv", layout="one-hot", items="private")
    (tmp_path / "flags.jsonl").write_text('{"milk": true}\n{"bread": true}\n')
    with pytest.raises(InputError, match="the columns are the items"):
        pm.read(tmp_path / "flags.jsonl", layout="one-hot", items="private")


def test_a_pure_budget_refuses_it(tmp_path: Path) -> None:
    """A ledger counts ε and δ; of a budget without δ nothing is taken."""
    ledger = Ledger(tmp_path / "b.db")
    ledger.init("orders", 3)
    with pytest.raises(pm.errors.PrivmineError):
        pm.mine(private(), k=3, epsilon=1, delta=DELTA, ledger=ledger, dataset="orders")
    assert ledger.budget("orders").spent_epsilon == 0


# Files and the shell


def test_a_store_on_disk_keeps_that_items_are_private(tmp_path: Path) -> None:
    """It is in the file's header, and the labels are not told."""
    pm.write(private(), tmp_path / "orders.privmine")
    opened = pm.read(tmp_path / "orders.privmine")
    assert opened.universe.private
    assert names(pm.mine(opened, k=7, epsilon=4, delta=DELTA)) == {"bread", "milk", "tea"}
    with pytest.raises(InputError, match="needs a δ"):
        pm.mine(opened, k=3, epsilon=1)


def test_a_copy_of_the_data_has_all_items(tmp_path: Path) -> None:
    """A copy is exact data, and says so."""
    pm.write(private(), tmp_path / "copy.csv")
    assert "a rare book" in (tmp_path / "copy.csv").read_text()


def test_the_shell_tells_that_items_are_private(tmp_path: Path) -> None:
    """In a dry run and in a release."""
    pm.write(private(), tmp_path / "orders.csv")
    arguments = ["mine", str(tmp_path / "orders.csv"), "--items", "private", "-k", "3", "-e", "4", "--delta", DELTA]
    dry = CliRunner().invoke(cli, [*arguments, "--dry-run"])
    assert dry.exit_code == 0
    assert "private; a run finds those that are frequent enough" in dry.output
    assert "find_items" in dry.output
    told = CliRunner().invoke(cli, [*arguments, "--json"])
    assert told.exit_code == 0
    assert "book" not in told.output
    assert "find_items" in json.loads(told.stdout)["receipt"]["charges"][0]["stage"]


def test_exact_data_can_be_evaluated() -> None:
    """Evaluation uses exact data and finds the labels in it."""
    data = private()
    release = pm.mine(data, k=3, epsilon=4, delta=DELTA, simulate=True, seed=0)
    assert evaluate(release, data)["fnr"] == 0


# The mechanism


def test_a_transaction_moves_the_weights_by_what_is_stated() -> None:
    """The L2 norm of its weights, for every number of items; longer ones add nothing."""
    query = ItemWeights()
    weights = query.weights.tolist()
    assert all(size * weight**2 <= 4096**2 for size, weight in enumerate(weights))
    assert query.sensitivity.l2_squared <= 4096**2
    assert weights[1] == 4096
    store = pm.read([list(range(1001))], items="private").store
    assert not query.evaluate(store).any()


def test_items_of_one_customer_stay_unnamed() -> None:
    """100,000 customers with an item of their own each, in one run with exact noise: each is a trial.

    At δ = 10⁻⁶, half of it for items, less than 0.05 names are expected, and a threshold that forgot δ would give
    hundreds. More than two have a probability below 3·10⁻⁵ even if all of that were used, which baskets of one item
    do not.
    """
    wish = Wish(5, 1, delta=DELTA)
    data = pm.read([[f"item {number}"] for number in range(100_000)], items="private")
    request = wish.request(data)
    access = Pipeline().prepare(request).access(data.store, SecureNoise(), lambda _: False)
    found = find_items(access, request.budget / 10)
    assert len(found.positions) <= 2


@pytest.mark.statistics
@pytest.mark.parametrize(("customers", "size"), [(100_000, 1), (100_000, 10), (1000, 1000)])
def test_items_of_one_customer_are_named_as_rarely_as_is_proved(customers: int, size: int) -> None:
    """The same with a δ that is 20,000 times as large, so that a fault would show.

    δ₁ = 1 % of the customers may have an item of their own named. Those with a thousand items come near to it, so that
    a threshold which is too low by a standard deviation of the noise would exceed it many times over.
    """
    rows = np.arange(customers * size).reshape(customers, size).tolist()
    data = pm.read(rows, items="private")
    request = Wish(5, 1, delta="0.02").request(data)
    access = Pipeline().prepare(request).access(data.store, SecureNoise(), lambda _: False)
    found = find_items(access, request.budget / 10)
    owners = {int(data.counted.labels[place]) // size for place in found.positions.tolist()}
    print(f"{len(owners)} of {customers} customers have one of their {size} items named")
    allowed = customers / 100
    assert len(owners) <= allowed + 4 * allowed**0.5


def test_the_unit_is_in_the_noise() -> None:
    """Five baskets for each customer: five times the scale."""
    scales = []
    for unit in (Unit(), Unit("customer", 5)):
        data = pm.Transactions.from_lists([["milk"]] * 10, items="private")
        request = Wish(5, 1, delta=DELTA).request(pm.Transactions(data.universe, data.store, unit, hidden=data.hidden))
        access = Pipeline().prepare(request).access(data.store, SecureNoise(), lambda _: False)
        scales.append(find_items(access, request.budget / 10).noise.scale)
    assert float(scales[1] / scales[0]) == pytest.approx(5)


def test_the_unit_is_in_the_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    """A customer's five baskets weigh five times as much, so that it is higher than for the noise alone."""
    asked = []

    def listening(self, weights, noise, baskets):
        asked.append((weights, noise, baskets))
        return 1

    monkeypatch.setattr(ZCDP, "least_weight", listening)
    data = pm.Transactions.from_lists([["milk"]] * 10, items="private")
    owned = pm.Transactions(data.universe, data.store, Unit("customer", 5), hidden=data.hidden)
    request = Wish(5, 1, delta=DELTA).request(owned)
    access = Pipeline().prepare(request).access(data.store, SecureNoise(), lambda _: False)
    found = find_items(access, request.budget / 10)
    assert asked == [(ItemWeights().weights.tolist(), found.noise, 5)]


@pytest.mark.parametrize("items", ["private", ["a", "b"]], ids=str)
def test_a_delta_below_floating_point_is_refused(items: object) -> None:
    """The threshold would be that of a larger δ, and a disclosure would state δ = 0: 1e-330 is 0 in floating point."""
    baskets = pm.read([["a", "b"]] * 50, items=items)
    with pytest.raises(InputError, match="δ is too small"):
        pm.mine(baskets, 3, 1, delta="1e-330")
    pm.mine(baskets, 3, 1, delta="1e-300")


# One step, with weights and noise that are said


class SaidWeights(MemoryStore):
    """A store whose items have weights that a test says."""

    def weighted_supports(self, size, within, weights):
        return np.array(self.said)


def find(weights: list[int], add, source: type = SecureNoise):
    """Find items of these weights, with a source that adds noise in this way."""
    Scripted = type("Scripted", (source,), {"add": lambda self, values, noise: add(values)})
    data = pm.read([["a", "b", "c"]], items="private")
    store = SaidWeights(data.store.rows, len(weights))
    object.__setattr__(store, "said", weights)
    run = Pipeline().prepare(Wish(3, 1, delta=DELTA).request(data))
    access = run.access(store, Scripted(), lambda _: False)
    cost = access.meter.budget / 10
    return find_items(access, cost), access


def test_an_item_of_weight_0_is_never_named() -> None:
    """Nobody has it, so that its name is not in the data: only what has a weight gets noise, and 1 is a weight."""
    seen = []

    def much(values):
        seen.append(values.tolist())
        return values + 10**9

    found, access = find([0, 1, 7], much)
    assert seen == [[1, 7]]
    assert found.positions.tolist() == [1, 2]
    (charge,) = access.meter.charges
    assert (charge.stage, charge.component, charge.noise) == ("find_items", "weighted-gaussian", found.noise)
    answer = found.answer(np.array([2, 1]))
    assert (answer.values.tolist(), answer.noise, answer.stage) == ([10**9 + 7, 10**9 + 1], found.noise, "find_items")


def test_a_transaction_of_a_thousand_items_has_weights() -> None:
    """The last one that counts; each of its items gets ⌊4096/√1000⌋."""
    weights = ItemWeights().weights.tolist()
    assert (len(weights), weights[0], weights[1], weights[2], weights[1000]) == (1001, 0, 4096, 2896, 129)
    assert ItemWeights(2) == ItemWeights(2) != ItemWeights(3)


def test_an_item_is_named_from_the_threshold_on() -> None:
    """One below is not named."""
    _, access = find([5], lambda values: values)
    definition, (charge,) = access.definition, access.meter.charges
    threshold = definition.least_weight(ItemWeights().weights.tolist(), charge.noise, 1)
    found, _ = find([5, 5, 5], lambda values: np.array([threshold - 1, threshold, threshold + 1]))
    assert found.positions.tolist() == [1, 2]


@pytest.mark.parametrize("wrong", [lambda values: values + 0.5, lambda values: values[1:]], ids=["floats", "fewer"])
def test_noise_of_another_form_is_refused(wrong) -> None:
    """Floats would betray exact weights; the error names the query and no value."""
    with pytest.raises(pm.errors.PrivmineError, match="'which items occur, by weights' failed"):
        find([5_000_000, 7], wrong)


def test_a_private_source_that_draws_floats_is_refused_before_the_charge() -> None:
    """As the curator does."""

    class Floats(SimulatedNoise):
        private = True

        def __init__(self):
            super().__init__(1)

    with pytest.raises(pm.errors.PrivmineError, match=r"in floating point.*Nothing was charged"):
        find([5], lambda values: values, Floats)
