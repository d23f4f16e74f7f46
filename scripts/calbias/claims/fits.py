"""R06 to R08: the fits to the ten models (§6, Figure 3, Tables 2 to 4)."""

import numpy as np

from calbias.claims.judgement import CLEAR, NEEDS_REAL_LOGITS, NotJudged, Rule, verdict_of
from calbias.claims.real_logits import real_rows, softmax_note, until_complete
from calbias.claims.table_3 import aic_contradictions, published_winners
from calbias.fits.standard_errors import rows_with_table3_errors
from calbias.io.tables import is_true
from calbias.truth.published_fits import HALF_LAST_DIGIT_BETA

BETA_TOLERANCE, BETA_LOOSE = 0.002, 0.05
MOST, MANY = 0.95, 0.75
REAL_TOLERANCE, REAL_LOOSE = 0.02, 0.5
SIMULATED_TOLERANCE, SIMULATED_LOOSE = 0.5, 2.0


def beta_parameters(evidence):
    """R06: relative difference of the fitted Beta parameters to Table 2, real logits only."""
    table = evidence.table("beta_fits")
    rows = real_rows(evidence, table)
    off = relative(rows, "alpha").combine(relative(rows, "beta"), np.maximum)
    others = table[~table.index.isin(rows.index)]
    words = [f"{len(rows)} of 10 models are real"]
    if len(rows):
        words.append(
            f"largest relative difference {off.max():.2%} ({rows.loc[off.idxmax(), 'model']})"
        )
    elif len(others):
        check = [relative(others, name).max() for name in ("alpha", "beta")]
        words.append(
            f"surrogates drawn from Table 2 give it back within {check[0]:.1%} in alpha and "
            f"{check[1]:.1%} in beta: a check of the pipeline, not of the paper"
        )
    return until_complete(
        evidence,
        rows,
        verdict_of((off <= BETA_TOLERANCE).all(), (off <= BETA_LOOSE).all()),
        "; ".join(words),
        f"rounding of the printed parameters: {rounding(evidence):.2%} at most",
        softmax_note(rows),
    )


def rounding(evidence):
    """Return the largest relative rounding error of Table 2's parameters, printed to 0.0001."""
    table = evidence.published["roelofs2022_table2_beta_fits"]
    return HALF_LAST_DIGIT_BETA / table[["alpha", "beta"]].abs().min(axis=None)


def relative(rows, name):
    """Return |fitted − published| / published of a parameter."""
    return (rows[name] - rows[f"published_{name}"]).abs() / rows[f"published_{name}"].abs()


def glm_parameters(evidence):
    """R07: coefficients, AICs and winners against Table 3, real logits only."""
    table, beta_fits = evidence.table("glm_fits"), evidence.table("beta_fits")
    winners = published_winners(evidence)
    rows = real_rows(evidence, table)
    selected = (rows if len(rows) else table).pipe(lambda t: t[is_true(t["selected"])])
    other = [row for row in selected.itertuples() if winners.get(row.model) != row.glm]
    verdict, uncertainty, notes = NEEDS_REAL_LOGITS, "", [aic_contradictions(evidence)]
    if len(rows):
        apart = errors_apart(rows, real_rows(evidence, beta_fits))
        close = np.mean(np.abs(apart) <= CLEAR)
        verdict = verdict_of(not other and close >= MOST, close >= MANY)
        words = (
            f"{len(selected)} of 10 models are real: {close:.0%} of {len(apart)} numbers within "
            f"{CLEAR:g} standard errors, {len(selected) - len(other)} of {len(selected)} "
            "selections the same"
        )
        uncertainty = f"median distance {np.median(np.abs(apart)):.1f} standard errors"
        notes += [winner_words(rows, winners, other), softmax_note(real_rows(evidence, beta_fits))]
    else:
        words = (
            f"0 of 10 models are real; surrogates drawn from the published winners select them "
            f"again for {len(selected) - len(other)} of {len(selected)}: a check of the pipeline, "
            "not of the paper"
        )
    return until_complete(
        evidence,
        rows,
        verdict,
        words,
        uncertainty,
        "; ".join(note for note in notes if note),
        failure_is_final=False,
    )


