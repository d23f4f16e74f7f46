"""Published numbers beside the recomputed ones (table ``comparison``)."""

import numpy as np
import pandas as pd

from calbias.claims.comparison_of_text import error_of_difference, text_rows
from calbias.fits.standard_errors import beta_errors, glm_errors, rows_with_table3_errors
from calbias.io.table_schema import columns_of


def comparison(evidence, fits):
    """Return the table ``comparison`` of an Evidence, {model: PrintedFits} giving the errors.

    ``standard_error`` is that of the difference: the sampling error of a fit to surrogate data
    (drawn from the published fit above 1/K, which moves its centre by less than one standard error
    from the published one); for fits of real logits that of Table 3's means over ten
    resamples; the Monte Carlo errors of simulated means, the paper's taken from its 1000
    replicates; in the text's figures the rounding of the printed number too. It is empty where the
    paper computed the number from the same data, and where no error is known. Tables that this run
    did not compute are left out.
    """
    rows = [
        *_table_2(evidence, fits),
        *_table_3(evidence, fits),
        *_table_4(evidence),
        *text_rows(evidence),
    ]
    return pd.DataFrame([_complete(*row) for row in rows], columns=list(columns_of("comparison")))


def _complete(where, quantity, model, source, published, recomputed, error=np.nan):
    difference = recomputed - published
    n_errors = difference / error if error > 0 else np.nan
    error = error if error > 0 else np.nan
    return (where, quantity, model, source, published, recomputed, difference, error, n_errors)


def _table_2(evidence, fits):
    for row in _rows(evidence, "beta_fits", fits).itertuples():
        fit = fits[row.model]
        errors = (np.nan, np.nan)
        if row.source == "surrogate_logits":
            errors = beta_errors(fit.alpha, fit.beta, row.n_samples)
        for name, error in zip(("alpha", "beta"), errors, strict=True):
            values = getattr(row, f"published_{name}"), getattr(row, name)
            yield "Table 2", name, row.model, row.source, *values, error


def _table_3(evidence, fits):
    beta_fits, glm_fits = _rows(evidence, "beta_fits", fits), _rows(evidence, "glm_fits", fits)
    if beta_fits.empty or glm_fits.empty:
        return
    for row, resampled in rows_with_table3_errors(beta_fits, glm_fits):
        errors = resampled if row["source"] == "real_logits" else {}
        scenario = fits[row["model"]].scenario()
        if row["source"] == "surrogate_logits" and row["glm"] == scenario.curve.name:
            n_samples = beta_fits.set_index("model")["n_samples"][row["model"]]
            errors = glm_errors(scenario, n_samples)
            del errors["aic"]  # of other data than the published one
        for name in ("b0", "b1", "aic"):
            published = row[f"published_{name}"]
            if np.isfinite(published):
                values = published, row[name], errors.get(name, np.nan)
                yield "Table 3", f"{row['glm']} {name}", row["model"], row["source"], *values


def _table_4(evidence):
    table = evidence.tables.get("ece_bin_real_and_simulated")
    if table is None:
        return
    for row in table.dropna(subset=["published_ece_bin_percent"]).itertuples():
        yield (
            "Table 4",
            "ECE_bin, percent",
            row.model,
            row.source,
            row.published_ece_bin_percent,
            row.ece_bin_percent,
        )
        error = error_of_difference(evidence, "fits", row.simulated_se_percent)
        yield (
            "Table 4",
            "mean simulated ECE_bin, percent",
            row.model,
            row.simulated_source,
            row.published_simulated_percent,
            row.mean_simulated_ece_bin_percent,
            error,
        )


def _rows(evidence, stem, fits):
    table = evidence.tables.get(stem)
    table = pd.DataFrame(columns=["model"]) if table is None else table
    return table[table["model"].isin(list(fits))]
