"""Options that the scripts about logits and top labels share."""

from pathlib import Path

from calbias.logits.raw_file import FOLDS
from calbias.logits.top_label import SOFTMAXES
from pipeline import CHECKOUT
from pipeline.script import option

RESOURCES = CHECKOUT / "resources"
PUBLISHED = RESOURCES / "published"

MODEL = option("--model", "the model's name, as in the config")
MANIFEST = option(
    "--manifest", "the published files (CSV)", Path,
    default=PUBLISHED / "nn_calibration_logits_manifest.csv",
)  # fmt: skip
TOP_LABELS = option("--top-labels", "the model's top-label table")
FOLD = option("--fold", "fold of the top labels", choices=FOLDS, default="test")
SOFTMAX = option("--softmax", "how scores are made", choices=SOFTMAXES, default="exact")
TO_LOGITS = option("--logits", "logits to write (NPZ)", Path)
TO_TOP_LABELS = option("--top-labels", "top-label table to write", Path)
