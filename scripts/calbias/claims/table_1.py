"""R26: which recalibration method an estimator selects (Table 1)."""

import numpy as np

from calbias.claims.evidence import until_complete
from calbias.claims.measurements import NAN, Measurement, by_case
from calbias.claims.verdicts import claim, verdict_of
from calbias.io.tables import is_true
from calbias.truth.paper import MODELS

MEASURES = ("ece_bin_ew", "ece_sweep_em")  # in the same order, those of the tables
DEFAULT = "default"


@claim(
    "R26",
    "Table 1",
    says="ECE_bin selects the same recalibration method as the true error for 3 of 10 models, "
    "ECE_sweep for 7 of 10",
    published="3/10 and 7/10",
    figures="table1_recalibration",
    tables="recalibration_selection recalibration recalibration_sensitivity",
    needs_real_logits=True,
    rule="Models for which the estimator selects the method that the TCE reference selects, real "
    "logits: reproduced if as many as Table 1 ticks, for ECE_bin and for ECE_sweep, "
    "approximate if more for ECE_sweep than for ECE_bin. Needs all ten real files. What other "
    "choices than the default would give is noted.",
    uncertainty="± standard deviation over bootstrap resamples",
)
def sweep_selects_better(evidence):
    table, rows = evidence.of_published_models("recalibration_selection")
    # the two measures of Table 1
    table, rows = (t[t["published_agrees"].notna()] for t in (table, rows))
    shown = rows if len(rows) else table
    published = published_agreements(evidence)
    agree = {name: agreements(shown, name) for name in published}
    exact = all(agree[name][0] == count for name, count in published.items())
    verdict = verdict_of(exact, agree["ece_sweep"][0] > agree["ece_bin"][0])
    same = (is_true(shown["agrees"]) == is_true(shown["published_agrees"])).sum()
    frequency = shown["agreement_frequency"]
    spread = shown.assign(mean=frequency, variance=frequency * (1 - frequency))
    spread = spread.groupby("measure")[["mean", "variance"]].sum()
    measurements = []
    for name, (k, n) in agree.items():
        case, printed = ("", published[name]) if n == len(MODELS) else (f"of {n}:", NAN)
        name = f"{name} selects as TCE"
        measurements.append(Measurement(name, k, "models", case, published=printed))
    measurements.append(Measurement(f"ticks of {len(shown)} as published", same))
    expected = {row.Index: (row.mean, np.sqrt(row.variance)) for row in spread.itertuples()}
    measurements += by_case("models that agree, mean over bootstrap resamples", expected)
    notes = ["these are surrogates, which the paper's ticks do not bind"] if rows.empty else []
    notes += choices_notes(evidence)
    return until_complete(rows, verdict, measurements, notes, failure_is_final=False)


def published_agreements(evidence):
    """Return {estimator: models that Table 1 ticks}, how often it selects as the TCE does."""
    ticks = evidence.published["roelofs2022_table1_recalibration_selection"]
    return {name: int(ticks[f"{name}_selects_as_tce"].sum()) for name in ("ece_bin", "ece_sweep")}


def agreements(table, name):
    """Return (number of agreements, number of models) of the measures whose name begins so."""
    agrees = is_true(table.loc[table["measure"].str.startswith(name), "agrees"])
    return int(agrees.sum()), len(agrees)


def choices_notes(evidence):
    """Return which open choices change which estimator agrees more, over all models."""
    table = evidence.tables.get("recalibration_sensitivity")
    if table is None or table.empty:
        return []
    wide = table.pivot(index="choice", columns="measure", values="n_agree")
    wide = wide.reindex(index=table["choice"].unique(), columns=list(MEASURES)).dropna()
    if DEFAULT not in wide.index:
        return []
    usual, best = MEASURES
    n_models = table.loc[table["choice"] == DEFAULT, "n_models"].max()
    notes = [
        f"of {n_models:.0f} models, how many {usual} and {best} agree for under each choice open "
        "to the authors (table recalibration_sensitivity)"
    ]
    lead = wide[best] - wide[usual]
    for comparison, found in (
        ("more often than", wide[lead > 0]),
        ("as often as", wide[lead == 0]),
        ("less often than", wide[lead < 0]),
    ):
        named = [f"{c} ({row.iloc[0]:.0f} and {row.iloc[1]:.0f})" for c, row in found.iterrows()]
        if named:
            notes.append(f"{best} agrees {comparison} {usual} under {', '.join(named)}")
    return notes
