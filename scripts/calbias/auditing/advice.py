"""What to do after an audit: at most three things, the most important first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from calbias.auditing.inputs import EVENT
from calbias.auditing.numbers import AuditNumbers
from calbias.conventions import Z_95

MOST = 3
_TOLERABLE = 0.02  # an upper end of the interval that most uses can live with


def things_to_do(audit: AuditNumbers) -> list[str]:
    """Return at most three sentences."""
    return list(islice(_things(audit), MOST))


def _things(audit: AuditNumbers) -> Iterator[str]:
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
    elif audit.recalibration is None:
        yield f"Do not read the {scores} as probabilities: the picture shows where they are off."
    else:
        yield (
            f"Do not read the {scores} as probabilities where the picture shows them off. On these "
            "rows no recalibration lowers the Brier score by more than chance."
        )
    if high - low > _TOLERABLE:
        yield (
            "Get more labels before you report the size of the error: “calbias plan --scores FILE” "
            "says how many a goal takes."
        )
    if helps:
        yield "Judge the recalibrated model on rows that it was not fitted on, and audit it again."


def recalibration_sentence(audit: AuditNumbers) -> str:
    """Return which recalibration helps most, or nothing where none does."""
    table = audit.recalibration
    if table is None or not len(table) or not table["helps"].any():
        return ""
    best = table[table["helps"]].iloc[0]
    name = {"platt": "Platt scaling", "isotonic": "isotonic regression"}.get(
        best.name, f"{best.name} scaling"
    )
    return (
        f"Recalibrate: {name} lowers the Brier score from {100 * best['brier_before']:.2f} to "
        f"{100 * best['brier_after']:.2f} (times 100, cross-validated; ± "
        f"{100 * Z_95 * best['gain_se']:.2f})."
    )