def errors_apart(rows, beta_fits):
    """Return (fitted − published) / standard error, (m,), of every printed number of Table 3."""
    apart = [
        (row[name] - row[f"published_{name}"]) / error
        for row, errors in rows_with_table3_errors(beta_fits, rows)
        for name, error in errors.items()
        if np.isfinite(row[f"published_{name}"])
    ]
    if not apart:
        raise NotJudged("table beta_fits lacks the models of glm_fits")
    return np.array(apart)


def winner_words(rows, winners, other):
    """Return how far behind the published winner is where another GLM is selected, as text."""
    delta = rows.set_index(["model", "glm"])["delta_aic"]
    if not other:
        return ""
    return "AIC of the published winner above that of the selected: " + ", ".join(
        f"{row.model} {delta[row.model, winners[row.model]]:.1f} ({winners[row.model]}, selected "
        f"{row.glm})"
        for row in other
    )


def real_and_simulated(evidence):
    """R08: both columns of Table 4."""
    table = evidence.table("ece_bin_real_and_simulated")
    table = table[table["model"].isin(evidence.published_models())]
    rows = real_rows(evidence, table)
    simulated = off_by(table, "mean_simulated_ece_bin_percent", "published_simulated_percent")
    real = off_by(rows, "ece_bin_percent", "published_ece_bin_percent")
    sources = " + ".join(dict.fromkeys(table["simulated_source"]))
    words = [
        f"simulated column ({sources}): off by up to {simulated.max():.2f}, "
        f"{simulated.mean():.2f} on average, percentage points"
    ]
    verdict = NEEDS_REAL_LOGITS
    if len(rows):
        gap = off_by(rows, "ece_bin_percent", "mean_simulated_ece_bin_percent")
        words.insert(
            0, f"real column, {len(rows)} of 10 models: off by up to {real.max():.3f} points"
        )
        words.append(f"real against simulated {gap.mean():.2f} on average")
        of_real = simulated[table["model"].isin(rows["model"])]
        verdict = verdict_of(
            real.max() <= REAL_TOLERANCE and of_real.max() <= SIMULATED_TOLERANCE,
            real.max() <= REAL_LOOSE and of_real.max() <= SIMULATED_LOOSE,
        )
    return until_complete(
        evidence,
        rows,
        verdict,
        "; ".join(words),
        f"Monte Carlo standard error of a simulated value ≤ "
        f"{table['simulated_se_percent'].max():.3f}; the fits' rounding moves it more, see "
        "tce_rounding",
        ""
        if simulated.max() <= SIMULATED_TOLERANCE
        else "the simulated column differs most for "
        + ", ".join(table.loc[simulated > SIMULATED_TOLERANCE, "model"])
        + "; the published one rests on refits on the validation fold, which are not printed",
    )


def off_by(rows, a, b):
    """Return |a − b| of two columns."""
    return (rows[a] - rows[b]).abs()


RULES = {
    "R06": Rule(
        f"Beta parameters of real logits: reproduced if all are within {BETA_TOLERANCE:.1%} of "
        f"Table 2, approximate within {BETA_LOOSE:.0%}. Needs all ten real files, unless one "
        "already fails.",
        beta_parameters,
    ),
    "R07": Rule(
        "Fits of real logits against Table 3, whose numbers are means over ten bootstrap "
        f"resamples: reproduced if every model selects the GLM with the lowest published AIC, and "
        f"at least {MOST:.0%} of the coefficients and AICs are within {CLEAR:g} standard errors of "
        f"such a mean; approximate if at least {MANY:.0%} are. Needs all ten real files.",
        glm_parameters,
    ),
    "R08": Rule(
        f"Reproduced if ECE_bin of every model's real validation fold is within "
        f"{REAL_TOLERANCE:g} points of Table 4 and the simulated mean within "
        f"{SIMULATED_TOLERANCE:g}; approximate within {REAL_LOOSE:g} and {SIMULATED_LOOSE:g}. "
        "Needs all ten real files, unless one already fails.",
        real_and_simulated,
    ),
}
