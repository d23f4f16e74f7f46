"""R06, R07 and R38: the fits to the ten models (section 6, Tables 2 and 3)."""

import numpy as np
import pandas as pd

from calbias.truth.curves import LINKS_AND_TRANSFORMS
from pipeline.claims.claim import claim
from pipeline.claims.run_tables import TABLE_2, TABLE_3, RunTables, on_genuine
from pipeline.claims.verdicts import CLEAR, Measurement, NotJudged, Ruling, Verdict
from pipeline.scenarios import HALF_LAST_DIGIT_BETA
from pipeline.tables import is_true
from reproduction.standard_errors import rows_with_table3_errors

BETA_TOLERANCE, BETA_LOOSE = 0.002, 0.05
MOST, MANY = 0.95, 0.75
GLM_TABLES = "glm_fits_float32_2020 beta_fits_float32_2020 comparison"
NESTED_SLACK = 2.0  # a superset has one more parameter: AIC + 2 at most, if both are optima


@claim("R06", "Table 2", "beta_fits_float32_2020 comparison", "fig3_fits", real=True)
def beta_parameters(run: RunTables) -> Ruling:
    """The Beta parameters of the ten models' scores.

    published: Table 2, ten pairs
    rule: Beta parameters of real logits: reproduced if all are within {BETA_TOLERANCE:.1%} of Table
    2, approximate within {BETA_LOOSE:.0%}. Fits use the scores that the paper used, those of
    softmax float32_2020. {EACH}
    errors: rounding of the printed parameters
    """
    rows = run.as_published("beta_fits")
    off = pd.DataFrame({x: off_by(rows, x, relative=True) for x in ("alpha", "beta")})
    measurements = [Measurement("models with real logits, of 10", len(rows))]
    if len(rows):
        worst = rows.loc[off.max(axis=1).idxmax(), "model"]
        name = "largest relative difference to Table 2"
        measurements.append(Measurement(name, 100 * off.max(axis=None), "percent", worst))
    printed = run.tables[TABLE_2][["alpha", "beta"]]
    rounding = 100 * HALF_LAST_DIGIT_BETA / printed.abs().min(axis=None)
    name = "largest rounding of the printed parameters"
    measurements.append(Measurement(name, rounding, "percent"))
    verdict = Verdict.of((off <= BETA_TOLERANCE).all(axis=None), (off <= BETA_LOOSE).all(axis=None))
    reason = f"off by up to {off.max(axis=None):.2%} of the printed parameters"
    return on_genuine(rows, verdict, measurements, softmax_notes(rows), reason)


@claim("R07", "Table 3", GLM_TABLES, "fig3_fits", real=True)
def glm_parameters(run: RunTables) -> Ruling:
    """The coefficients and AICs of the twelve GLMs.

    published: Table 3, 120 rows
    rule: Fits of real logits against Table 3, whose numbers are means over ten bootstrap resamples:
    reproduced if at least {MOST:.0%} of the coefficients and AICs are within {CLEAR:g} standard
    errors of such a mean, approximate if at least {MANY:.0%} are. Fits use the scores that the
    paper used, those of softmax float32_2020. {EACH}
    errors: standard errors are those of Table 3's means over ten resamples
    """
    rows = run.as_published("glm_fits")
    beta_fits = run.as_published("beta_fits")
    measurements = [Measurement("models with real logits, of 10", rows["model"].nunique())]
    notes = aic_contradictions(run)
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
    reason = f"{close:.0%} of the numbers are within {CLEAR:g} standard errors"
    verdict = Verdict.of(close >= MOST, close >= MANY)
    return on_genuine(rows, verdict, measurements, notes + softmax_notes(beta_fits), reason)


@claim("R38", "§6, Table 3", GLM_TABLES, "fig3_fits", real=True)
def selected_glms(run: RunTables) -> Ruling:
    """The GLM of lowest AIC, which stands for the calibration curve of a model.

    published: Table 3, the first row of each model
    rule: Fits of real logits, of the scores that the paper used (softmax float32_2020): reproduced
    if every model selects the GLM of lowest published AIC, approximate if most do. {EACH}
    errors: none; Table 3's AICs are means over resamples drawn for each GLM alone, so that its
    order is partly chance
    """
    rows = run.as_published("glm_fits")
    printed = run.printed_fits()
    winners = {model: fit.scenario().curve.name for model, fit in printed.items()}
    selected = rows[is_true(rows["selected"])].set_index("model")["glm"]
    same = selected == selected.index.map(winners)
    delta = rows.set_index(["model", "glm"])["delta_aic"]
    behind = [
        f"{model} {delta[model, winners[model]]:.1f} ({winners[model]}, selected {selected[model]})"
        for model in selected.index[~same]
    ]
    measurements = [
        Measurement(f"models of {len(selected)} that select the published winner", same.sum())
    ]
    notes = []
    if behind:
        notes.append(f"AIC of the published winner above that of the selected: {', '.join(behind)}")
    reason = f"{same.sum()} of {len(same)} models select the published GLM"
    verdict = Verdict.of(same.all(), same.mean() > 0.5)
    return on_genuine(rows, verdict, measurements, notes, reason)


def aic_contradictions(run: RunTables) -> list[str]:
    """Return where the published AICs cannot be optima of one data set (nested or equal models)."""
    table = run.tables[TABLE_3]
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
