"""ECE_bin of a model's logits and of data simulated from its fits (Table 4, Fig 3c)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from calbias.estimation.api import estimate
from calbias.logits.top_label import TopLabel
from pipeline.logits import read_top_labels
from pipeline.scenarios import read_scenarios
from pipeline.table_schema import columns_of
from pipeline.tables import read_table, write_table

PUBLISHED_BINS = 15


def compare_ece_bin(
    *,
    scenarios: Path,
    bias: Path,
    top_labels: list[Path],
    published: Path,
    norm: float,
    output: Path,
) -> None:
    """Compare ECE_bin on a model's logits with that on data simulated from its fits (Table 4).

    scenarios: scenarios of experiment fits
    bias: bias rows of experiment fits
    top_labels: top-label tables of the models with outputs
    published: Table 4
    norm: p of the ℓp error
    output: table to write
    """
    table = read_table(bias)
    simulated = table[table["estimator"] == "ece_bin_ew"].drop_duplicates("scenario")
    simulated = simulated.set_index("scenario").to_dict("index")
    printed = read_table(published).set_index("model").to_dict("index")
    outputs = {o.model: (folds, o.source) for folds, o in map(read_top_labels, top_labels)}
    rows = []
    for scenario, row in read_scenarios(scenarios):
        name = scenario.name
        folds, source = outputs.get(name, ({}, None))
        details = simulated.get(name, {}), row["source"], printed.get(name, {})
        rows.append(ece_bin_row(name, folds, source, *details, norm=norm))
    write_table(output, "ece_bin_real_and_simulated", rows)


def ece_bin_row(
    model: str,
    folds: Mapping[str, TopLabel],
    source: str | None,
    simulated: Mapping[str, Any],
    simulated_source: str,
    published: Mapping[str, Any],
    norm: float = 2,
) -> dict[str, Any]:
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


def _ece_bin(top_label: TopLabel, n_bins: int, norm: float) -> float | None:
    if top_label.score.size == 0:
        return None
    rows = top_label.score, top_label.hit
    return 100 * estimate("ece_bin_ew", *rows, n_bins=n_bins, norm=norm).value
