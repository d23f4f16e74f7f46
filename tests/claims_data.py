"""Made-up result tables for the ledger's rules: the paper's grid, with a bias of one's choice."""

import itertools
import re

import numpy as np
import pandas as pd
from checkout import ROOT

from pipeline.claims.ledger import all_claims
from pipeline.claims.run_tables import PUBLISHED, RunTables, bins_of
from pipeline.paper import BINNED, HEATMAP_BINS, HEATMAP_MODELS, HEATMAP_SIZES, MODEL_SIZES
from pipeline.table_schema import columns_of
from pipeline.tables import read_table
from reproduction.claims.appendix_c import SCORES

MODELS = read_table(ROOT / "config/models.csv")
TABLES = {stem: read_table(ROOT / f"resources/published/{stem}.csv") for stem in PUBLISHED}
CLAIMS = {claim.id: claim for claim in all_claims()}  # and of guest workflows
PAPER = {"models": MODELS, **TABLES}
NAMES = list(MODELS["model"])
GROUP = dict(zip(MODELS["model"], MODELS["group"], strict=True))


def judged(claim, published=TABLES, **tables):
    """Return the Ruling on one claim on made-up tables, whose estimates are uncorrelated."""
    if "bias" in tables and "correlations" not in tables:
        tables["correlations"] = correlations(tables["bias"])
    return CLAIMS[claim].judge(RunTables({"models": MODELS, **published, **tables}))


def correlations(bias, value=0.0):
    """Return table ``correlations``: one value for all pairs of estimates of a table ``bias``."""
    keys = ["experiment", "scenario", "n_samples"]
    if not {*keys, "estimator", "n_bins"} <= {*bias}:
        return pd.DataFrame(columns=columns_of("correlations"))
    rows = bias[[*keys, "estimator", "n_bins"]].reset_index(drop=True).reset_index(names="row")
    pairs = rows.merge(rows, on=keys, suffixes=("_a", "_b"))
    return pairs[pairs["row_a"] < pairs["row_b"]].assign(correlation=value)


SIDES = {}  # {claim: the verdicts that tests show}


def verdicts_of(claim, make, **cases):
    """Return a test that a claim has each verdict on what ``make`` returns for its cases.

    ``cases`` are {verdict: [arguments]}, a tuple or a single argument. ``make`` returns table
    ``bias`` or {table: DataFrame}. Some true and some false: ``test_claims_ledger.py`` wants both
    of each claim. The numbers of two rulings, the first approximate one and the first of the last
    verdict, are compared with claims_measured.yaml in the modules that name it as RECORDED.
    """
    SIDES.setdefault(claim, set()).update(cases)

    def test(request):
        numbers = {}
        for verdict, case in [(name, case) for name in cases for case in cases[name]]:
            tables = make(*case) if isinstance(case, tuple) else make(case)
            tables = tables if isinstance(tables, dict) else {"bias": tables}
            ruling = judged(claim, **tables)
            assert ruling.verdict == verdict, f"case {case}"
            assert 0 < len(ruling.reason) <= 120  # a line of the front page
            assert "; " not in ruling.reason  # which ends the first part of column note
            numbers.setdefault(verdict, numbers_of(ruling))
        if getattr(request.module, "RECORDED", "") == "claims_measured.yaml":
            shown = [numbers[name] for name in cases if name in ("approximate", verdict)]
            request.getfixturevalue("recorded")(request.node.name, shown)

    return test


def numbers_of(ruling):
    """Return the numbers of a ruling: those measured, and those in its reason and notes."""
    measured = [x for m in ruling.measurements for x in m if isinstance(x, float | int | np.number)]
    measured = [f"{x:.4g}" for x in (*measured, ruling.largest_error) if np.isfinite(x)]
    in_words = re.findall(r"\d[\d.]*", " ".join([ruling.reason, *ruling.notes, ruling.models]))
    return " ".join([*measured, "|", *in_words])


def measured(ruling, name, case=""):
    """Return the Measurement of this name and case."""
    (found,) = [m for m in ruling.measurements if (m.name, m.case) == (name, case)]
    return found


def bias_table(*parts):
    """Return a table ``bias`` of several experiments."""
    return pd.concat(parts, ignore_index=True)


