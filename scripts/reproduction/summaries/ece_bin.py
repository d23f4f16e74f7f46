"""ECE_bin of a model's logits and of data simulated from its fits (Table 4, Fig 3c)."""

from calbias.estimation.api import estimate
from pipeline.tables.schema import columns_of

PUBLISHED_BINS = 15


def ece_bin_row(model, folds, source, simulated, simulated_source, published, norm=2):
    """Return the row of table ``ece_bin_real_and_simulated`` of a model, in percent.

    ``folds`` {fold: TopLabel} are its outputs, of ``source``; empty where there are none.
    ``simulated`` is its row of table ``bias``, ``published`` of Table 4. Real and simulated data
    get the same bins. Without a validation fold the test fold stands for it.
    """
    n_bins = int(simulated.get("n_bins", PUBLISHED_BINS))
    values = {fold: _ece_bin(top_label, n_bins, norm) for fold, top_label in folds.items()}
    test, validation = values.get("test"), values.get("validation")
    row = (
        model,
        source,
        simulated_source,
        test if validation is None else validation,
        test,
        simulated.get("mean_estimate_percent"),
        simulated.get("bias_se_percent"),
        published.get("ece_bin_percent"),
        published.get("mean_simulated_ece_bin_percent"),
    )
    return dict(zip(columns_of("ece_bin_real_and_simulated"), row, strict=True))


def _ece_bin(top_label, n_bins, norm):
    if top_label.score.size == 0:
        return None
    rows = top_label.score, top_label.hit
    return 100 * estimate("ece_bin_ew", *rows, n_bins=n_bins, norm=norm).value
