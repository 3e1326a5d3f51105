"""How Sphinx builds these pages; nothing is fetched from the network.

sphinx-build -W --keep-going docs OUT
"""

from __future__ import annotations

import inspect
import re
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "privmine"
author = "The privmine developers"
project_copyright = author
version = release = installed_version("privmine")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "commands"]
exclude_patterns = ["_build", "_ext", "figures"]

# Links to headings of other pages are checked: an anchor that is not there is a warning, and warnings are errors.
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "deflist"]
# Dashes and ellipses only; quotation marks stay as they are written.
smartquotes_action = "De"

# Docstrings write names between single backticks.
default_role = "literal"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 88
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = "privmine"
html_static_path = ["_static"]
html_css_files = ["privmine.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5f8b", "color-brand-content": "#1f5f8b"},
    "dark_css_variables": {"color-brand-primary": "#7fbfe6", "color-brand-content": "#7fbfe6"},
}


def plain_text(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Docstrings are plain English: |x| is a size, and a colon in a property's sentence does not follow its type."""
    if what == "property":
        lines[:] = (inspect.getdoc(obj) or "").splitlines()
    for number, line in enumerate(lines):
        pieces = re.split(r"(`[^`]*`)", line)
        lines[number] = "".join(piece if piece.startswith("`") else piece.replace("|", r"\|") for piece in pieces)


def setup(app: Sphinx) -> None:
    """Comes after napoleon, and has the last word."""
    app.connect("autodoc-process-docstring", plain_text, priority=900)
