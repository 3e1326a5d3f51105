"""The ledger in PostgreSQL: the rules of every ledger, and what is different where a server keeps the rows."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from fractions import Fraction
from signal import SIGKILL

import psycopg
import pytest
from ledger_rules import *  # noqa: F403
from ledger_rules import place
from rho_rules import *  # noqa: F403

import privmine as pm
from privmine.errors import BudgetError, InputError, LedgerError
from privmine.ledger import Ledger
from privmine.ledger.postgres_storage import SCHEMA

PASSWORD = "TELLNOBODY"  # noqa: S105 - of a server that only this test reaches
pytestmark = pytest.mark.postgres


@pytest.fixture
def ledger(server) -> Iterator[Ledger]:
    """The two datasets of the tests in a schema that is made anew."""
    server.run(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    made = Ledger(server.address(), timeout=60)
    made.init("orders", epsilon=1)
    made.init("visits", epsilon=2, delta="1/1000", composition="sums")
    yield made
    server.run(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")


def test_a_release_is_charged(ledger: Ledger, tmp_path) -> None:
    """`mine` takes the address as it takes a file; the receipt names the row, and nothing names the password."""
    target = tmp_path / "release.json"
    release = pm.mine([["a", "b"], ["a"]] * 30, 3, 0.5, ledger=place(ledger), dataset="orders", output=target)
    assert release.receipt.payment is not None
    assert release.receipt.payment.ledger == ledger.identity
    assert [entry.event for entry in ledger.log("orders")] == ["init", "charge", "finished"]
    assert PASSWORD not in target.read_text() + repr(ledger) + ledger._repr_html_() + repr(ledger.path)
    assert PASSWORD not in ledger.export("json")


def test_charges_and_endings(ledger: Ledger) -> None:
    """What a file does: exact amounts, endings, refusals."""
    charge = ledger.charge("orders", "1/3", note="first", source="orders.csv")
    ledger.finish(charge)
    with pytest.raises(InputError, match="already been recorded"):
        ledger.fail(charge, ValueError)
    with pytest.raises(BudgetError) as caught:
        ledger.charge("orders", 1)
    assert caught.value.remaining == Fraction(2, 3)
    with pytest.raises(InputError, match="already has a budget"):
        ledger.init("orders", 1)


EDITS = {
    "amount": "UPDATE {0}.entries SET epsilon = '1/30' WHERE sequence = 3",
    "details": "UPDATE {0}.entries SET details = NULL WHERE sequence = 3",
    "row": "DELETE FROM {0}.entries WHERE sequence = 3",
    "head": "UPDATE {0}.head SET count = 2",
    "key": "UPDATE {0}.head SET key = 'x'",
    "no head": "DELETE FROM {0}.head",
    "two heads": "INSERT INTO {0}.head SELECT * FROM {0}.head",
    "column": "ALTER TABLE {0}.entries ADD COLUMN more text",
    "type": "ALTER TABLE {0}.entries ALTER COLUMN charge TYPE text",
    "table": "CREATE TABLE {0}.more (a int)",
    "unlogged": "ALTER TABLE {0}.entries SET UNLOGGED",
    "rule": "CREATE RULE nothing AS ON INSERT TO {0}.entries DO INSTEAD NOTHING",
    "security": "ALTER TABLE {0}.entries ENABLE ROW LEVEL SECURITY",
    "trigger": "CREATE TRIGGER undo BEFORE UPDATE ON {0}.head EXECUTE FUNCTION suppress_redundant_updates_trigger()",
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_noticed(ledger: Ledger, server, edit: str) -> None:
    """What is changed by SQL, in rows or tables, is refused as in a file."""
    ledger.charge("orders", "1/3")
    server.run(EDITS[edit].format(SCHEMA))
    for use in (ledger.show, lambda: ledger.charge("orders", "1/100")):
        with pytest.raises(LedgerError, match=r"is damaged or was edited.*Restore it from a backup"):
            use()


def test_a_later_format(ledger: Ledger, server) -> None:
    """A ledger of a future version is left alone."""
    server.run("UPDATE privmine_ledger.head SET format = 2")
    with pytest.raises(LedgerError, match="newer version of privmine"):
        ledger.charge("orders", "1/3")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"password": "WRONGSECRET"}, "user or the password is wrong|cannot be reached"),
        ({"user": "nobody"}, "user or the password is wrong|cannot be reached"),
        ({"name": "nothing"}, "no such database|cannot be reached"),
        ({"port": 1}, "cannot be reached"),
        ({"host": "no.such.host.invalid"}, "cannot be reached"),
        ({"name": "postgres?nonsense=1&password=WRONGSECRET"}, "cannot be reached"),
    ],
)
def test_addresses_that_do_not_work(server, wrong: dict, words: str) -> None:
    """A sentence each, which tells no password; neither do the causes."""
    ledger = Ledger(server.address(**wrong), timeout=2)
    for use in (ledger.show, lambda: ledger.charge("orders", 1), lambda: ledger.init("orders", 1)):
        with pytest.raises(LedgerError, match=words) as caught:
            use()
        told = "".join(map(str, (caught.value, repr(caught.value), caught.value.__cause__, caught.value.__context__)))
        assert PASSWORD not in told
        assert "WRONGSECRET" not in told


def test_no_ledger_in_the_database(server) -> None:
    """Only `init` creates one."""
    server.run(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    with pytest.raises(LedgerError, match="There is no ledger in postgresql://postgres@127"):
        Ledger(server.address()).charge("orders", 1)


def test_a_locked_ledger(ledger: Ledger, server) -> None:
    """Whoever holds the lock is waited for, and then given up uncharged; readers are not kept waiting."""
    impatient = Ledger(place(ledger), timeout=0.3)
    with psycopg.connect(server.address()) as other:
        other.execute(f"LOCK TABLE {SCHEMA}.head IN EXCLUSIVE MODE")
        with pytest.raises(LedgerError, match=r"locked by another process for more than 0\.3 s"):
            impatient.charge("orders", 1)
        assert len(impatient.show()) == 2
    impatient.charge("orders", 1)


def test_a_user_who_may_only_read(ledger: Ledger, server) -> None:
    """Rights are told in a sentence."""
    server.run(
        "DROP ROLE IF EXISTS reader",
        "CREATE ROLE reader LOGIN PASSWORD 'TELLNOBODY'",
        f"GRANT USAGE ON SCHEMA {SCHEMA} TO reader",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA {SCHEMA} TO reader",
    )
    reader = Ledger(server.address(user="reader"))
    assert len(reader.show()) == 2
    with pytest.raises(LedgerError, match="lacks the rights"):
        reader.charge("orders", 1)
    server.run(f"DROP SCHEMA {SCHEMA} CASCADE", "DROP ROLE reader")


class Proxy:
    """A server between client and database that can lose the answer to a COMMIT."""

    def __init__(self, port: int, lose: int) -> None:
        self.lose, self.target = lose, port
        self.sockets: list[socket.socket] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            upstream = socket.create_connection(("127.0.0.1", self.target))
            self.sockets += [client, upstream]
            state = {"lost": False}
            threading.Thread(target=self._forward, args=(client, upstream, state), daemon=True).start()
            threading.Thread(target=self._answer, args=(upstream, client, state), daemon=True).start()

    def _forward(self, client: socket.socket, upstream: socket.socket, state: dict) -> None:
        while data := _received(client):
            if b"COMMIT\0" in data and self.lose:
                self.lose -= 1
                state["lost"] = True
            upstream.sendall(data)
        _shut(upstream)

    def _answer(self, upstream: socket.socket, client: socket.socket, state: dict) -> None:
        while data := _received(upstream):
            if state["lost"]:
                break  # the server has committed, and nobody hears of it
            client.sendall(data)
        _shut(client)

    def close(self) -> None:
        """Close everything."""
        self.listener.close()
        for each in self.sockets:
            each.close()


def _shut(each: socket.socket) -> None:
    with contextlib.suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)


def _received(from_: socket.socket) -> bytes:
    try:
        return from_.recv(65536)
    except OSError:
        return b""


def test_an_answer_that_is_lost(ledger: Ledger, server) -> None:
    """The connection breaks after COMMIT: asking again finds the charge, which is charged once."""
    proxy = Proxy(server.port, lose=1)
    far = Ledger(server.address(port=proxy.port), timeout=20)
    charge = far.charge("orders", "1/3")
    assert proxy.lose == 0
    charges = [entry for entry in ledger.log("orders") if entry.event == "charge"]
    assert [(entry.sequence, entry.checksum) for entry in charges] == [(charge.id, charge.payment.checksum)]
    proxy.lose = 10**6
    hopeless = Ledger(server.address(port=proxy.port), timeout=1)
    with pytest.raises(LedgerError, match=r"was lost while it was written.*take it as charged"):
        hopeless.charge("orders", "1/3")
    # Every try found the row of the first one.
    assert ledger.budget("orders").spent_epsilon == Fraction(2, 3)
    proxy.close()


def test_the_server_dies_during_a_race(crashing, tmp_path) -> None:
    """kill -9 of the server, twice; twenty clients charge the whole and four parts: nothing drawn is uncharged."""
    ledger = Ledger(crashing.address(), timeout=60)
    ledger.init("orders", epsilon=1)
    accounts = ["marketing", "sales", "stores", "web"]
    for account in accounts:
        ledger.grant("orders", account, "1/5")
    script = (
        "import os, sys, time\n"
        "from privmine.errors import BudgetError, LedgerError\n"
        "from privmine.ledger import Ledger\n"
        "place, account, witness = sys.argv[1:]\n"
        "ledger = Ledger(place, timeout=60)\n"
        "file = os.open(witness, os.O_WRONLY | os.O_APPEND | os.O_CREAT)\n"
        "while True:\n"
        "    try:\n"
        "        charge = ledger.charge('orders', '1/200', account=account or None)\n"
        "        os.write(file, f'{charge.id}\\n'.encode())\n"
        "    except BudgetError:\n"
        "        break\n"
        "    except LedgerError as error:\n"
        "        assert 'TELLNOBODY' not in str(error)\n"
        "        time.sleep(0.1)\n"
    )
    witnesses = [tmp_path / f"witness {number}" for number in range(20)]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, crashing.address(), account, str(witness)],
            stderr=subprocess.PIPE,
            text=True,
        )
        for account, witness in zip(["", *accounts] * 4, witnesses, strict=True)
    ]
    for _ in range(2):
        deadline = time.monotonic() + 60
        before = len(_lines(witnesses))
        while len(_lines(witnesses)) < before + 20 and time.monotonic() < deadline:
            time.sleep(0.05)
        crashing.kill()
        crashing.start()
    for process in processes:
        _, errors = process.communicate(timeout=300)
        assert (process.returncode, errors) == (0, "")
    drawn = _lines(witnesses)
    charged = [entry.sequence for entry in ledger.log("orders") if entry.event == "charge"]
    assert len(set(drawn)) == len(drawn)
    assert set(drawn) <= set(charged)
    assert len(charged) == 200
    whole, *parts = ledger.show()
    assert whole.spent_epsilon == 1
    assert [part.spent_epsilon for part in parts] == [Fraction(1, 5)] * 4


def _lines(witnesses) -> list[int]:
    return [int(line) for file in witnesses if file.exists() for line in file.read_text().split()]


def test_a_killed_client_leaves_no_lock(ledger: Ledger) -> None:
    """A process that dies within its transaction is rolled back by the server."""
    script = (
        "import sys, time\n"
        "from privmine.ledger import Ledger\n"
        "ledger = Ledger(sys.argv[1])\n"
        "with ledger._writing() as page:\n"
        "    print('locked', flush=True)\n"
        "    time.sleep(600)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, place(ledger)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "locked\n"
    os.kill(process.pid, SIGKILL)
    process.communicate()
    assert ledger.charge("orders", 1).epsilon == 1
