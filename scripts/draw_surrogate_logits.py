"""Draw surrogate logits for a published model whose file is absent, from its published fits.

The top-label score follows the model's Beta distribution of Table 2 and the hit its calibration
curve of lowest AIC in Table 3; the source of the output is ``surrogate_logits``.
"""

from pipeline.logits.options import (
    MANIFEST,
    MODEL,
    PUBLISHED,
    SOFTMAX,
    TO_LOGITS,
    TO_TOP_LABELS,
)
from pipeline.logits.store import save_logits
from pipeline.logits.surrogate import draw_surrogate, fold_sizes, published_fit
from pipeline.logits.top_label_table import Origin, top_labels_of, write_top_labels
from pipeline.manifest import read_manifest
from pipeline.script import SEED, option, script


@script(
    option("--published-beta", "Table 2", default=PUBLISHED / "roelofs2022_table2_beta_fits.csv"),
    option("--published-glm", "Table 3", default=PUBLISHED / "roelofs2022_table3_glm_fits.csv"),
    MANIFEST,
    MODEL,
    option("--n-classes", "the model's number of classes", int, least=2),
    option("--n-validation", "rows, instead of the file's", int, least=1, default=None),
    option("--n-test", "rows, instead of the file's", int, least=1, default=None),
    SOFTMAX,
    SEED,
    TO_LOGITS,
    TO_TOP_LABELS,
)
def main(options):
    fit = published_fit(options.model, options.published_beta, options.published_glm)
    known = fold_sizes(options.model, options.n_classes, read_manifest(options.manifest))
    sizes = options.n_validation or known[0], options.n_test or known[1]
    logits, n_redrawn = draw_surrogate(options.model, fit, options.n_classes, *sizes, options.seed)
    top_labels = top_labels_of(logits, options.softmax)
    save_logits(options.logits, logits)
    origin = Origin(options.model, logits.source, options.softmax)
    write_top_labels(options.top_labels, top_labels, origin)
    print(f"{options.model}: surrogate logits; {n_redrawn} scores below 1/K were drawn again")


if __name__ == "__main__":
    main()
