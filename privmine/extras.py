"""Packages that are not needed by everybody: imported when they are used, with a word on what to install."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from privmine.errors import InputError

#: The extra of privmine that installs a package.
EXTRA_OF = {
    "cryptography": "signatures",
    "duckdb": "tables",
    "hypothesis": "audit",
    "matplotlib": "plots",
    "openpyxl": "excel",
    "pandas": "pandas",
    "polars": "polars",
    "pooch": "datasets",
    "psycopg": "postgres",
    "pyarrow": "tables",
}


def import_extra(module: str, purpose: str, otherwise: str = "") -> Any:
    """Import a module of an optional package.

    Args:
        module: such as "pandas" or "matplotlib.pyplot".
        purpose: the beginning of a sentence that ends with the package, such as "Figures need".
        otherwise: a sentence on what to do without the package.

    Raises:
        InputError: the package is not installed; the message says what to run.
    """
    package = module.partition(".")[0]
    try:
        import_module(package)
        return import_module(module)
    except ImportError:
        parts = [f"{purpose} {package}.", f"Run: pip install 'privmine[{EXTRA_OF[package]}]'.", otherwise]
        raise InputError(" ".join(filter(None, parts))) from None
