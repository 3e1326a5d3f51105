"""Check that a change of the code leaves simulated releases as they were.

    python tests/benchmarks/same_releases.py make OLD --data DIR       with the old code
    python tests/benchmarks/same_releases.py make NEW --data DIR       with the new code
    python tests/benchmarks/same_releases.py compare OLD NEW

`make` saves a simulated release for every pipeline, dataset and seed. `compare` compares the JSON files value by value;
`--ignore` names fields that were added or renamed on purpose. It exits with 1 if anything else differs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from common import dataset

DATASETS = ("retail", "mushroom", "BMS-WebView-2", "groceries", "msnbc")
SEEDS = (1, 2, 3)
BASES = ("cliques", "cover", "single", "triples", "worst-case")
PIPELINES: dict[str, dict[str, str]] = {
    "privbasis": {},
    **{base: {"construct_basis": base} for base in BASES},
    "tf": {"method": "tf"},
    "tf-monotone": {"method": "tf-monotone"},
    "tf-noisy": {"method": "tf-noisy"},
    "counted-directly": {"reconstruct_counts": "direct"},
    "selected-by-tf": {"select_elements": "truncated-monotone"},
}


def make(target: Path, data: Path, k: int, epsilon: float) -> None:
    """Save a simulated release of every pipeline, dataset and seed in a folder."""
    import privmine as pm

    warnings.simplefilter("ignore")  # simulated, and some settings are known to be poor
    target.mkdir(parents=True, exist_ok=True)
    for name in DATASETS:
        baskets = pm.read(dataset(data, name))
        for label, choice in PIPELINES.items():
            began = time.process_time()
            for seed in SEEDS:
                path = target / f"{name}_{label}_{seed}.json"
                try:
                    pm.Pipeline(**choice).run(baskets, k=k, epsilon=epsilon, simulate=True, seed=seed).save(path)
                except pm.PrivmineError as error:
                    path.write_text(json.dumps({"refused": type(error).__name__}))
            print(f"{name} {label}: {time.process_time() - began:.1f} s", flush=True)


def pruned(value: Any, ignored: set[str]) -> Any:
    """A JSON value without the ignored fields, at any depth."""
    if isinstance(value, dict):
        return {name: pruned(inner, ignored) for name, inner in value.items() if name not in ignored}
    return [pruned(inner, ignored) for inner in value] if isinstance(value, list) else value


def differences(old: Any, new: Any, place: str = "") -> list[str]:
    """Where two JSON values differ, as paths with both values."""
    if isinstance(old, dict) and isinstance(new, dict):
        names = sorted(old.keys() | new.keys())
        return [text for name in names for text in differences(old.get(name), new.get(name), f"{place}.{name}")]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [text for i, (first, second) in pairs for text in differences(first, second, f"{place}[{i}]")]
    same = json.dumps(old) == json.dumps(new)
    return [] if same else [f"{place}: {json.dumps(old)[:150]} → {json.dumps(new)[:150]}"]


def compare(old: Path, new: Path, ignored: set[str]) -> int:
    """Print where the releases of two folders differ; return how many do."""
    names = sorted({path.name for folder in (old, new) for path in folder.glob("*.json")})
    differing = 0
    for name in names:
        if not ((old / name).exists() and (new / name).exists()):
            print(f"{name}: only in one folder")
            differing += 1
            continue
        values = [pruned(json.loads((folder / name).read_text()), ignored) for folder in (old, new)]
        found = differences(*values)
        differing += bool(found)
        for text in found[:5]:
            print(f"{name}{text}")
    print(f"{len(names)} releases, {differing} differ")
    return differing


def main() -> None:
    """Make releases, or compare two folders of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make")
    making.add_argument("target", type=Path)
    making.add_argument("--data", type=Path, required=True)
    making.add_argument("--k", type=int, default=100)
    making.add_argument("--epsilon", type=float, default=1)
    comparing = commands.add_parser("compare")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    comparing.add_argument("--ignore", nargs="*", default=[], metavar="FIELD")
    asked = parser.parse_args()
    if asked.command == "make":
        make(asked.target, asked.data, asked.k, asked.epsilon)
    else:
        sys.exit(bool(compare(asked.old, asked.new, set(asked.ignore))))


if __name__ == "__main__":
    main()
