"""Build every distribution of this repository, and check what would be published.

Needs hatchling: `python .ci/check_distributions.py`. It prints a line for each distribution, and ends with 1 if
anything is wrong.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from email.message import Message
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parents[1]
#: What a distribution's page needs.
FIELDS = ("Name", "Version", "Summary", "Requires-Python", "License-Expression", "License-File", "Keywords", "Author")
#: What a source archive needs.
NEEDED = ("LICENSE", "README.md", "pyproject.toml")


def flaws_of(source: Path, built: Path) -> list[str]:
    """What is wrong with the wheel and the source archive of a distribution, which lie in `built`."""
    project = tomllib.loads((source / "pyproject.toml").read_text("utf-8"))["project"]
    package = project["name"].replace("-", "_")
    (wheel,), (archive,) = list(built.glob("*.whl")), list(built.glob("*.tar.gz"))
    with ZipFile(wheel) as opened:
        names = opened.namelist()
        info = f"{package}-{project['version']}.dist-info"
        metadata = Parser().parsestr(opened.read(f"{info}/METADATA").decode())
        entry_points = opened.read(f"{info}/entry_points.txt").decode() if f"{info}/entry_points.txt" in names else ""
    with tarfile.open(archive) as packed:
        sources = {name.partition("/")[2] for name in packed.getnames()}
    return [
        *_metadata_flaws(metadata, project),
        *_content_flaws(source, package, info, names),
        *([] if f"{info}/licenses/LICENSE" in names else ["the wheel has no licence"]),
        *([] if "[privmine]" in entry_points else ["no entry point of the group privmine"]),
        *(
            f"the source archive has no {name}"
            for name in ("LICENSE", "README.md", "pyproject.toml")
            if name not in sources
        ),
    ]


def _metadata_flaws(metadata: Message, project: dict[str, object]) -> list[str]:
    flaws = [f"the metadata has no {field}" for field in FIELDS if not metadata[field]]
    if metadata["License-Expression"] != "MIT":
        flaws.append(f"the licence is {metadata['License-Expression']}, not MIT")
    if "Typing :: Typed" not in metadata.get_all("Classifier", []):
        flaws.append("the classifier Typing :: Typed is missing")
    if not str(metadata.get_payload()).strip():
        flaws.append("the description is empty")
    unbounded = [line for line in metadata.get_all("Requires-Dist", []) if not re.search(r"[<>=]", line.split(";")[0])]
    return flaws + [f"the requirement {line} has no lowest version" for line in unbounded]


def _content_flaws(source: Path, package: str, info: str, names: list[str]) -> list[str]:
    """A wheel holds the package and nothing else, whole and with its mark for type checkers."""
    strangers = sorted(name for name in names if name.partition("/")[0] not in (package, info))
    kept = {path.relative_to(source).as_posix() for path in (source / package).rglob("*") if path.is_file()}
    missing = sorted(name for name in kept - set(names) if "__pycache__" not in name)
    return [
        *(f"the wheel holds {name}" for name in strangers),
        *(f"the wheel lacks {name}" for name in missing),
        *([] if f"{package}/py.typed" in names else ["the wheel has no py.typed"]),
    ]


def main() -> int:
    """Check all distributions."""
    sources = [ROOT, *sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))]
    wrong = 0
    for source in sources:
        with tempfile.TemporaryDirectory() as place:
            subprocess.run(
                [sys.executable, "-m", "hatchling", "build", "-d", place], cwd=source, check=True, capture_output=True
            )
            flaws = flaws_of(source, Path(place))
        print(f"{source.name if source != ROOT else 'privmine'}: {'; '.join(flaws) or 'OK'}")
        wrong += bool(flaws)
    return 1 if wrong or len(sources) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
