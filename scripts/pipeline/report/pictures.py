"""Figures as small pictures inside the ledger's page.

The Snakemake report shows the page as a ``data:`` address, of which Chromium refuses more than
``MOST_CHARACTERS``: the page stays blank. So its pictures are smaller than the figures' own files,
by the first of ``SCALES`` with which the page is not too long.
"""

import base64
import io
from pathlib import Path

from PIL import Image

from calbias.errors import InputError

MOST_CHARACTERS = 2 * 1024**2  # of an address in a frame; base64 takes 4 for 3 bytes of the page
SCALES = (0.35, 0.3, 0.25)  # of the figure's PNG
COLOURS = 64


def is_too_long(page):
    """Tell whether the report cannot show a page of this text."""
    return len(page.encode()) * 4 / 3 > 0.99 * MOST_CHARACTERS


def reading_of(path):
    """Return the sentence that was written next to a figure's PNG; nothing where there is none."""
    path = Path(path).with_suffix(".txt")
    return path.read_text(encoding="utf-8").strip() if path.exists() else ""


def small_picture(path, scale=SCALES[0]):
    """Return (address, width, height) of a figure's PNG made small, as a ``data:`` address."""
    try:
        with Image.open(path) as opened:
            picture = opened.convert("RGB")
    except OSError as error:
        raise InputError(f"{path}: not a whole PNG; delete it and run snakemake again") from error
    size = [max(1, round(scale * side)) for side in picture.size]
    picture = picture.resize(size, Image.Resampling.LANCZOS)
    small = io.BytesIO()
    picture.quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(
        small, format="PNG", optimize=True
    )
    return "data:image/png;base64," + base64.b64encode(small.getvalue()).decode("ascii"), *size
