"""The pages on writing plugins work: their files are written and their commands run, in order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs"
FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
CAPTION = re.compile(r":caption: (?P<path>\S+)\n\n")


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """An environment on top of the present one, so that what the page installs is gone afterwards."""
    root = tmp_path / "environment"
    venv.create(root, with_pip=False)
    python = root / "bin" / "python"
    (site,) = root.glob("lib/python*/site-packages")
    below = sysconfig.get_path("purelib")
    (site / "below.pth").write_text(f"import site; site.addsitedir({below!r})\n")
    command = root / "bin" / "privmine"
    command.write_text(f'#!/bin/sh\nexec "{python}" -m privmine "$@"\n')
    command.chmod(0o755)
    inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    return inherited | {
        "PATH": f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "VIRTUAL_ENV": str(root),
        "PIP_NO_INDEX": "1",
        # pip reads this one the other way round: 0 means without isolation.
        "PIP_NO_BUILD_ISOLATION": "0",
        "PYTHONIOENCODING": "utf-8",
    }


@pytest.mark.skipif(sys.platform == "win32", reason="the page is written for a POSIX shell")
@pytest.mark.parametrize(
    ("page", "expected_files", "expected_commands"),
    [
        ("write-a-reader.md", 4, 5),
        pytest.param("write-a-plugin.md", 4, 13, marks=pytest.mark.statistics),
        pytest.param("extensions.md", 5, 7, marks=pytest.mark.statistics),
    ],
)
def test_page_works_from_top_to_bottom(
    tmp_path: Path, shell: dict[str, str], page: str, expected_files: int, expected_commands: int
) -> None:
    """Every file is written, every command succeeds, and every line of output that the page shows is there."""
    place = tmp_path / "work"
    place.mkdir()
    commands = files = 0
    for block in FENCE.finditer((PAGES / page).read_text(encoding="utf-8")):
        if block["info"] in ("{code-block} py", "{code-block} toml"):
            caption = CAPTION.match(block["body"])
            assert caption, "a file of the page needs a caption with its path"
            path = place / caption["path"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block["body"][caption.end() :], encoding="utf-8")
            files += 1
        elif block["info"] == "console":
            for command, expected in session(block["body"]):
                place = run(command, expected, place, shell)
                commands += 1
        else:
            assert block["info"] in ("sh", "toml"), f"a block of kind {block['info']!r} would not be tested"
    assert files == expected_files
    assert commands == expected_commands


def session(body: str) -> list[tuple[str, list[str]]]:
    """The commands of a console block, each with the lines of output that the page shows."""
    commands: list[tuple[str, list[str]]] = []
    for line in body.splitlines():
        if line.startswith("$ "):
            commands.append((line.removeprefix("$ "), []))
        elif line.strip() not in ("", "..."):
            commands[-1][1].append(line.strip())
    return commands


def run(command: str, expected: list[str], place: Path, environment: dict[str, str]) -> Path:
    """Run a command, look for the expected lines, and return the directory that it leaves one in."""
    if command.startswith("cd "):
        return place / command.removeprefix("cd ")
    ran = subprocess.run(
        ["sh", "-c", command],
        cwd=place,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    assert ran.returncode == 0, f"{command}\n{ran.stdout}"
    # How wide the columns of a table are is not what the page is about.
    shown = " ".join(ran.stdout.split())
    for line in expected:
        assert " ".join(line.split()) in shown, f"{command}\n{ran.stdout}"
    return place
