"""A drawing in a notebook, and as a file: SVG is our own, PDF and PNG are made by CairoSVG."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from brittle.errors import MissingPackage, UsageError, require
from brittle.reports.plots import standalone_svg
from brittle.safety.files import replacing, write_whole

CONVERTERS = {".pdf": "svg2pdf", ".png": "svg2png"}
"""By the ending of a file: the function of CairoSVG that writes it."""
SCALE_OF_PNG = 3  # pixels for each unit of the drawing, for print and for sharp screens


def notebook_image(svg: str) -> str:
    """Return a drawing for a notebook.

    As an image, because the styles of an SVG inside a page hold for the whole page.
    """
    file = standalone_svg(svg).encode()
    source = f"data:image/svg+xml;base64,{base64.b64encode(file).decode('ascii')}"
    return f'<img src="{source}" alt="a figure of brittle" style="max-width:100%">'


def save_drawing(svg: str, path: str | Path) -> Path:
    """Write a drawing as .svg, .pdf or .png, by the ending of the file's name."""
    out = Path(path)
    ending = out.suffix.lower()
    if ending not in (".svg", *CONVERTERS):
        raise UsageError(
            f"Got {out.name!r} to save a figure to. Expected a name that ends in .svg, .pdf or "
            ".png."
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    file = standalone_svg(svg)
    if ending == ".svg":
        write_whole(out, file)
        return out
    convert = getattr(_cairosvg(ending), CONVERTERS[ending])
    scale = {"scale": SCALE_OF_PNG} if ending == ".png" else {}
    with replacing(out) as new:
        new.write_bytes(convert(bytestring=file.encode(), **scale))
    return out


def _cairosvg(ending: str) -> Any:
    """Import CairoSVG; the library of the system that it needs may be missing, too."""
    try:
        return require("cairosvg", "figures", f"Saving a figure as {ending}")
    except OSError as error:
        raise MissingPackage(
            f"Saving a figure as {ending} needs the library cairo of your system, which CairoSVG "
            "does not find. Install it (Debian and Ubuntu: apt install libcairo2; macOS: brew "
            "install cairo), or save the figure as .svg."
        ) from error
