"""What to do after an audit: at most three things, the most important first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from calbias.auditing.inputs import EVENT
from calbias.auditing.result import Audit
from calbias.conventions import Z_95

MOST = 3
_TOLERABLE = 0.02  # an upper end of the interval that most uses can live with


def things_to_do(audit: Audit) -> list[str]:
    """Return at most three sentences."""
    return list(islice(_things(audit), MOST))


def _things(audit: Audit) -> Iterator[str]:
    scores = "risks" if audit.kind == EVENT else "scores"
    low, high = audit.interval
    if not audit.miscalibrated:  # without an interval its ends are NaN, and no advice is given
        if high > _TOLERABLE:
            yield (
                f"Get more labels if an error of {100 * high:.1f} % would matter: these rows do "
                "not exclude it. “calbias plan --scores FILE” says how many labels show an error "
                "of a given size."
            )
        if high <= _TOLERABLE:
            yield (
                f"Nothing: an error above {100 * high:.1f} % is unlikely. Leave the {scores} alone."
            )
        return
    helps = recalibration_sentence(audit)
    if helps:
        yield helps
    elif audit.recalibration is None or not len(audit.recalibration):
        yield f"Do not read the {scores} as probabilities: the picture shows where they are off."
    else:
        yield (
            f"Do not read the {scores} as probabilities where the picture shows them off. On these "
            "rows no recalibration lowers the Brier score by more than chance."
        )
    if low < _TOLERABLE < high:
        yield (
            f"Get more labels before you call the error large or small: {100 * _TOLERABLE:g} % is "
            "inside its interval. “calbias plan --scores FILE” says how many a goal takes."
        )
    if helps:
        yield (
            "Fit it on the validation fold, apply it to the test fold, and audit that again."
            if validation_rows(audit)
            else "Judge the recalibrated model on rows that it was not fitted on, and audit it "
            "again."
        )


def recalibration_sentence(audit: Audit) -> str:
    """Return which recalibration helps most, or nothing where none does."""
    best = _best(audit)
    if best is None:
        return ""
    columns = best["brier_before"], best["brier_after"], best["gain"], Z_95 * best["gain_se"]
    before, after, gain, half = (f"{100 * x:.2f}" for x in columns)
    rows = validation_rows(audit)
    how = f"fitted on the {rows} rows of the validation fold" if rows else "cross-validated"
    return (
        f"Recalibrate: {_NAMES[best.name].format(best['parameter'])} lowers the Brier score from "
        f"{before} to {after}, by {gain} ± {half} (times 100, {how})."
    )


def recalibration_code(audit: Audit) -> str:
    """Return lines of Python that make and apply the recalibration that helps most, or nothing."""
    best = _best(audit)
    if best is None:
        return ""
    code = _CODE[best.name].format(best["parameter"])
    if validation_rows(audit) and "fit(" in code:
        return f"# scores, hits: of the validation fold\n{code}"
    return code


def validation_rows(audit: Audit) -> int:
    """Return the rows of the validation fold that recalibration was fitted on, or 0."""
    table = audit.recalibration
    return 0 if table is None or not len(table) else int(table["validation_rows"].iloc[0])


def _best(audit: Audit) -> Any:
    """Return the row of the best method that helps, or None."""
    table = audit.recalibration
    if table is None or not len(table) or not table["helps"].any():
        return None
    return table[table["helps"]].iloc[0]


_NAMES = {
    "shift": "adding {:.2f} to the log odds of each score",
    "platt": "Platt scaling",
    "isotonic": "isotonic regression",
    "temperature": "temperature scaling (logits divided by {:.3g})",
}
_LOG_ODDS = (  # of scores that may be exactly 0 or 1
    "from scipy.special import expit, logit\n"
    "x = lambda s: logit(s.astype(float).clip(1e-12, 1 - 1e-12))\n"
)
_CODE = {
    "shift": _LOG_ODDS + "recalibrated = expit(x(new_scores) + {:.4f})",
    "platt": (
        "from sklearn.linear_model import LogisticRegression\n"
        + _LOG_ODDS
        + "platt = LogisticRegression(C=1e9).fit(x(scores)[:, None], hits)\n"
        "recalibrated = platt.predict_proba(x(new_scores)[:, None])[:, 1]"
    ),
    "isotonic": (
        "from sklearn.isotonic import IsotonicRegression\n"
        'isotonic = IsotonicRegression(out_of_bounds="clip").fit(scores, hits)\n'
        "recalibrated = isotonic.predict(new_scores)"
    ),
    "temperature": (
        "from scipy.special import softmax\nrecalibrated = softmax(new_logits / {:.4f}, axis=1)"
    ),
}
