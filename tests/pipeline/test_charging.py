from __future__ import annotations

import warnings
from fractions import Fraction
from pathlib import Path

import pytest

import privmine as pm
from privmine.errors import InputError, PrivmineWarning, RunInterrupted, UnsavedReleaseError
from privmine.ledger import Ledger

BASKETS = [["a", "b"], ["a"]]


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    made = Ledger(tmp_path / "budget.db")
    made.init("orders", 3)
    return made


def spent(ledger: Ledger) -> Fraction:
    return ledger.budget("orders").spent_epsilon


def mine(ledger: Ledger, **options):
    return pm.mine(BASKETS, 2, 1, ledger=ledger, dataset="orders", **options)


def test_a_release_is_charged_and_finished(ledger) -> None:
    """The whole ε of the run, once, with an ending."""
    release = mine(ledger)
    assert spent(ledger) == 1
    assert release.receipt.dataset == "orders"
    assert [entry.event for entry in ledger.log()] == ["init", "charge", "finished"]


def test_without_a_ledger_nothing_is_charged() -> None:
    """And the receipt names no dataset."""
    receipt = pm.mine([["a"], ["a", "b"]], 2, 1).receipt
    assert (receipt.dataset, receipt.entry) == (None, None)


def test_a_receipt_names_its_charge(ledger, tmp_path) -> None:
    """By the number that the ledger's log has for it; also in every file."""
    mine(ledger)
    release = mine(ledger)
    entry = ledger.log()[release.receipt.entry - 1]
    assert (entry.sequence, entry.event, entry.state) == (4, "charge", "finished")
    assert "Charged to: orders, no. 4 in the ledger's log" in release.receipt.lines()
    for suffix in (".csv", ".json", ".parquet"):
        release.save(tmp_path / f"release{suffix}")
        assert pm.load(tmp_path / f"release{suffix}").receipt.entry == 4
    release.save(tmp_path / "release.html")
    assert "no. 4 in the ledger" in (tmp_path / "release.html").read_text()


@pytest.mark.parametrize(
    ("options", "note"),
    [
        ({"unit": ["x", "x"], "max_baskets": 1}, "privbasis, k = 2, at most 1 transaction a unit"),
        ({"unit": ["x", "x"], "max_baskets": 3}, "privbasis, k = 2, at most 3 transactions a unit"),
        ({"merge_by": ["x", "x"]}, "privbasis, k = 2, merged by unit"),
    ],
    ids=["one", "three", "merged"],
)
def test_the_log_says_what_was_done_to_the_transactions_of_a_unit(tmp_path, options, note) -> None:
    """Releases of the same dataset may bound or merge them, and cannot be told apart otherwise."""
    ledger = Ledger(tmp_path / "budget.db")
    ledger.init("orders", 3, unit="unit")
    pm.mine(pm.read(BASKETS, **options), 2, 1, ledger=ledger, dataset="orders")
    assert ledger.log()[1].note == note


def test_a_file_that_exists_is_refused_before_the_charge(ledger, tmp_path) -> None:
    """It may be a release that was paid for; `overwrite` replaces it."""
    target = tmp_path / "release.csv"
    mine(ledger, output=target)
    with pytest.raises(InputError, match="overwrite=True"):
        mine(ledger, output=target)
    assert spent(ledger) == 1
    mine(ledger, output=target, overwrite=True)
    assert spent(ledger) == 2


def test_the_budget_ends(ledger) -> None:
    """A fourth release of ε = 1 on a total of 3 is refused, with the amounts in the error."""
    for _ in range(3):
        mine(ledger)
    with pytest.raises(pm.BudgetError) as caught:
        mine(ledger)
    assert (caught.value.requested, caught.value.remaining) == (1, 0)
    assert spent(ledger) == 3


@pytest.mark.parametrize(
    "options",
    [
        {"simulate": True},
        {"n_public": True},
        {"output": "nowhere/release.csv"},
        {"output": "release.xls"},
        {"strict": True},
        {"seed": 1},
        {"max_length": 0},
    ],
    ids=str,
)
def test_what_can_be_refused_costs_nothing(ledger, options) -> None:
    """Everything that is known before the run is checked before the charge."""
    with pytest.raises(InputError):
        mine(ledger, **options)
    assert spent(ledger) == 0


