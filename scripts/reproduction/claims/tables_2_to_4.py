"""R06 to R08: the fits to the ten models (section 6, Tables 2 to 4)."""

import numpy as np
import pandas as pd

from calbias.truth.curves import LINKS_AND_TRANSFORMS
from pipeline.claims.grounds import (
    EACH,
    TABLE_2,
    TABLE_3,
    Grounds,
    enough_replicates,
    on_genuine,
)
from pipeline.claims.verdicts import (
    CLEAR,
    POINTS,
    Measurement,
    NotJudged,
    Ruling,
    Verdict,
    by_case,
    claim,
)
from pipeline.logits import REAL_SCORES
from pipeline.scenarios import HALF_LAST_DIGIT_BETA
from pipeline.tables import is_true
from reproduction.claims.authors import of_ece_bin, of_fits
from reproduction.standard_errors import rows_with_table3_errors

BETA_TOLERANCE, BETA_LOOSE = 0.002, 0.05
MOST, MANY = 0.95, 0.75
REAL_TOLERANCE, SIMULATED_TOLERANCE = 0.02, 0.5
SIMULATED_SIZE = 1000
NESTED_SLACK = 2.0  # a superset has one more parameter: AIC + 2 at most, if both are optima
TABLES_OF_R08 = "ece_bin_real_and_simulated comparison tce_rounding"


@claim(
    "R06",
    "Table 2",
    "beta_fits comparison",
    "fig3_fits",
    says="The Beta parameters of the ten models' scores",
    published="Table 2, ten pairs",
    rule=(
        f"Beta parameters of real logits: reproduced if all are within {BETA_TOLERANCE:.1%} of "
        f"Table 2, approximate within {BETA_LOOSE:.0%}. Fits use the scores that the paper used, "
        f"those of softmax float32_2020. {EACH}"
    ),
    errors="rounding of the printed parameters",
    real=True,
)
def beta_parameters(grounds: Grounds) -> Ruling:
    rows = grounds.as_published("beta_fits")
    off = pd.DataFrame({x: off_by(rows, x, relative=True) for x in ("alpha", "beta")})
    measurements = [Measurement("models with real logits, of 10", len(rows))]
    if len(rows):
        worst = rows.loc[off.max(axis=1).idxmax(), "model"]
        name = "largest relative difference to Table 2"
        measurements.append(Measurement(name, 100 * off.max(axis=None), "percent", worst))
    printed = grounds.tables[TABLE_2][["alpha", "beta"]]
    rounding = 100 * HALF_LAST_DIGIT_BETA / printed.abs().min(axis=None)
    name = "largest rounding of the printed parameters"
    measurements.append(Measurement(name, rounding, "percent"))
    verdict = Verdict.of((off <= BETA_TOLERANCE).all(axis=None), (off <= BETA_LOOSE).all(axis=None))
    reason = f"off by up to {off.max(axis=None):.2%} of the printed parameters"
    return on_genuine(rows, verdict, measurements, softmax_notes(rows), reason)


