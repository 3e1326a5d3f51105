"""What the plugin must not need: more of privmine than its public surface, and Spark before it is used."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import privmine_spark
import pytest

MODULES = sorted(Path(privmine_spark.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=[path.stem for path in MODULES])
def test_only_the_public_surface_is_imported(path) -> None:
    """Of privmine, `privmine.api` and nothing else."""
    imported = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add(node.module)
    assert {name for name in imported if name.partition(".")[0] == "privmine"} <= {"privmine.api"}


def run(code, **environment):
    """Run Python in a process of its own."""
    import os

    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


def test_registering_imports_neither_spark_nor_arrow() -> None:
    """So that every command starts as fast as without the plugin."""
    shown = run("import sys, privmine_spark; print([n for n in ('pyspark', 'pyarrow', 'numpy') if n in sys.modules])")
    assert shown.stdout.strip() == "[]", shown.stderr


def test_other_sources_need_no_spark() -> None:
    """Asking whether the reader takes a source imports no Spark."""
    shown = run("import sys, privmine as pm; pm.read([['a']]); print('pyspark' in sys.modules)")
    assert shown.stdout.strip() == "False", shown.stderr


WITHOUT = "import sys; sys.modules['pyspark'] = None; "
OLD = "import sys, types; m = types.ModuleType('pyspark'); m.__version__ = '3.5.1'; sys.modules['pyspark'] = m; "
CALL = """
from privmine.cli import main
sys.argv = ["privmine", "mine", "--spark", "select 1", "--k", "1", "--epsilon", "1"]
main()
"""


def test_missing_spark_is_told() -> None:
    """With the command that installs it."""
    failed = run(WITHOUT + CALL)
    assert failed.returncode == 2
    assert "PySpark is not installed. Run: pip install 'pyspark>=4,<5'." in failed.stderr


def test_another_major_version_is_refused() -> None:
    """In a sentence."""
    failed = run(OLD + CALL)
    assert failed.returncode == 2
    assert "PySpark 3.5.1 is installed, and privmine-spark works with Spark 4." in failed.stderr


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (None, "found no Java"),
        ('openjdk version "11.0.2" 2019-01-15', "found Java 11"),
        ('java version "1.8.0_202"', "found Java 8"),
    ],
)
def test_missing_or_old_java_is_told(tmp_path, version, said) -> None:
    """Before Spark fails to start."""
    (tmp_path / "bin").mkdir()
    if version is not None:
        program = tmp_path / "bin" / "java"
        program.write_text(f"#!/bin/sh\necho '{version}' >&2\n")
        program.chmod(0o755)
    fake = (
        "import sys, types\n"
        "for name in ('pyspark', 'pyspark.sql'): sys.modules[name] = types.ModuleType(name)\n"
        "sys.modules['pyspark'].__version__ = '4.0.0'\n"
        "class Builder:\n"
        "    def appName(self, name): return self\n"
        "    config = lambda self, name, value: self\n"
        "class SparkSession:\n"
        "    builder = Builder()\n"
        "    getActiveSession = staticmethod(lambda: None)\n"
        "sys.modules['pyspark.sql'].SparkSession = SparkSession\n"
    )
    failed = run(fake + CALL, JAVA_HOME=str(tmp_path))
    assert failed.returncode == 2
    assert "Spark 4 needs Java 17 or newer, and privmine " + said in " ".join(failed.stderr.split())


def test_an_option_that_is_not_taken_is_told_before_spark_starts() -> None:
    """Also where there is no Spark."""
    shown = run(WITHOUT + CALL.replace('"--k"', '"--trim", "--k"'))
    assert "does not take --trim" in shown.stderr, shown.stderr
