"""What to do after an audit: at most three things, the most important first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from calbias.auditing.inputs import EVENT
from calbias.auditing.result import Audit
from calbias.auditing.verdict.finding import digits_of
from calbias.conventions import Z_95

MOST = 3
_TOLERABLE, _OF_RARER = 0.02, 0.2  # an error that most uses can live with; of the rarer outcome
_WIDE = 0.1  # an upper end that excludes little
_PLAN = "“calbias plan --scores FILE” says how many labels show an error of a given size."


def things_to_do(audit: Audit) -> list[str]:
    """Return at most three sentences."""
    return list(islice(_things(audit), MOST))


def _things(audit: Audit) -> Iterator[str]:
    scores = "risks" if audit.kind == EVENT else "scores"
    (low, high), most = audit.interval, tolerable(audit)
    upper = f"{100 * high:.{digits_of(high - low)}f} %"
    if not audit.miscalibrated:
        if high <= most:
            yield f"Nothing: an error above {upper} is unlikely. Leave the {scores} alone."
        elif high > _WIDE:
            yield f"Get more labels: these rows do not exclude an error of {upper}. {_PLAN}"
        else:
            yield (
                f"Get more labels if an error of {upper} would matter: these rows do not exclude "
                f"it. {_PLAN}"
            )
        return
    if _is_reversed(audit):
        outcome = "events" if audit.kind == EVENT else "hits"
        yield (
            f"Check labels and columns first: rows of higher {scores[:-1]} have fewer {outcome}."
        )
        return
    if high <= most:
        yield (
            f"The error is small: more than {upper} is unlikely. Recalibrate only where smaller "
            "errors matter."
        )
    if audit.subgroups is not None and (segment := audit.subgroups.clearest):
        yield (
            f"Look at the rows where {segment} first: one recalibration of all rows does not mend "
            "the fault of a subgroup."
        )
    yield recalibration_sentence(audit)
    if low < most < high:
        yield (
            f"Get more labels before you call the error large or small: {100 * most:.2g} % is "
            f"inside its interval. {_PLAN}"
        )
    if _best(audit) is not None:
        yield (
            "Fit it on the validation fold, apply it to the test fold, and audit that again."
            if validation_rows(audit)
            else "Judge the recalibrated model on rows that it was not fitted on, and audit it "
            "again."
        )


def tolerable(audit: Audit) -> float:
    """Return the error that most uses can live with: 2 points, or a fifth of rarer outcomes."""
    mean = float(audit.description["mean_score"] or 0)
    return min(_TOLERABLE, _OF_RARER * min(mean, 1.0 - mean))


def _is_reversed(audit: Audit) -> bool:
    """Return whether the verdict states a slope that is clearly below 0."""
    found = (audit.verdict.finding, audit.verdict.second)
    return any(f.kind == "line" and f.is_reversed for f in found if f)


def recalibration_sentence(audit: Audit) -> str:
    """Return which recalibration helps most, or what was tried."""
    scores, table = "risks" if audit.kind == EVENT else "scores", audit.recalibration
    if table is None or not len(table):
        return f"Do not read the {scores} as probabilities: the picture shows where they are off."
    best = _best(audit)
    if best is None:
        tried = [_KINDS[name] for name in _KINDS if name in table.index]
        lowers = f"neither {' nor '.join(tried)} lowers"
        if len(tried) == 1:
            lowers = f"{tried[0]}, the only method for so few hits or misses, does not lower"
        return (
            f"Do not read the {scores} as probabilities where the picture shows them off. On these "
            f"rows {lowers} the Brier score by more than chance."
        )
    gain, half = 100 * best["gain"], 100 * Z_95 * best["gain_se"]
    digits = max(digits_of(half / 100), 2)
    columns = 100 * best["brier_before"], 100 * best["brier_after"], gain, half
    before, after, by, reach = (f"{x:.{digits}f}" for x in columns)
    rows = validation_rows(audit)
    how = f"fitted on the {rows} rows of the validation fold" if rows else "cross-validated"
    what = _NAMES[best.name].format(best["parameter"], scores[:-1]).replace("-", "−")
    change = f"from {before} to {after}, by {by} ± {reach} (times 100, {how})"
    if best["helps"]:
        return f"Recalibrate: {what} lowers the Brier score {change}."
    return (
        f"Recalibrate: {what} makes the {scores} right on average. It lowers the Brier score "
        f"{change}, which may be chance."
    )


def recalibration_code(audit: Audit) -> str:
    """Return lines of Python that make and apply the recalibration that helps most, or nothing."""
    best = _best(audit)
    if best is None or _is_reversed(audit):
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
    """Return the row of the best method that helps; for a mere shift, of the shift; or None."""
    table = audit.recalibration
    if table is None or not len(table):
        return None
    if table["helps"].any():
        return table[table["helps"]].iloc[0]
    is_shift = audit.verdict.finding.kind == "level" and audit.verdict.second is None
    return table.loc["shift"] if is_shift and table.loc["shift", "gain"] > 0 else None


_KINDS = {
    "shift": "a shift", "platt": "Platt scaling", "isotonic": "isotonic regression",
    "temperature": "temperature scaling",
}  # fmt: skip
_NAMES = {
    "shift": "adding {:.2f} to the log odds of each {}",
    "platt": "Platt scaling",
    "isotonic": "isotonic regression",
    "temperature": "temperature scaling (logits divided by {:.3g})",
}
_LOG_ODDS = (  # of scores that may be exactly 0 or 1
    "from scipy.special import expit, logit\n"
    "x = lambda s: logit(s.astype(float).clip(1e-12, 1 - 1e-12))\n"
)
_CODE = {
    "shift": _LOG_ODDS + "recalibrated = expit(x(new_scores) {:+.4f})",
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
