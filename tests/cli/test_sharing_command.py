"""The administrator's walk: budgets for two analysts, periods, growth, and releases that are checked, in a shell."""

from __future__ import annotations

import json
import shutil

import pytest

from privmine.ledger import Ledger


@pytest.fixture
def path(tmp_path):
    return tmp_path / "budget.db"


@pytest.fixture
def budget(privmine, path):
    """Run a `budget` command on the one ledger; answers exit code, stdout and stderr."""

    def run(command: str, *arguments: object) -> tuple[int, str, str]:
        return privmine("budget", command, "--ledger", str(path), *map(str, arguments))

    return run


def test_two_analysts_share_a_budget(privmine, budget, path, tmp_path) -> None:
    """Grants are set aside, each analyst is stopped by the own limit, and every view tells who spent what."""
    assert budget("init", "--dataset", "orders", "--epsilon", 2)[0] == 0
    code, said, _ = budget("grant", "--dataset", "orders", "--to", "marketing", "--epsilon", 0.5)
    assert (code, said) == (
        0,
        "marketing may spend ε = 0.5 of orders: privmine mine … --dataset orders --account marketing\n",
    )
    assert budget("grant", "--dataset", "orders", "--to", "sales", "--epsilon", 0.5)[0] == 0
    code, _, error = budget("grant", "--dataset", "orders", "--to", "third", "--epsilon", 1.5)
    assert code == 2
    assert "A grant of ε = 1.5 exceeds the budget of 'orders': ε = 1 is left of 2. Nothing was granted." in error
    code, _, error = budget("grant", "--dataset", "orders", "--to", "sales", "--epsilon", 0.1)
    assert code == 2
    assert "already has an account named 'sales'" in error

    account = ("--ledger", str(path), "--dataset", "orders", "--account", "marketing")
    target = tmp_path / "release.json"
    code, said, _ = privmine("mine", "--k", "5", "--epsilon", "0.4", *account, "-o", str(target))
    assert code == 0
    assert "Remaining: ε = 0.1 for orders / marketing" in said
    code, _, error = privmine("mine", "--k", "5", "--epsilon", "0.4", *account)
    assert code == 2
    assert "A charge of ε = 0.4 exceeds the budget of 'orders / marketing': ε = 0.1 is left of 0.5" in error
    assert "Nothing was charged." in error
    code, said, _ = privmine("mine", "--k", "5", "--epsilon", "0.1", *account, "--dry-run", "--json")
    assert json.loads(said)["ledger_remaining_afterwards"] == "0"

    shown = [line.split() for line in budget("show")[1].splitlines()]
    assert shown[1] == ["orders", "transaction", "2", "0.4", "0.6", "1"]
    assert shown[2][-4:] == ["0.5", "0.4", "0", "0.1"]
    chart = budget("show", "--chart")[1]
    assert "0.4" in chart
    assert "█" * 8 + "░" * 32 in chart
    assert [made["account"] for made in json.loads(budget("show", "--json")[1])] == ["", "marketing", "sales"]
    assert "account marketing" in budget("log")[1]
    assert "ε = 1.1 left" in budget("revoke", "--dataset", "orders", "--from", "marketing")[1]
    assert privmine("budget", "verify", str(target), "--ledger", str(path))[0] == 0


def test_periods(budget) -> None:
    """A date opens a period; a date in the past does not."""
    code, _, error = budget("init", "--dataset", "logs", "--epsilon", 1, "--until", "2020-12-31")
    assert code == 2
    assert "2020-12-31 is in the past" in error
    assert "until 2099-12-31" in budget("init", "--dataset", "logs", "--epsilon", 1, "--until", "2099-12-31")[1]
    for day, words in (("2020-12-31", "Name a later day"), ("2100-12-31", "Renew it after that day"), ("soon", "date")):
        code, _, error = budget("renew", "--dataset", "logs", "--until", day, "--epsilon", 1)
        assert code == 2
        assert words in error
    assert "2099-12-31" in budget("show")[1]
    assert "for one transaction, until 2099-12-31" in budget("log")[1]


