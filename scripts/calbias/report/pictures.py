"""Figures as small pictures inside the ledger's page.

The Snakemake report shows the page as a ``data:`` address, of which Chromium refuses more than
``MOST_CHARACTERS``: the page stays blank. So its pictures are smaller than the figures' own files.
"""

import base64
import io

from PIL import Image

from calbias.errors import InputError

MOST_CHARACTERS = 2 * 1024**2  # of an address in a frame; base64 takes 4 for 3 bytes of the page
SCALE = 0.45  # of the figure's PNG
COLOURS = 32


def small_picture(path):
    """Return (address, width, height) of a figure's PNG made small, as a ``data:`` address."""
    try:
        with Image.open(path) as opened:
            picture = opened.convert("RGB")
    except OSError as error:
        raise InputError(f"{path}: not a whole PNG; delete it and run snakemake again") from error
    size = [max(1, round(SCALE * side)) for side in picture.size]
    picture = picture.resize(size, Image.Resampling.LANCZOS)
    small = io.BytesIO()
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(small, format="PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(small.getvalue()).decode("ascii"), *size
