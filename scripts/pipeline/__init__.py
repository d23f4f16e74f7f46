"""What reproduction and evidence stand on: the workflow's settings, tables, models, fits, plots."""

import gc
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
if Path(getattr(sys.modules["__main__"], "__file__", None) or "").parent == CHECKOUT / "scripts":
    gc.disable()  # looking for garbage is a sixth of a job's imports; ``command`` enables it
