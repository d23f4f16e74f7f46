"""What to do after an audit: at most three things, the most important first."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from scipy.special import expit

from calbias.auditing.audit_result import AuditNumbers
from calbias.auditing.data import EVENT
from calbias.auditing.error.within import rows_to_decide
from calbias.auditing.recalibrations import FEWEST
from calbias.auditing.subgroups.subgroups import Subgroups
from calbias.auditing.verdict.words import digits_of
from calbias.defaults import MISCALIBRATED, SIGNIFICANT, Z_95
from calbias.recalibration.logistic import logits_of
from calbias.recalibration.methods import NONE, OF_LOGITS

MOST = 3
_TOLERABLE, _OF_RARER = 0.02, 0.2  # an error that most uses can live with; of the rarer outcome
_FEW = 200  # rows below which a gain by itself is luck
_WIDE = 0.1  # an upper end that excludes little
_MORE = 10.0  # times as many labels
_PLAN = "“calbias plan --scores FILE” says how many labels show an error of a given size."


def things_to_do(audit: AuditNumbers) -> list[str]:
    """Return at most three sentences."""
    return list(islice(_things(audit), MOST))


def _things(audit: AuditNumbers) -> Iterator[str]:
    scores = _scores(audit)
    apart = with_subgroups_apart(audit)
    if audit.miscalibrated and _is_reversed(audit):
        outcome = "events" if audit.kind == EVENT else "hits"
        yield (
            f"Check labels and columns first: rows of higher {scores[:-1]} have fewer {outcome}."
        )
        return
    if apart:
        yield _of_subgroups(apart)
    if not audit.miscalibrated:
        yield from _without_a_fault(audit, bool(apart))
    elif audit.interval[1] <= tolerable(audit) and not apart:
        yield _of_a_small_fault(audit)
        return
    else:
        yield from _of_a_fault(audit, apart)
    yield from _of_small_subgroups(audit)


def _without_a_fault(audit: AuditNumbers, has_apart: bool) -> Iterator[str]:
    """Yield what to do where all rows together have no fault that was found."""
    high, upper = audit.interval[1], _upper(audit)
    if high > _WIDE:
        yield f"{_more_labels(audit)}: these rows do not exclude an error of {upper}. {_PLAN}"
    elif high > tolerable(audit):
        yield (
            f"{_more_labels(audit)} if an error of {upper} would matter: these rows do not exclude "
            f"it. {_PLAN}"
        )
    elif not has_apart:
        yield f"Nothing: an error above {upper} is unlikely. Leave the {_scores(audit)} alone."


def _of_a_small_fault(audit: AuditNumbers) -> str:
    """Return what to do about an error that most uses can live with."""
    text = f"The error is small: more than {_upper(audit)} is unlikely. Leave the {_scores(audit)}"
    if _best(audit) is None:
        return f"{text} alone."
    recalibrate = recalibration_sentence(audit)
    then = recalibrate.replace("Recalibrate:", "where smaller errors matter, recalibrate:")
    return f"{text} alone; {then}"


def _of_a_fault(audit: AuditNumbers, apart: Subgroups | None) -> Iterator[str]:
    """Yield how to recalibrate all rows, and how to check that it helped."""
    (low, high), most, best = audit.interval, tolerable(audit), _best(audit)
    recalibrate = recalibration_sentence(audit)
    if not apart:
        yield recalibrate
    elif best is not None and not apart.others_are_fine:
        yield recalibrate.replace("Recalibrate:", "If all rows must have one map:")
    if low < most < high and rows_to_decide(audit.error, audit.interval, most, 1.0) <= _MORE:
        yield (
            f"{_more_labels(audit)} before you call the error large or small: {100 * most:.2g} % "
            f"is inside its interval. {_PLAN}"
        )
    if best is not None or apart:
        with_subgroups = " with its subgroups" if audit.subgroups else ""
        how = "Judge the recalibrated model on rows that it was not fitted on, and audit it again"
        if validation_rows(audit):
            how = "Fit it on the validation fold, apply it to the test fold, and audit that again"
        yield f"{how}{with_subgroups}."


def _scores(audit: AuditNumbers) -> str:
    return "risks" if audit.kind == EVENT else "scores"


def _more_labels(audit: AuditNumbers) -> str:
    return "Get more labels" if audit.n_clusters is None else "Get labels of more clusters"


def _upper(audit: AuditNumbers) -> str:
    """Return the upper end of the interval in percent."""
    low, high = audit.interval
    return f"{100 * high:.{digits_of(high - low)}f} %"


def _of_subgroups(subgroups: Subgroups) -> str:
    """Return what to do about the subgroups apart: they, the other rows, or both have a fault."""
    where = subgroups.where
    if subgroups.is_shared and not subgroups.apart["finding"].eq(MISCALIBRATED).any():
        return (
            f"Recalibrate the other rows without those where {where}, in which no fault was found."
        )
    if subgroups.others_are_fine:
        return (
            f"Recalibrate only the rows where {where}: no fault was found in the other rows, which "
            "one map of all rows would make wrong."
        )
    return (
        f"Look first at the rows where {where}: one recalibration of all rows does not correct the "
        "fault of a subgroup. Recalibrate these rows and the others apart."
    )


def _of_small_subgroups(audit: AuditNumbers) -> Iterator[str]:
    """Yield what to do where no subgroup is apart, and some are too small to tell."""
    small = audit.subgroups.n_small if audit.subgroups else 0
    if small and not with_subgroups_apart(audit):
        yield (
            f"Get more labels of the subgroups that matter: {small} "
            f"{'is' if small == 1 else 'are'} too small to tell."
        )


def with_subgroups_apart(audit: AuditNumbers) -> Subgroups | None:
    """Return the subgroups if one of them has a fault beyond the one of all rows, else None."""
    found = audit.subgroups
    return None if found is None or found.apart.empty else found


def tolerable(audit: AuditNumbers) -> float:
    """Return the error that most uses can live with: 2 points, or a fifth of rarer outcomes."""
    mean = float(audit.description["mean_score"] or 0)
    return min(_TOLERABLE, _OF_RARER * min(mean, 1.0 - mean))


def _is_reversed(audit: AuditNumbers) -> bool:
    """Return whether the verdict states a slope that is clearly below 0."""
    found = (audit.verdict.finding, audit.verdict.second)
    return any(f.kind == "line" and f.is_reversed for f in found if f)


def recalibration_sentence(audit: AuditNumbers) -> str:
    """Return which recalibration helps most, or what was tried."""
    scores, table = _scores(audit), audit.recalibration
    if table is None or not len(table):
        return (
            f"Do not read the {scores} as probabilities: the picture shows where they are off. No "
            f"recalibration was tried: that takes {FEWEST} rows of both outcomes."
        )
    best = _best(audit)
    if best is None:
        tried = [_KINDS[name] for name in _KINDS if name in table.index]
        if audit.n < _FEW:
            row = table.iloc[0]
            gain, half = (f"{100 * row[name]:z.2f}" for name in ("gain", "gain_se"))
            return (
                f"Do not read the {scores} as probabilities where the picture shows them off. "
                f"{audit.n} rows do not tell whether a recalibration helps: by "
                f"{_KINDS[row.name]} the Brier score falls by {gain}, with a standard error of "
                f"{half} (times 100). Get more labels first."
            )
        lowers = f"{tried[0]} does not lower the Brier score by more than chance"
        if len(tried) > 1:
            lowers = f"neither {' nor '.join(tried)} lowers the Brier score by more than chance"
        if away := _that_move_most_away(audit):
            which = " and ".join(_KINDS[name] for name in away)
            lowers = (
                f"{which} {'moves' if len(away) == 1 else 'move'} most rows away from the curve"
            )
        return (
            f"Do not read the {scores} as probabilities where the picture shows them off. On these "
            f"rows {lowers}."
        )
    what, change = _what_and_change(best, scores[:-1])
    if best["helps"]:
        return f"Recalibrate: {what} lowers the Brier score {change}."
    corrects = "corrects the slope"
    if best.name == "shift":
        corrects = f"makes the {scores} right on average"
    chance = "which may be chance"
    if best["gain"] > Z_95 * best["gain_se"]:
        chance += f": the best of {len(table)} methods"
    return f"Recalibrate: {what} {corrects}. The Brier score falls {change}, {chance}."


def gain_sentence(row: Any, kind: str) -> str:
    """Return what a method does to the Brier score, by its row of a recalibration table."""
    what, change = _what_and_change(row, "risk" if kind == EVENT else "score")
    score = "Brier score" + " over all classes" * (row.name == "vector")
    what = f"{what[0].upper()}{what[1:]}"
    if row["p_value"] > SIGNIFICANT:
        changes = "rises" if row["gain"] < 0 else "falls"
        return f"{what}: the {score} {changes} {change}, which may be chance."
    if row["gain"] < 0:
        return f"{what} raises the {score} {change}: leave the scores alone."
    return f"{what} lowers the {score} {change}."


def _what_and_change(row: Any, score: str) -> tuple[str, str]:
    """Return what a method does, and by how much the Brier score changes, in words."""
    gain, half = 100 * row["gain"], 100 * Z_95 * row["gain_se"]
    digits = max(digits_of(half / 100), 2)
    columns = 100 * row["brier_before"], 100 * row["brier_after"], abs(gain), half
    before, after, by, reach = (f"{x:.{digits}f}" for x in columns)
    rows = int(row["validation_rows"])
    how = f"fitted on the {rows} rows of the validation fold" if rows else "cross-validated"
    what = _NAMES[row.name].format(row["parameter"], score).replace("-", "−")
    return what, f"from {before} to {after}, by {by} ± {reach} (95 %; times 100, {how})"


def advised_method(audit: AuditNumbers) -> str:
    """Return the name of the recalibration that is advised, or ``none``."""
    best = _best(audit)
    return NONE if best is None or _is_reversed(audit) else str(best.name)


def recalibration_code(audit: AuditNumbers) -> str:
    """Return lines of Python that make and apply the recalibration that is advised, or nothing."""
    method = advised_method(audit)
    if method == NONE or with_subgroups_apart(audit):
        return ""
    rows = ("logits", "labels") if method in OF_LOGITS else ("scores", "hits")
    lines = [
        "from calbias import Recalibrator",
        f'recalibrator = Recalibrator("{method}").fit({", ".join(rows)})',
        f"recalibrated = recalibrator.predict(new_{rows[0]})",
    ]
    if validation_rows(audit):
        lines.insert(1, f"# {' and '.join(rows)} of the validation fold")
    return "\n".join(lines)


def recalibration_commands(audit: AuditNumbers) -> str:
    """Return the same as commands, for the file that was audited and a new one.

    Where subgroups are apart there is a map for each of them, and one for the other rows.
    """
    method, by = advised_method(audit), ""
    if subgroups := with_subgroups_apart(audit):
        by = f" --by {' '.join(map(shlex.quote, subgroups.columns))}"
    elif method == NONE:
        return ""
    how = by or f" --method {method}"
    return (
        f"calbias recalibrate FILE{how} --output map.json\n"
        "calbias recalibrate NEW_FILE --apply map.json --output recalibrated.csv\n"
        f"calbias audit NEW_FILE --map map.json{by}"
    )


def validation_rows(audit: AuditNumbers) -> int:
    """Return the rows of the validation fold that recalibration was fitted on, or 0."""
    table = audit.recalibration
    return 0 if table is None or not len(table) else int(table["validation_rows"].iloc[0])


def _best(audit: AuditNumbers) -> Any:
    """Return the row of the method that is advised, None where none is.

    One that helps or, with enough rows, the one that the finding asks for, if the Brier score
    falls. A shift or slope that moves most rows away from the curve is none of them.
    """
    table = audit.recalibration
    if not audit.miscalibrated or table is None or not len(table):
        return None
    table = table.drop(index=_that_move_most_away(audit))
    asked_for = [name for name in _asked_for(audit) if name in table.index]
    if table["helps"].any():
        helping = table[table["helps"]]
        first = (
            [name for name in asked_for if name in helping.index] if "slope" in table.index else []
        )
        return helping.loc[first[0]] if first else helping.iloc[0]
    falls = [name for name in asked_for if audit.n >= _FEW and table.loc[name, "gain"] > 0]
    return table.loc[falls[0]] if falls else None


def _asked_for(audit: AuditNumbers) -> list[str]:
    """Return the methods that the findings ask for: Platt's line, or one parameter of it."""
    kinds = [f.kind for f in (audit.verdict.finding, audit.verdict.second) if f]
    lines = ["platt"] * ("line" in kinds)
    return lines + [{"line": "slope", "level": "shift"}.get(kind, "") for kind in kinds]