@claim(
    "R07",
    "Table 3",
    "glm_fits comparison",
    "fig3_fits",
    says="The coefficients, AICs and selected model of the twelve GLMs",
    published="Table 3, 120 rows",
    rule=(
        "Fits of real logits against Table 3, whose numbers are means over ten bootstrap "
        "resamples: reproduced if every model selects the GLM with the lowest published AIC, and "
        f"at least {MOST:.0%} of the coefficients and AICs are within {CLEAR:g} standard errors "
        f"of such a mean; approximate if at least {MANY:.0%} are. {EACH}"
    ),
    errors="standard errors are those of Table 3's means over ten resamples",
    real=True,
)
def glm_parameters(grounds: Grounds) -> Ruling:
    rows = grounds.as_published("glm_fits")
    beta_fits = grounds.as_published("beta_fits")
    printed = grounds.printed_fits()
    winners = {model: fit.scenario().curve.name for model, fit in printed.items()}
    selected = rows[is_true(rows["selected"])]
    other = [row for row in selected.itertuples() if winners.get(row.model) != row.glm]
    name = f"models of {len(selected)} that select the published winner"
    measurements = [
        Measurement("models with real logits, of 10", rows["model"].nunique()),
        Measurement(name, len(selected) - len(other)),
    ]
    measurements += of_fits(grounds)
    notes = aic_contradictions(grounds)
    if rows.empty:
        return on_genuine(rows, Verdict.NEEDS_REAL_LOGITS, measurements, notes)
    apart = [
        abs(row[name] - row[f"published_{name}"]) / error
        for row, errors in rows_with_table3_errors(beta_fits, rows)
        for name, error in errors.items()
        if np.isfinite(row[f"published_{name}"])
    ]
    if not apart:
        raise NotJudged("table beta_fits lacks the models of glm_fits")
    close = float(np.mean(np.array(apart) <= CLEAR))
    within = f"numbers of {len(apart)} within {CLEAR:g} standard errors"
    measurements += [
        Measurement(within, 100 * close, "percent"),
        Measurement("median distance", float(np.median(apart)), "standard errors"),
    ]
    delta = rows.set_index(["model", "glm"])["delta_aic"]
    behind = ", ".join(
        f"{row.model} {delta[row.model, winners[row.model]]:.1f} ({winners[row.model]}, "
        f"selected {row.glm})"
        for row in other
    )
    if behind:
        notes.append(f"AIC of the published winner above that of the selected: {behind}")
    verdict = Verdict.of(not other and close >= MOST, close >= MANY)
    reason = (
        f"{len(selected) - len(other)} of {len(selected)} select the published GLM, {close:.0%} of "
        f"the numbers are within {CLEAR:g} standard errors"
    )
    return on_genuine(rows, verdict, measurements, notes + softmax_notes(beta_fits), reason)


def aic_contradictions(grounds: Grounds) -> list[str]:
    """Return where the published AICs cannot be optima of one data set (nested or equal models)."""
    table = grounds.tables[TABLE_3]
    aic = table.pivot(index="model", columns="glm", values="aic")
    pairs = [f"{link}_{transform}" for link, transform in LINKS_AND_TRANSFORMS]
    nested = [aic[f"{p}_b0_b1"] - aic[f"{p}_{one}"] for p in pairs for one in ("b0", "b1")]
    excess = np.concatenate(nested)
    broken = excess > NESTED_SLACK
    spread = np.ptp(aic[[f"{p}_b0" for p in pairs]], axis=1)
    words = []
    if broken.any():
        words.append(
            f"{broken.sum()} of {excess.size} times a nested model has the lower AIC by more than "
            f"{NESTED_SLACK:g} (up to {excess.max():.1f})"
        )
    if spread.max() > 0.01:
        words.append(
            f"the four intercept-only rows, one model, differ by {spread.min():.0f} to "
            f"{spread.max():.0f}"
        )
    if not words:
        return []
    return [
        f"the published AICs cannot be optima on one data set: {'; '.join(words)} (they are means "
        "over resamples drawn separately per model)"
    ]