def test_a_run_that_fails_stays_charged(ledger, monkeypatch) -> None:
    """The log says that it failed, and no budget comes back."""
    from privmine.noise.secure import SecureNoise

    monkeypatch.setattr(SecureNoise, "laplace", lambda *_: 1 / 0)
    with pytest.raises(pm.PrivmineError, match="ε = 1 was charged"):
        mine(ledger)
    assert spent(ledger) == 1
    assert (ledger.log()[-1].event, ledger.log()[-1].note) == ("failed", "StageError")


def test_the_charge_comes_before_the_first_draw(ledger, monkeypatch) -> None:
    """When noise is drawn, the ledger has the whole ε on file."""
    from privmine.noise.secure import SecureNoise

    seen = []
    draw = SecureNoise.select

    def watched(self, *arguments):
        seen.append(spent(ledger))
        return draw(self, *arguments)

    monkeypatch.setattr(SecureNoise, "select", watched)
    mine(ledger)
    assert seen[0] == 1


def test_a_release_that_cannot_be_saved_is_handed_over(ledger, tmp_path, monkeypatch) -> None:
    """Charged but lost must not happen: the error carries the release."""
    from privmine.release import release_files as files

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.Path, "replace", full_disk)
    with pytest.raises(UnsavedReleaseError, match="No space left") as caught:
        mine(ledger, output=tmp_path / "release.csv")
    assert caught.value.release.receipt.spent.amount == 1
    assert spent(ledger) == 1
    assert ledger.log()[-1].event == "finished"


def test_a_ledger_that_cannot_note_the_end_costs_no_result(ledger) -> None:
    """The charge is on file; that its ending is not becomes a warning."""

    class Forgetful(Ledger):
        def finish(self, charge):
            raise InputError("this charge is not in the ledger")

    with pytest.warns(PrivmineWarning, match="could not note that it succeeded"):
        release = mine(Forgetful(ledger.path))
    assert len(release) > 0
    assert spent(ledger) == 1


def test_an_interrupt_within_the_charge_does_not_deny_it(ledger) -> None:
    """Where nobody can know whether the charge is on disk, the error says so."""

    class Interrupted(Ledger):
        def charge(self, *arguments, **options):
            super().charge(*arguments, **options)
            raise KeyboardInterrupt

    with pytest.raises(RunInterrupted, match="may have been charged") as caught:
        mine(Interrupted(ledger.path))
    assert caught.value.charged.amount == 1
    assert spent(ledger) == 1


def orders(path, *lines, **options) -> pm.Transactions:
    path.write_text("\n".join(["order,item", *lines]) + "\n")
    return pm.read(path, transaction="order", item="item", **options)


def charge_for(data: pm.Transactions, ledger: Ledger) -> None:
    pm.mine(data, 2, "0.1", ledger=ledger, dataset="orders")


@pytest.mark.parametrize("options", [{}, {"items": ["a", "b"]}, {"merge_by": "order"}], ids=["taken", "given", "unit"])
def test_the_ledger_tells_nothing_about_the_content(tmp_path, options) -> None:
    """One transaction more or less, or an item that was not there, gives no warning: it would be an exact bit, free."""
    ledger = Ledger(tmp_path / "budget.db")
    ledger.init("orders", 3, unit="order" if "merge_by" in options else "transaction")
    charge_for(orders(tmp_path / "june.csv", "1,a", "1,b", "2,a", **options), ledger)
    for lines in (["1,a", "1,b"], ["1,a", "1,b", "2,a", "3,a"], ["1,c", "2,b"]):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            charge_for(orders(tmp_path / "june.csv", *lines, **options), ledger)


