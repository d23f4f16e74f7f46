"""The numbers of the paper's text beside the recomputed ones: rows of table ``comparison``."""

import numpy as np

from calbias.claims import chosen_bins, detection, error_sweep, t_test
from calbias.claims.evidence import SIZES, by_estimator
from calbias.claims.judgement import NotJudged
from calbias.claims.recalibration import agreements, published_agreements
from calbias.claims.tallies import error_of_mean

PAPER_REPLICATES = 1000
TYPE_1_RATE = 0.05
_WHOLE_PERCENT = 0.5 / np.sqrt(3)  # standard deviation of what rounds to a printed whole number


def text_rows(evidence):
    """Return tuples where, quantity, model, source, published, recomputed[, standard error].

    The numbers are those that the ledger's rules use; what this run did not compute is left out.
    """
    rows = []
    for part in (_table_1, _t_test, _detection, _type_1, _appendix_c, _appendix_d):
        try:
            rows += part(evidence)
        except NotJudged:
            continue
    return rows


def _table_1(evidence):
    table = evidence.table("recalibration_selection")
    table = table[table["published_agrees"].notna()]
    rows = []
    for source, of_source in table.groupby("source"):
        for name, published in published_agreements(evidence).items():
            agree, n = agreements(of_source, name)
            if n == len(evidence.published_models()):
                quantity = f"{name} selects as TCE, models"
                rows.append(("Table 1", quantity, "", source, published, agree))
    return rows


def _t_test(evidence):
    source = evidence.source("realistic", evidence.published_models())
    test, errors = t_test.t_test_row(evidence, "realistic")
    *of_means, of_t = (
        error_of_difference(evidence, "realistic", e) for e in (*errors, _t_error(evidence))
    )
    names = ("mean_abs_bias_a_percent", "mean_abs_bias_b_percent")
    printed = (t_test.DEBIAS_PERCENT, t_test.SWEEP_PERCENT)
    rows = [
        ("§7.1", f"mean |bias| of {name}, percent", "", source, published, test[column], error)
        for name, published, column, error in zip(
            t_test.PAIR, printed, names, of_means, strict=True
        )
    ]
    t, p = test["t_statistic"], test["p_value"]
    below = f"p of the paired test, published as < {t_test.P_VALUE:g}"
    return [
        *rows,
        ("§7.1", "t of the paired test", "", source, t_test.T_STATISTIC, t, of_t),
        ("§7.1", below, "", source, t_test.P_VALUE, p),
    ]


def _t_error(evidence):
    """Return the Monte Carlo standard error of t, to first order in the errors of the biases.

    Those of a pair are taken as independent; they come from the same data sets and agree in sign
    more often than not, so that the error is rather too large.
    """
    rows = evidence.bias("realistic", t_test.PAIR)
    bias, se = (by_estimator(rows, column) for column in ("bias_percent", "bias_se_percent"))
    a, b = t_test.PAIR
    return t_error(bias[a].abs() - bias[b].abs(), np.hypot(se[a], se[b]))


def t_error(differences, errors):
    """Return the standard error of the t of ``differences`` (k,) whose own are ``errors`` (k,)."""
    k, mean, sd = len(differences), differences.mean(), differences.std(ddof=1)
    slopes = np.sqrt(k) * (1 / (k * sd) - mean * (differences - mean) / ((k - 1) * sd**3))
    return float(np.sqrt(np.sum((slopes * errors) ** 2)))


def error_of_difference(evidence, experiment, error):
    """Return the standard error of ours minus the paper's, from ``error``, that of our mean.

    The paper has 1000 data sets where an experiment here has as many as table ``bias`` says.
    """
    bias = evidence.tables.get("bias")
    rows = None if bias is None else bias.loc[bias["experiment"] == experiment, "n_replicates"]
    ours = PAPER_REPLICATES if rows is None or rows.empty else float(rows.max())
    return error * np.sqrt(1 + ours / PAPER_REPLICATES)


def _detection(evidence):
    source = evidence.source("detection")
    rows = []
    for n, published in ((500, 10.0), (10000, 2.0)):
        for (_, estimator, target), (tce, low, high) in detection.detectable(
            evidence, (n,)
        ).items():
            if np.isfinite(tce):
                error = np.hypot((high - low) / (2 * 1.96), _WHOLE_PERCENT)
                quantity = f"TCE that {n} samples detect, {estimator}, miss {target:.0%}, percent"
                rows.append(("§7.2", quantity, "", source, published, tce, error))
    return rows


def _type_1(evidence):
    source, table = evidence.source("detection"), evidence.table("detection_limits")
    rows = []
    for estimator, of_one in table.dropna(subset="type_1_rate").groupby("estimator"):
        by_n = of_one.drop_duplicates("n_samples")
        error = error_of_mean(by_n["type_1_rate_se"])
        quantity = f"type I error of the test, {estimator}, mean over n"
        values = TYPE_1_RATE, by_n["type_1_rate"].mean(), error
        rows.append(("§7.2", quantity, "", source, *values))
    return rows


def _appendix_c(evidence):
    source, curves = evidence.source("tce_sweep"), error_sweep.sweep_curves(evidence)
    rows = []
    for scores in error_sweep.SCORES:
        at_zero = curves[scores, 5000, "ece_bin_ew"].iloc[0]
        quantity = f"bias of ece_bin_ew at TCE 0, n = 5000, {scores}, percent"
        error = np.hypot(at_zero["bias_se_percent"], _WHOLE_PERCENT)
        values = error_sweep.OFF_PERCENT, at_zero["bias_percent"], error
        rows.append(("App C", quantity, "", source, *values))
    found = error_sweep.ambiguous_tces(evidence)
    if not np.isfinite([tce for tce, _ in found.values()]).all():
        return rows  # which of the two published ones is whose is told by their order
    ordered = sorted(found.items(), key=lambda item: -item[1][0])
    for (scores, (tce, error)), published in zip(ordered, error_sweep.TCE_PERCENT, strict=True):
        quantity = f"TCE where ece_bin_ew is 12 % at n = 200, {scores}, percent"
        values = published, tce, np.hypot(error, _WHOLE_PERCENT)
        rows.append(("Fig 13", quantity, "", source, *values))
    return rows


def _appendix_d(evidence):
    best = [max(chosen_bins.choice(evidence, "beta_1_1_identity", n)[1]) for n in SIZES]
    most = chosen_bins.FEW_BINS
    quantity = f"best number of bins when calibrated, largest over n, published as ≤ {most}"
    return [("App D", quantity, "", evidence.source("chosen_bins"), most, max(best))]