def test_growth_is_asked_for(budget, path) -> None:
    """Whose the rows are must be said; new people get a budget, the same ones do not."""
    budget("init", "--dataset", "orders", "--epsilon", 1)
    code, _, error = budget("grow", "--dataset", "orders")
    assert code == 2
    assert "--people new or --people same" in error
    assert "ε = 1 is left" in budget("grow", "--dataset", "orders", "--people", "same")[1]
    for given in (("--part", "june"), ("--epsilon", 2), ()):
        code, _, error = budget("grow", "--dataset", "orders", "--people", "new", *given)
        assert code == 2
        assert "Specify its name and its ε, such as --part 2027 --epsilon 1" in error
    said = budget("grow", "--dataset", "orders", "--people", "new", "--part", "june", "--epsilon", 2)[1]
    assert "--dataset orders --part june" in said
    assert Ledger(path).budget("orders", part="june").remaining_epsilon == 2


def test_the_chart_has_bars_for_those_who_came_later(budget, path) -> None:
    """What all paid is in both, what one part paid in its own only, and what was before it came in none of its bars."""
    ledger = Ledger(path)
    ledger.init("orders", 4)
    ledger.charge("orders", 1)
    ledger.grow("orders", "new", "june", 2)
    ledger.charge("orders", "1/2")
    ledger.charge("orders", "1/4", part="june")
    lines = [line.split() for line in budget("show", "--chart")[1].splitlines()]
    assert [line for line in lines if line[0] == "orders"] == [["orders"], ["orders", "+", "june"]]
    bars = [line[1:] for line in lines if line[0].startswith("20")]
    assert bars[-1] == ["0.75", "2", "█" * 15 + "░" * 25]
    assert ["1.5", "4", "█" * 15 + "░" * 25] in bars


def test_a_release_of_a_part_says_what_it_assumes(privmine, budget, path) -> None:
    """The receipt names the assumption that makes a charge of the part alone sound."""
    budget("init", "--dataset", "orders", "--epsilon", 1)
    budget("grow", "--dataset", "orders", "--people", "new", "--part", "june", "--epsilon", 2)
    part = ("--ledger", str(path), "--dataset", "orders", "--part", "june", "--json")
    code, said, _ = privmine("mine", "--k", "5", "--epsilon", "1", *part)
    assert code == 0
    assert any("nobody in it is in another part" in line for line in json.loads(said)["receipt"]["assumptions"])
    assert [made.spent_epsilon for made in Ledger(path).show()] == [0, 1]


def test_a_restored_backup_is_found(privmine, budget, path, tmp_path) -> None:
    """Two releases on one row: exit code 1, and both are named."""
    budget("init", "--dataset", "orders", "--epsilon", 1)
    shutil.copy(path, tmp_path / "backup.db")
    files = [str(tmp_path / name) for name in ("one.json", "two.json")]
    for file in files:
        shutil.copy(tmp_path / "backup.db", path)
        assert (
            privmine("mine", "--k", "5", "--epsilon", "1", "--ledger", str(path), "--dataset", "orders", "-o", file)[0]
            == 0
        )
    code, said, _ = privmine("budget", "verify", *files, "--ledger", str(path), "--json")
    assert code == 1
    assert [row["verdict"] for row in json.loads(said)["releases"]] == ["two releases claim one row"] * 2
    code, said, _ = privmine("budget", "verify", *files, "--ledger", str(path))
    assert code == 1
    lines = said.splitlines()
    assert f"two releases claim one row  It and {files[1]} claim" in lines[1]  # no room for marks that nobody sees
    assert len(lines) == 4  # two releases, and nothing that no release claims
    assert privmine("budget", "verify", str(path), "--ledger", str(path))[0] == 2


def test_sign_and_verify(privmine, tmp_path) -> None:
    """A changed release has exit code 1."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = Ed25519PrivateKey.generate()
    plain = serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
    public = serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    (tmp_path / "key").write_bytes(private.private_bytes(*plain))
    (tmp_path / "key.pub").write_bytes(private.public_key().public_bytes(*public))
    release, key = tmp_path / "release.csv", str(tmp_path / "key")
    assert privmine("mine", "--k", "5", "-o", str(release))[0] == 0
    assert privmine("verify", str(release), "--signer", f"{key}.pub")[0] == 1
    assert privmine("sign", str(release), "--key", key)[0] == 0
    assert privmine("verify", str(release), "--signer", f"{key}.pub")[0] == 0
    release.write_text(release.read_text().replace("1", "2", 1))
    code, said, _ = privmine("verify", str(release), "--signer", f"{key}.pub", "--json")
    assert code == 1
    assert "was changed after it was signed" in json.loads(said)[0]["told"]
