"""R26: which recalibration method an estimator selects (Table 1)."""

import numpy as np

from calbias.claims.judgement import Rule, verdict_of
from calbias.claims.real_logits import real_rows, until_complete
from calbias.io.tables import is_true

MEASURES = ("ece_bin_ew", "ece_sweep_em")  # in the same order, those of the tables
DEFAULT = "default"


def sweep_selects_better(evidence):
    """R26: agreements with the TCE reference, for ECE_bin and ECE_sweep."""
    table = evidence.table("recalibration_selection")
    table = table[table["published_agrees"].notna()]  # the two measures of Table 1
    rows = real_rows(evidence, table)
    shown = rows if len(rows) else table
    published = published_agreements(evidence)
    agree = {name: agreements(shown, name) for name in published}
    same = (is_true(shown["agrees"]) == is_true(shown["published_agrees"])).sum()
    source = "real logits" if len(rows) else "surrogates, which the paper's ticks do not bind"
    exact = all(agree[name][0] == wanted for name, wanted in published.items())
    verdict = verdict_of(exact, agree["ece_sweep"][0] > agree["ece_bin"][0])
    frequency = shown["agreement_frequency"]
    spread = shown.assign(mean=frequency, variance=frequency * (1 - frequency))
    spread = spread.groupby("measure")[["mean", "variance"]].sum()
    return until_complete(
        evidence,
        rows,
        verdict,
        ", ".join(f"{name} {k}/{n}" for name, (k, n) in agree.items())
        + f" models ({source}); {same} of {len(shown)} ticks as published",
        "models that agree, mean ± standard deviation over bootstrap resamples: "
        + ", ".join(
            f"{row.Index} {row.mean:.1f} ± {np.sqrt(row.variance):.1f}"
            for row in spread.itertuples()
        ),
        choices_words(evidence),
        failure_is_final=False,
    )


def published_agreements(evidence):
    """Return {estimator: models that Table 1 ticks}, how often it selects as the TCE does."""
    ticks = evidence.published["roelofs2022_table1_recalibration_selection"]
    return {name: int(ticks[f"{name}_selects_as_tce"].sum()) for name in ("ece_bin", "ece_sweep")}


def agreements(table, name):
    """Return (number of agreements, number of models) of the measures whose name begins so."""
    agrees = is_true(table.loc[table["measure"].str.startswith(name), "agrees"])
    return int(agrees.sum()), len(agrees)


def choices_words(evidence):
    """Return which choices open to the authors change which estimator agrees more, as text.

    Counts are over all models of the run, real and surrogate.
    """
    table = evidence.tables.get("recalibration_sensitivity")
    if table is None or table.empty:
        return ""
    wide = table.pivot(index="choice", columns="measure", values="n_agree")
    wide = wide.reindex(index=table["choice"].unique(), columns=list(MEASURES)).dropna()
    if DEFAULT not in wide.index:
        return ""
    lead = wide[MEASURES[1]] - wide[MEASURES[0]]
    words = []
    for comparison, found in (
        ("more often than", wide[lead > 0]),
        ("as often as", wide[lead == 0]),
        ("less often than", wide[lead < 0]),
    ):
        named = [f"{c} ({row.iloc[0]:.0f} and {row.iloc[1]:.0f})" for c, row in found.iterrows()]
        if named:
            words.append(f"{comparison} {MEASURES[0]} under {', '.join(named)}")
    n_models = table.loc[table["choice"] == DEFAULT, "n_models"].max()
    return (
        f"of {n_models:.0f} models, how many {' and '.join(MEASURES)} agree for under each choice "
        f"open to the authors (table recalibration_sensitivity); {MEASURES[1]} agrees "
        + f"; {MEASURES[1]} agrees ".join(words)
    )


RULES = {
    "R26": Rule(
        "Models for which the estimator selects the method that the TCE reference selects, real "
        "logits: reproduced if as many as Table 1 ticks, for ECE_bin and for ECE_sweep, "
        "approximate if more for ECE_sweep than for ECE_bin. Needs all ten real files. What other "
        "choices than the default would give is noted.",
        sweep_selects_better,
    ),
}
