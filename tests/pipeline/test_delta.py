"""A run with a δ: the same components under zCDP, through receipts, files, ledgers and experiments."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from attrs import evolve
from click.testing import CliRunner

import privmine as pm
from privmine.api import ZCDP
from privmine.audit.cases import Case, generated_cases
from privmine.audit.customers import CustomerDatabase, generated_customer_cases
from privmine.audit.replay import replay
from privmine.cli.commands import cli
from privmine.errors import BudgetError, DataError, InputError, PrivmineError
from privmine.evaluation.evaluate import compare
from privmine.evaluation.experiment import Experiment
from privmine.hooks.registry import registry
from privmine.ledger import Ledger
from privmine.noise.secure import SecureNoise
from privmine.privacy.noise import Noise
from privmine.privacy.unit import Unit

BASKETS = [["a", "b"], ["a"], ["b", "c"], ["a", "b", "c"], ["d"]] * 60
ITEMS = ["a", "b", "c", "d", "e"]
DELTA = "1e-6"


def data() -> pm.Transactions:
    """A few hundred baskets of five known items."""
    return pm.read(BASKETS, items=ITEMS)


def methods() -> list[str]:
    """Every method that is installed."""
    return sorted(registry().presets)


@pytest.mark.parametrize("method", methods())
def test_every_method_runs_with_a_delta(method: str) -> None:
    """Its charges add up to exactly the ρ of (ε, δ), in exact noise and in simulation."""
    for options in ({}, {"simulate": True, "seed": 1}):
        receipt = pm.mine(data(), k=4, epsilon=1, delta=DELTA, method=method, **options).receipt
        assert receipt.spent == receipt.cost == ZCDP(Fraction(DELTA)).budget(Fraction(1))
        assert (receipt.guarantee.epsilon, receipt.guarantee.delta) == (1, Fraction(1, 10**6))
    assert "δ = 1e-06" in str(pm.mine(data(), k=4, epsilon=1, delta=DELTA, method=method))


def test_a_release_with_a_delta_is_read_back(tmp_path: Path) -> None:
    """JSON and CSV keep the definition, its δ, every ρ and the laws of the noise."""
    release = pm.mine(data(), k=4, epsilon="1/2", delta=DELTA)
    for name in ("out.json", "out.csv"):
        release.save(tmp_path / name)
        again = pm.load(tmp_path / name)
        assert again.receipt == release.receipt
        assert again.intervals() == release.intervals()
    assert json.loads((tmp_path / "out.json").read_text())["receipt"]["delta"] == "1/1000000"


def test_a_receipt_that_understates_its_noise_is_refused(tmp_path: Path) -> None:
    """A file that claims Gaussian noise for less than it costs."""
    release = pm.mine(data(), k=4, epsilon=1, delta=DELTA)
    release.save(tmp_path / "out.json")
    text = (tmp_path / "out.json").read_text()
    scale = str(release.receipt.charges[-1].noise.scale)
    smaller = release.receipt.charges[-1].noise.scale / 2
    noise = type(release.receipt.charges[-1].noise)
    changed = text.replace(str(noise(Fraction(scale))), str(noise(smaller))).replace(f'"{scale}"', f'"{smaller}"')
    (tmp_path / "less.json").write_text(changed)
    with pytest.raises(DataError, match="costs more than was charged"):
        pm.load(tmp_path / "less.json")


@pytest.mark.parametrize("delta", [0, 1, -1, 2, "nan", float("nan"), "x", True])
def test_what_is_no_delta_is_refused_before_data_is_read(delta: object) -> None:
    """A sentence that names δ; no row is looked at."""

    def rows() -> object:
        pytest.fail("the data was read")
        yield

    with pytest.raises(InputError, match="δ"):
        pm.mine(rows(), k=4, epsilon=1, delta=delta)


def test_a_unit_needs_its_multiple_of_the_noise() -> None:
    """Three baskets a customer: three times the scale, so that ρ is as it was."""
    owners = [number // 3 for number in range(len(BASKETS))]
    plain = pm.mine(data(), k=4, epsilon=1, delta=DELTA, simulate=True, seed=1)
    owned = pm.read(BASKETS, items=ITEMS, unit=owners, max_baskets=3)
    unit = pm.mine(owned, k=4, epsilon=1, delta=DELTA, simulate=True, seed=1)
    scales = [run.receipt.charges[-1].noise.scale for run in (unit, plain)]
    assert float(scales[0] / scales[1]) == pytest.approx(3, rel=1e-9)


def test_a_public_number_of_transactions_states_four_times_rho() -> None:
    """Where one replaces another."""
    receipt = pm.mine(data(), k=4, epsilon=1, delta=DELTA, n_public=True).receipt
    definition = ZCDP(Fraction(DELTA))
    assert receipt.guarantee == definition.guarantee(receipt.cost * 4)
    assert receipt.guarantee.epsilon > 1


def test_a_ledger_counts_epsilon_and_delta(tmp_path: Path) -> None:
    """Both are charged; a budget in pure ε refuses a δ, and one with a δ refuses to go without, uncharged."""
    ledger = Ledger(tmp_path / "budget.db")
    ledger.init("both", 2, "1e-5", composition="sums")
    ledger.init("pure", 2)
    pm.mine(data(), k=4, epsilon=1, delta=DELTA, ledger=ledger, dataset="both")
    budget = ledger.budget("both")
    assert (budget.remaining_epsilon, budget.remaining_delta) == (1, Fraction(9, 10**6))
    for dataset, delta in (("pure", DELTA), ("both", None)):
        with pytest.raises(InputError, match="counted in"):
            pm.mine(data(), k=4, epsilon=1, delta=delta, ledger=ledger, dataset=dataset)
    with pytest.raises(BudgetError, match="δ"):
        pm.mine(data(), k=4, epsilon=1, delta="1/1000", ledger=ledger, dataset="both")
    assert ledger.budget("pure").spent_epsilon == 0
    assert ledger.budget("both") == budget


def test_a_large_delta_is_noted_in_the_receipt() -> None:
    """1/100 for 300 transactions would allow to publish three of them; 10^−6 would not."""
    for delta, is_large in (("1/100", True), (DELTA, False)):
        notes = pm.mine(data(), k=4, epsilon=1, delta=delta).receipt.notes
        assert any("δ is larger than 1 divided by" in note for note in notes) == is_large


def test_a_large_epsilon_is_noted_in_the_receipt() -> None:
    """Such counts may be exact, however private a release is called; a simulation promises nothing anyway."""
    for options, is_large in (
        ({"epsilon": 10}, False),
        ({"epsilon": 11}, True),
        ({"epsilon": 11, "delta": DELTA}, True),
    ):
        notes = pm.mine(data(), k=4, **options).receipt.notes
        assert any("promises next to nothing" in note for note in notes) == is_large
    assert not any("promises" in note for note in pm.mine(data(), 4, 99, simulate=True, seed=1).receipt.notes)


def test_a_dry_run_tells_both() -> None:
    """ρ is what would be spent, ε and δ what that is worth."""
    told = pm.Pipeline().dry_run(data(), 4, 1, delta=DELTA).to_dict()
    assert (told["guaranteed_epsilon"], told["guaranteed_delta"]) == ("1", "1/1000000")
    assert Fraction(told["rho"]) == ZCDP(Fraction(DELTA)).budget(Fraction(1)).amount


def test_the_command_takes_a_delta(tmp_path: Path) -> None:
    """And says what it means; a δ that is none is told with the option's name."""
    run = CliRunner().invoke(cli, ["mine", "--delta", "1e-6", "--k", "5"])
    assert run.exit_code == 0, run.output
    assert "zero-concentrated differential privacy, ε = 1, δ = 1e-06" in run.output
    refused = CliRunner().invoke(cli, ["mine", "--delta", "0", "--k", "5"])
    assert refused.exit_code != 0
    assert "δ must be more than 0 and less than 1" in str(refused.exception)