@claim(
    "R08",
    "Table 4, Fig 3c",
    TABLES_OF_R08,
    "fig3_fits",
    says="ECE_bin of the real models is close to that of data simulated from their fits",
    published="6.15–23.12 % real, 6.87–19.69 % simulated",
    rule=(
        "ECE_bin of a model's real validation fold and the mean over data simulated from its fits. "
        "Close is what the paper calls so: the two differ by at most the largest difference of "
        f"Table 4's columns and {SIMULATED_TOLERANCE:g} points. Reproduced if they are close for "
        f"every model, the real ECE_bin is within {REAL_TOLERANCE:g} points of Table 4 and the "
        f"simulated mean within {SIMULATED_TOLERANCE:g}; approximate if they are close. {EACH}"
    ),
    errors=(
        "Monte Carlo standard error of a simulated value; the fits' rounding moves it more, see "
        "tce_rounding"
    ),
    real=True,
)
def real_and_simulated(grounds: Grounds) -> Ruling:
    table, rows = grounds.of_published_models("ece_bin_real_and_simulated")
    _validate_simulation(grounds.tables.get("bias"))
    scored = table[table["source"] == REAL_SCORES]
    simulated = off_by(table, "mean_simulated_ece_bin_percent", "published_simulated_percent")
    real = off_by(rows, "ece_bin_percent")
    gaps = off_by(rows, "ece_bin_percent", "mean_simulated_ece_bin_percent")
    printed_gaps = off_by(table, "published_ece_bin_percent", "published_simulated_percent")
    differences = {"largest": simulated.max(), "mean": simulated.mean()}
    source = " + ".join(dict.fromkeys(table["simulated_source"]))
    name = f"simulated column ({source}), difference to Table 4"
    measurements, notes = by_case(name, differences, POINTS), []
    if len(rows):
        name = f"real column, {len(rows)} of 10 models, largest difference to Table 4"
        measurements.insert(0, Measurement(name, real.max(), POINTS))
        name = "real against simulated, mean difference"
        measurements.append(Measurement(name, gaps.mean(), POINTS))
    if far := ", ".join(table.loc[simulated > SIMULATED_TOLERANCE, "model"]):
        notes.append(
            f"the simulated column differs most for {far}; the published one rests on refits on "
            "the validation fold, which are not printed"
        )
    for row in scored.itertuples():
        values = row.ece_bin_test_percent, "percent", row.model
        printed = row.published_ece_bin_percent
        name = "ECE_bin of genuine scores, test fold"
        measurements.append(Measurement(name, *values, published=printed))
    if len(scored):
        gap = off_by(scored, "ece_bin_test_percent", "mean_simulated_ece_bin_percent").mean()
        name = "genuine scores against simulated, mean difference"
        measurements.append(Measurement(name, gap, POINTS))
        notes.append(
            "genuine scores are those of the test fold, where Table 4 used other rows: they show "
            "the gap to simulated data and decide nothing about the printed digits"
        )
    measurements += of_ece_bin(grounds)
    of_real = simulated[table["model"].isin(rows["model"])]
    close = gaps.max() <= printed_gaps.max() + SIMULATED_TOLERANCE
    as_printed = real.max() <= REAL_TOLERANCE and of_real.max() <= SIMULATED_TOLERANCE
    reason = (
        f"simulated means differ from Table 4 by up to {of_real.max():.1f} points (from real ones "
        f"by {gaps.max():.1f})"
    )
    verdict = Verdict.of(close and as_printed, close)
    ruling = on_genuine(rows, verdict, measurements, notes, reason)
    source = REAL_SCORES if len(scored) and rows.empty else ruling.source
    return ruling._replace(source=source, largest_error=table["simulated_se_percent"].max())


def _validate_simulation(bias: pd.DataFrame | None) -> None:
    """Raise NotJudged if the run simulated Table 4 with other sizes or too few data sets."""
    if bias is None:
        return
    rows = enough_replicates(bias[bias["experiment"] == "fits"], "fits")
    if other := sorted({*rows["n_samples"]} - {SIMULATED_SIZE}):
        raise NotJudged(f"experiment fits has n = {other[0]}; Table 4 has {SIMULATED_SIZE}")


def off_by(
    rows: pd.DataFrame, column: str, other: str | None = None, relative: bool = False
) -> pd.Series:
    """Return |a − b| of two columns, the second the published one; or that over |b|."""
    other = other or f"published_{column}"
    difference = (rows[column] - rows[other]).abs()
    return difference / rows[other].abs() if relative else difference


def softmax_notes(rows: pd.DataFrame) -> list[str]:
    """Return a note where real fits did not use the softmax of the published ones."""
    other = [name for name in dict.fromkeys(rows["softmax"]) if name != "float32_2020"]
    return [
        f"these fits used softmax {name}; the published ones used the rounded float32 scores "
        "of softmax float32_2020, where scores equal to 1 were shifted or dropped: set it in the "
        "config to compare"
        for name in other[:1]
    ]