def test_lists_without_a_source_are_not_compared(ledger) -> None:
    """There is nothing public to compare."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mine(ledger)
        pm.mine([["c"]], 2, 1, ledger=ledger, dataset="orders")
        pm.mine(pm.read([["c"]], items=["c"]), 1, 1, ledger=ledger, dataset="orders")


@pytest.mark.parametrize(
    ("name", "options"), [("july.csv", {}), ("june.csv", {"items": ["a", "b"]})], ids=["source", "universe"]
)
def test_another_source_under_the_same_name_is_noticed(ledger, tmp_path, name, options) -> None:
    """Another file, or another list of items: what the user says, not what is in the data."""
    charge_for(orders(tmp_path / "june.csv", "1,a", "1,b"), ledger)
    with pytest.warns(PrivmineWarning, match="another source, or for another list of items"):
        charge_for(orders(tmp_path / name, "1,a", "1,b", **options), ledger)


def test_a_check_gives_the_warning_of_a_charge(ledger) -> None:
    """So that a dry run tells what the run would tell; nothing is charged, and the contents matter to neither."""
    ledger.charge("orders", "0.5", source="june.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ledger.check("orders", "0.5").spent_epsilon == 1
        assert ledger.check("orders", "0.5", source="june.csv").spent_epsilon == 1
    with pytest.warns(PrivmineWarning, match="'orders' was first charged for another source") as caught:
        ledger.check("orders", "0.5", source="july.csv")
    assert caught[0].filename == __file__
    assert ledger.budget("orders").spent_epsilon == Fraction(1, 2)
    with pytest.raises(InputError, match="must be text"):
        ledger.check("orders", "0.5", source=7)


def test_a_ledger_with_fingerprints_of_contents_opens_as_before(tmp_path) -> None:
    """An earlier version wrote them; they stay in the chain of checksums, and are compared with nothing."""
    path = tmp_path / "budget.db"
    path.write_bytes((Path(__file__).parents[1] / "ledger" / "with_contents.ledger").read_bytes())
    old = Ledger(path)
    assert [(made.name, made.unit, made.remaining_epsilon) for made in old.show()] == [
        ("orders", "transaction", 2),
        ("visits", "unit", Fraction(5, 3)),
    ]
    assert [entry.state for entry in old.log() if entry.event == "charge"] == ["finished", "finished"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        charge_for(orders(tmp_path / "june.csv", "1,a"), old)
        charge_for(orders(tmp_path / "june.csv", "1,b"), old)
    with pytest.warns(PrivmineWarning, match="another source"):
        charge_for(orders(tmp_path / "july.csv", "1,b"), old)
    assert old.budget("orders").spent_epsilon == Fraction(13, 10)


def test_another_query_under_the_same_name_is_noticed(ledger) -> None:
    """Queries are told apart by their words, not by what they give; blanks between the words do not count."""
    query = "select order_id, product from (values (1, 'a'), (2, 'b')) as orders(order_id, product)"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for words in (query, query.replace(" from", "\n  from")):
            charge_for(pm.read(sql=words, transaction="order_id", item="product"), ledger)
    with pytest.warns(PrivmineWarning, match="another source"):
        charge_for(pm.read(sql=query + " where order_id = 1", transaction="order_id", item="product"), ledger)


def test_a_password_is_no_part_of_what_names_a_source() -> None:
    """The ledger keeps only a keyed hash of it; even so, a new password does not make another source."""
    from privmine.io.readers.dispatch import _reference

    told = [_reference(None, "select 1", f"postgresql://ada:{word}@host/shop") for word in ("secret", "changed")]
    assert told[0] == told[1] == "postgresql://ada@host/shop select 1"


def test_the_log_says_what_was_read_for_whom_it_was_paid_and_with_which_delta(tmp_path) -> None:
    """All that a run was told: δ beside ε, the name of the file, the account that pays, the part of the people."""
    ledger = Ledger(tmp_path / "budget.db")
    ledger.init("orders", 3, "1e-5", composition="sums")
    ledger.grant("orders", "ada", 1, "2e-6")
    ledger.grow("orders", "new", "june", 3, "1e-5")
    data = orders(tmp_path / "june.csv", "1,a", "1,b", items=["a", "b"])
    for who in ({"account": "ada"}, {"part": "june"}):
        pm.mine(data, 2, 1, delta="1e-6", ledger=ledger, dataset="orders", **who)
    charges = [entry for entry in ledger.log() if entry.event == "charge"]
    assert [(entry.account, entry.part) for entry in charges] == [("ada", ""), ("", "june")]
    assert {(entry.epsilon, entry.delta, entry.origin) for entry in charges} == {(1, Fraction("1e-6"), "june.csv")}


def test_private_items_are_another_list_of_items(tmp_path) -> None:
    """What is found under noise and what is taken from the data are told apart by the ledger."""
    ledger = Ledger(tmp_path / "budget.db")
    ledger.init("orders", 3, "1e-5", private_items=True)
    options = {"k": 2, "epsilon": 1, "delta": "1e-6", "ledger": ledger, "dataset": "orders"}
    pm.mine(orders(tmp_path / "june.csv", "1,a", items="private"), **options)
    with pytest.warns(PrivmineWarning, match="another source, or for another list of items"):
        pm.mine(orders(tmp_path / "june.csv", "1,a"), **options)
