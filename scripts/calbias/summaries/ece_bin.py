"""ECE_bin of a model's logits next to that of data simulated from its fits (Table 4, Fig 3c)."""

from calbias.estimation.api import estimate
from calbias.io.table_schema import columns_of
from calbias.logits.store import FOLDS
from calbias.logits.top_label_table import read_origin, read_top_labels

PUBLISHED_BINS = 15


def ece_bin_row(top_labels, simulated, simulated_source, published, norm=2):
    """Return one model's row of table ``ece_bin_real_and_simulated``, in percent.

    ``simulated`` is its row of table ``bias`` or None, ``published`` that of Table 4 or None. Real
    and simulated data get the same bins. Without a validation fold the test fold stands for it.
    """
    simulated = {} if simulated is None else simulated
    n_bins = int(simulated.get("n_bins", PUBLISHED_BINS))
    values = {fold: _ece_bin(top_labels, fold, n_bins, norm) for fold in FOLDS}
    published = {} if published is None else published
    row = (
        read_origin(top_labels).model,
        read_origin(top_labels).source,
        simulated_source,
        values["test"] if values["validation"] is None else values["validation"],
        values["test"],
        simulated.get("mean_estimate_percent"),
        simulated.get("bias_se_percent"),
        published.get("ece_bin_percent"),
        published.get("mean_simulated_ece_bin_percent"),
    )
    return dict(zip(columns_of("ece_bin_real_and_simulated"), row, strict=True))


def _ece_bin(top_labels, fold, n_bins, norm):
    top_label, _ = read_top_labels(top_labels, fold)
    if top_label.score.size == 0:
        return None
    return 100 * estimate("ece_bin_ew", top_label.score, top_label.hit, n_bins, norm).value
