"""Pictures in files: PNG, SVG or PDF, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from privmine.errors import InputError
from privmine.extras import import_extra
from privmine.files import check_place, written

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = (".png", ".svg", ".pdf")
_DOTS_PER_INCH = 150


def check_picture(path: Path) -> Path:
    """Make sure that a picture could be drawn and saved here, before any work is done for it."""
    import_extra("matplotlib.pyplot", "Pictures need")
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"{path} must end in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}, so that its format is known.")
    check_place(path)
    return path


def save_picture(path: Path, size: tuple[float, float], draw: Callable[[Axes], None]) -> None:
    """Draw into a file; no window is needed and no figure stays open."""
    check_picture(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    draw(figure.subplots())
    with written(path, public=True) as file:
        figure.savefig(file, format=path.suffix[1:].lower(), dpi=_DOTS_PER_INCH, bbox_inches="tight")