def test_an_experiment_compares_definitions(tmp_path: Path) -> None:
    """A pipeline may have a δ, in Python and in a file."""
    pipelines = {"pure": "privbasis", "gauss": {"method": "privbasis", "delta": DELTA}}
    rows = compare(pipelines, data(), k=3, epsilon=1, repeats=2)
    assert set(rows["pipeline"]) == {"pure", "gauss"}
    assert len(set(rows["definition"])) == 2
    spec = '[pipelines.gauss]\nmethod = "privbasis"\ndelta = 1e-6\n'
    (tmp_path / "spec.toml").write_text(f'data = "retail"\nk = 3\nepsilon = 1\n{spec}')
    assert Experiment.read(tmp_path / "spec.toml").pipelines["gauss"].delta == "1/1000000"


def test_the_estimator_takes_a_delta() -> None:
    """As a parameter like any other."""
    miner = pm.ItemsetMiner(4, 1, delta=DELTA, items=ITEMS).fit(BASKETS)
    assert miner.release_.receipt.definition == ZCDP(Fraction(DELTA))


@pytest.mark.parametrize("method", methods())
def test_replays_hold_with_a_delta(method: str) -> None:
    """Forty pairs of neighbours, transactions and customers: paid for by L2 and bounded range, answers alike."""
    pipeline = pm.Pipeline(method)
    for case, _ in zip(generated_cases(3), range(30), strict=False):
        assert not replay(pipeline, _with_delta(case))
    customers = CustomerDatabase(Unit("customer", 3))
    for case, _ in zip(generated_customer_cases(3, 3), range(10), strict=False):
        assert not replay(pipeline, _with_delta(case), customers)


