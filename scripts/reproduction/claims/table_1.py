"""R26: which recalibration method an estimator selects (Table 1)."""

import numpy as np

from pipeline.claims.evidence import TABLE_1, on_genuine
from pipeline.claims.measurements import NAN, Measurement, by_case
from pipeline.claims.verdicts import Verdict, claim, worded
from pipeline.scenarios.paper import MODELS
from pipeline.tables.files import is_true

MEASURES = ("ece_bin_ew", "ece_sweep_em")  # in the same order, those of the tables
DEFAULT = "default"
TABLES = "recalibration_selection recalibration recalibration_sensitivity"


@claim("R26", "Table 1", TABLES, "table1_recalibration", real=True)
@worded(
    says=(
        "ECE_bin selects the same recalibration method as the true error for 3 of 10 models, "
        "ECE_sweep for 7 of 10"
    ),
    published="3/10 and 7/10",
    rule=(
        "Models for which the estimator selects the method that the TCE reference selects, real "
        "logits: reproduced if as many as Table 1 ticks, for ECE_bin and for ECE_sweep, "
        "approximate if more for ECE_sweep than for ECE_bin. Needs all ten real files. What "
        "other choices than the default would give is noted."
    ),
    errors="± standard deviation over bootstrap resamples",
)
def sweep_selects_better(evidence):
    _, rows = evidence.of_published_models("recalibration_selection")
    rows = rows[rows["published_agrees"].notna()]  # the two measures of Table 1
    ticks = evidence.tables[TABLE_1]
    agrees, counts, exact = is_true(rows["agrees"]), {}, True
    for name in ("ece_bin", "ece_sweep"):
        of_name = agrees[rows["measure"].str.startswith(name)]
        counts[name], n = int(of_name.sum()), len(of_name)
        ticked = int(ticks[f"{name}_selects_as_tce"].sum())
        exact = exact and counts[name] == ticked
        case, printed = ("", ticked) if n == len(MODELS) else (f"of {n}:", NAN)
        label = f"{name} selects as TCE"
        yield Measurement(label, counts[name], "models", case, published=printed)
    same = (agrees == is_true(rows["published_agrees"])).sum()
    yield Measurement(f"ticks of {len(rows)} as published", same)
    frequency = rows["agreement_frequency"]
    spread = rows.assign(mean=frequency, variance=frequency * (1 - frequency))
    spread = spread.groupby("measure")[["mean", "variance"]].sum()
    expected = {row.Index: (row.mean, np.sqrt(row.variance)) for row in spread.itertuples()}
    yield from by_case("models that agree, mean over bootstrap resamples", expected)
    yield from on_other_networks(evidence)
    yield from choices_notes(evidence)
    verdict = Verdict.of(exact, counts["ece_sweep"] > counts["ece_bin"])
    why = "the claim counts models of ten"
    return (yield from on_genuine(rows, verdict, why_open=why))


def on_other_networks(evidence):
    """Yield for how many other networks each estimator selects as the TCE does."""
    table = evidence.table("recalibration_selection")
    table = table[~table["model"].isin(MODELS) & table["measure"].isin(MEASURES)]
    agrees = is_true(table["agrees"]).groupby(table["measure"]).agg(["sum", "size"])
    for name, (n, of) in agrees.iterrows():
        yield Measurement("other networks: selects as TCE", n, f"of {of} models", name)


def choices_notes(evidence):
    """Yield which open choices change which estimator agrees more, over all models."""
    table = evidence.tables.get("recalibration_sensitivity")
    if table is None:
        return
    wide = table.pivot(index="choice", columns="measure", values="n_agree")
    wide = wide.reindex(index=table["choice"].unique(), columns=list(MEASURES)).dropna()
    if DEFAULT not in wide.index:
        return
    usual, best = MEASURES
    n_models = table.loc[table["choice"] == DEFAULT, "n_models"].max()
    yield (
        f"of {n_models:.0f} models, how many {usual} and {best} agree for under each choice open "
        "to the authors (table recalibration_sensitivity)"
    )
    lead = np.sign(wide[best] - wide[usual])
    for sign, words in ((1, "more often than"), (0, "as often as"), (-1, "less often than")):
        found = wide[lead == sign].itertuples()
        if named := ", ".join(f"{choice} ({a:.0f} and {b:.0f})" for choice, a, b in found):
            yield f"{best} agrees {words} {usual} under {named}"