def _that_move_most_away(audit: AuditNumbers) -> list[str]:
    """Return which of shift and slope move most rows away from the curve, and out of its band."""
    table, curve, bins = audit.recalibration, audit.curve, audit.bins
    scores, names = bins.mean_score, []
    for name in ("shift", "slope"):
        if table is None or name not in table.index:
            continue
        row = table.loc[name]
        x = logits_of(scores, (row["least"], row["greatest"]))
        moved = expit(x + row["parameter"] if name == "shift" else x * row["parameter"])
        mean, low, high = (np.interp(scores, curve.scores, values) for values in curve[1:])
        is_away = np.abs(moved - mean) > np.abs(scores - mean)
        is_away &= (moved < low) | (moved > high)
        if 2 * bins.n_in_bin[is_away].sum() > bins.n_in_bin.sum():
            names.append(name)
    return names


_KINDS = {
    "shift": "a shift", "slope": "a slope", "platt": "Platt scaling",
    "isotonic": "isotonic regression", "temperature": "temperature scaling",
}  # fmt: skip
_NAMES = {
    "shift": "adding {:.2f} to the log odds of each {}",
    "slope": "multiplying the log odds of each {1} by {0:.2f}",
    "platt": "Platt scaling",
    "beta": "Beta calibration",
    "isotonic": "isotonic regression",
    "spline": "spline recalibration",
    "temperature": "temperature scaling (logits divided by {:.3g})",
    "vector": "vector scaling",
}
