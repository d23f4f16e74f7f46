from pathlib import Path
from typing import Annotated

from pipeline.logits.store import save_logits
from pipeline.logits.surrogate import draw_surrogate, fold_sizes, published_fit
from pipeline.logits.top_label_table import Origin, top_labels_of, write_top_labels
from pipeline.manifest import read_manifest
from pipeline.steps import AtLeast, Seed, Softmax


def draw_surrogate_logits(
    *,
    published_beta: Path,
    published_glm: Path,
    manifest: Path,
    model: str,
    n_classes: Annotated[int, AtLeast(2)],
    n_validation: Annotated[int, AtLeast(1)] | None = None,
    n_test: Annotated[int, AtLeast(1)] | None = None,
    softmax: Softmax,
    seed: Seed,
    output_logits: Path,
    output_top_labels: Path,
) -> None:
    """Draw surrogate logits for a published model whose file is absent, from its published fits.

    The top-label score follows the model's Beta distribution of Table 2 and the hit its calibration
    curve of lowest AIC in Table 3; the source of the output is ``surrogate_logits``.

    published_beta: Table 2
    published_glm: Table 3
    manifest: the published files (CSV)
    model: the model's name
    n_classes: the model's number of classes
    n_validation: rows, instead of the file's
    n_test: rows, instead of the file's
    softmax: how scores are made
    seed: seed of all random streams
    output_logits: logits to write (NPZ)
    output_top_labels: top-label table to write
    """
    fit = published_fit(model, published_beta, published_glm)
    known = fold_sizes(model, n_classes, read_manifest(manifest))
    sizes = n_validation or known[0], n_test or known[1]
    logits, n_redrawn = draw_surrogate(model, fit, n_classes, *sizes, seed)
    top_labels = top_labels_of(logits, softmax)
    save_logits(output_logits, logits)
    origin = Origin(model, logits.source, softmax)
    write_top_labels(output_top_labels, top_labels, origin)
    print(f"{model}: surrogate logits; {n_redrawn} scores below 1/K were drawn again")