def _with_delta(case: Case) -> Case:
    from attrs import evolve

    return evolve(case, delta=Fraction(DELTA))


class Weaker(SecureNoise):
    """Draws Gaussian noise of half the standard deviation, and says so."""

    def draws(self, noise: Noise) -> Noise:
        return evolve(noise, scale=noise.scale / 2)


class Unproven(SecureNoise):
    """Draws noise for which nobody has a proof."""

    def draws(self, noise: Noise) -> Noise:
        class Triangular(Noise):
            distribution = "triangular"

        return Triangular(noise.scale)


class Floats(SecureNoise):
    """Calls itself private, and draws in floating point."""

    def draws(self, noise: Noise) -> Noise:
        return noise.continuous


class OnlyLaplace:
    """Has one way to draw."""

    name, private = "laplace", True

    def laplace(self, values: object, scale: object) -> object:
        return values


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (Weaker(), "draws discrete gaussian of scale .* which costs ρ ≈ 4, where it was asked for"),
        (Unproven(), "no proof that noise of the kind triangular"),
        (Floats(), "floating point"),
        (OnlyLaplace(), "needs draws, add, select, below, which OnlyLaplace does not have"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_a_source_without_a_proof_is_refused_before_anything_is_charged(
    source: object, said: str, tmp_path: Path
) -> None:
    """Before the data is looked at, too."""
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.init("orders", 3, "1e-5")
    with pytest.raises(PrivmineError, match=said) as refused:
        pm.mine(data(), 3, 1, delta="1e-6", noise=source, ledger=ledger, dataset="orders")
    assert "othing was charged" in str(refused.value)
    assert not [row for row in ledger.log("orders") if row.event == "charge"]


def test_more_noise_than_was_asked_for_is_taken() -> None:
    """It protects more."""

    class Stronger(SecureNoise):
        def draws(self, noise: Noise) -> Noise:
            return evolve(noise, scale=noise.scale * 2)

    release = pm.mine(data(), 3, 1, delta="1e-6", noise=Stronger())
    assert any(charge.noise is not None for charge in release.receipt.charges)