def experiment(
    name, bias, estimators, scenarios=NAMES, sizes=MODEL_SIZES, n_bins=(15,), se=0.01, sd=1.0
):
    """Return the rows of an experiment; ``bias``, ``se`` and ``sd`` may be functions of
    (scenario, estimator, n_bins, n)."""
    rows = []
    for scenario, estimator, n in itertools.product(scenarios, estimators, sizes):
        for b in bins_of(estimator, n_bins):
            cell = (scenario, estimator, b, n)
            values = [x(*cell) if callable(x) else x for x in (bias, se, sd)]
            bins = np.nan if b < -1 else b
            rows.append((name, scenario, estimator, bins, n, 1000, 10 + values[0], *values))
    columns = (
        "experiment scenario estimator n_bins n_samples n_replicates mean_estimate_percent "
        "bias_percent bias_se_percent sd_percent"
    )
    return pd.DataFrame(rows, columns=columns.split()).assign(tce_percent=10.0)


def authors(debias=0.505, sweep=0.348, t=5.03, p=4e-6, models=NAMES, replicates=1000):
    """Return the tables of the authors' draws with these numbers of the test."""
    numbers = [
        ("mean_abs_bias_percent", "ece_debias_em", debias, 0.02, 0.504),
        ("mean_abs_bias_percent", "ece_sweep_em", sweep, 0.01, 0.347),
        ("t_statistic", "by cell", t, 0.2, 5.1), ("p_value", "by cell", p, np.nan, np.nan),
        ("gain_percent", "n = 200", 0.5, 0.1, np.nan),
        ("distinct_data_sets", np.nan, 9, np.nan, np.nan),
    ]  # fmt: skip
    draws = experiment("realistic", 1.0, BINNED, scenarios=models).assign(n_replicates=replicates)
    columns = ["quantity", "case", "value", "error", "published"]
    return {"authors_draws": draws, "authors_numbers": pd.DataFrame(numbers, columns=columns)}


def by_name(values, default=3.0):
    """Return a bias that depends on the estimator alone, shrinking slowly with n."""
    return lambda scenario, estimator, b, n: values.get(estimator, default) * (200 / n) ** 0.1


def heatmaps(bias, estimators, sd=1.0):
    """Return the rows of the heat maps."""
    return experiment(
        "heatmaps", bias, estimators, HEATMAP_MODELS, HEATMAP_SIZES, HEATMAP_BINS, sd=sd
    )


def beta_fits(factor=1.0, source="real_logits", softmax="float32_2020"):
    """Return table ``beta_fits``: the parameters of Table 2, alpha times a factor."""
    table = TABLES["roelofs2022_table2_beta_fits"][["model", "alpha", "beta"]]
    published = table[["alpha", "beta"]].add_prefix("published_")
    table = table.join(published).assign(alpha=table["alpha"] * factor)
    distances = {"fit_distance": 0.2, "published_distance": 0.07}
    return table.assign(source=source, softmax=softmax, n_samples=10000, **distances)


def sweep(estimate):
    """Rows of experiment tce_sweep whose mean estimate is ``estimate(tce, scores, n, name)``."""
    rows = []
    for scores, prefix in SCORES.items():
        for n in (200, 5000):
            for name in ("ece_bin_ew", "ece_sweep_em"):
                for k, tce in enumerate(np.linspace(0, 30, 61)):
                    mean = estimate(tce, scores, n, name)
                    rows.append((f"{prefix}{k}", name, n, tce, mean, mean - tce))
    columns = "scenario estimator n_samples tce_percent mean_estimate_percent bias_percent"
    table = pd.DataFrame(rows, columns=columns.split())
    n_bins = table["estimator"].map({"ece_bin_ew": 15, "ece_sweep_em": -1})
    return table.assign(
        experiment="tce_sweep", bias_se_percent=0.01, n_replicates=1000, n_bins=n_bins
    )


ALL = (*BINNED, "kde", "kde_unrooted")
GOOD = {
    "ece_bin_ew": 2.0,
    "ece_bin_em": 1.0,
    "ece_debias_ew": 1.8,
    "ece_debias_em": 0.6,
    "ece_sweep_ew": 2.5,
    "ece_sweep_em": 0.3,
    "kde": 8.0,
    "kde_unrooted": 9.0,
}
