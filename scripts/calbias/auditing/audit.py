"""The audit of a model's scores: is it miscalibrated, how, and by how much.

The verdict is a test of six statistics (``auditing/verdict``); the error and the calibration curve
are the estimator ``averaged_posterior``, the curve moved to the hits where these contradict it
(``auditing/calibration_curve``); the interval stands on two inequalities (``auditing/interval``).
On request every estimator is applied to hits drawn on the user's own scores (Roelofs et al. 2022,
section 4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax

from calbias.auditing.data import EVENT, Data, Options
from calbias.auditing.description import (
    OBSERVED_EXPECTED,
    Description,
    description_of,
    sentences,
    warnings_of,
)
from calbias.auditing.diagrams.corp import corp_of
from calbias.auditing.error.bins import binned_ece, picture_bins
from calbias.auditing.error.calibration_curve import picture_curve, posterior_average
from calbias.auditing.error.interval import calibration_interval
from calbias.auditing.inputs import prepared, prepared_means
from calbias.auditing.results import Audit
from calbias.auditing.subgroups.segments import By
from calbias.auditing.subgroups.subgroups import RISKS, Subgroups
from calbias.auditing.verdict.judge import judge
from calbias.auditing.verdict.verdict_result import CalibrationVerdict
from calbias.auditing.verdict.words import Words
from calbias.defaults import CONFIDENCE_LEVEL, N_BINS
from calbias.engine.posterior import Average
from calbias.engine.scores_and_hits import validate_same_order
from calbias.errors import InputError
from calbias.outcomes.given import Given, GivenOptions, has_shares
from calbias.samples.by_score import MOST_SCORES
from calbias.samples.cells import cells_for, in_cells

if TYPE_CHECKING:
    import pandas as pd

ALL = "all"
_REDRAWS, _CELLS = 500, 1000  # of the CORP diagram's band
_NO_FLOOR = (
    "with clusters the error of all classes together has no noise floor: its redraws take rows as "
    "independent"
)


def audit(
    scores: ArrayLike | None = None,
    hits: ArrayLike | None = None,
    *,
    probabilities: ArrayLike | None = None,
    logits: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    clusters: ArrayLike | Sequence[ArrayLike] | None = None,
    top_label: bool = False,
    norm: float = 1,
    confidence_level: float = CONFIDENCE_LEVEL,
    n_bins: int = N_BINS,
    estimators: Sequence[str] | str = (),
    by: By | None = None,
    class_wise: bool = False,
    replicates: int = 200,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
    **outcomes: Unpack[GivenOptions],
) -> Audit:
    """Judge the calibration of a model by its scores and hits.

    The p-value is for one look. For a model that is read every day there is ``calbias.Monitor``.

    Parameters
    ----------
    scores, hits : array_like, shape (n,)
        Scores in [0, 1], and 1 where the prediction was correct, else 0. Arrays, columns of
        pandas and polars and tensors all do.
    probabilities : array_like, shape (n, K) or (n,)
        Class probabilities instead of scores, with ``labels``; (n,) is of class 1 of two.
    logits : array_like, shape (n, K)
        Logits instead of probabilities.
    labels : array_like, shape (n,)
        Class numbers, counted from 0.
    clusters : array_like, shape (n,), or a list of such columns, optional
        The id of each row's patient, question, game or user: rows of one id may depend on each
        other. Of several columns the combinations are the clusters. By default rows are taken as
        independent.
    top_label : bool, default False
        With two classes, judge the confidence of the predicted class; by default the probability
        of class 1, an event, is judged.
    norm : {1, 2}, default 1
        p of the ℓp error.
    confidence_level : float, default 0.95
        Of the interval.
    n_bins : int, default 15
        Bins of the ECE and of estimators that take a number of bins.
    estimators : sequence of str, or "all", optional
        Estimators whose bias on these scores is wanted.
    by : array_like, shape (n,), a list or dict of such columns, or a DataFrame, optional
        Columns that name subgroups: whether any value, or any pair of values of two columns, is
        miscalibrated. Numbers of more than ten values are cut at their quartiles.
    class_wise : bool, default False
        Judge each class, one against the rest.
    replicates : int, default 200
        Data sets that show the bias of ``estimators``.
    seed : int, default 0
        Seed of the redraws; the same seed gives the same numbers.
    progress : callable, optional
        Called with a short text before each step.

    Other Parameters
    ----------------
    times, events : array_like, shape (n,), optional
        Follow-up instead of labels, with ``probabilities`` of the event by the ``horizon``: until
        when each row was followed, and what happened then, 0 for nothing (censored).
    horizon : float, optional
        In the unit of ``times``.
    event, censored : int, default 1 and 0
        Codes in ``events``; further codes are competing events.
    censoring : "by-risk", "marginal" or array_like, shape (n,), default "by-risk"
        Within what censoring says nothing of the event: strata of the risk, all rows, or strata
        of the risk in each value of a column.
    weights : array_like, shape (n,), optional
        Of the rows, such as of a survey.
    judge : array_like, shape (n,), optional
        Labels by a judge, from 0 to 1; hits or labels are then human ones, NaN where there is none.
    labelled : array_like, shape (n,), or float, optional
        With ``judge``, the chance that a human labelled the row; by default the share of labelled
        rows in a stratum of the score.

    Returns
    -------
    Audit
        With ``error``, ``interval``, ``p_value``, ``miscalibrated``, ``verdict`` and more.

    Raises
    ------
    InputError
        For input that is not what the parameters say.

    Notes
    -----
    Scores stand before hits, as in ``calbias.estimate``: the scores are what is judged, and the
    hits may be found from labels. scikit-learn has ``y_true, y_prob``, the other way round. Risks p
    of an event y are ``audit(probabilities=p, labels=y)``: the sentence is then of risks and
    events, and ``audit.risk`` has the numbers of a risk model.

    Follow-up, weights, a judge, and hits that are shares between 0 and 1 make outcomes that are
    right on average (docs/tool/follow_up.md). Their noise is estimated, as with clusters: the
    p-value is by random signs, there is no CORP diagram, and estimators and classes are refused.

    Examples
    --------
    >>> import numpy as np
    >>> import calbias
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.beta(6, 1.5, 2000)
    >>> audit = calbias.audit(scores, rng.random(2000) < scores**1.3)
    >>> audit.miscalibrated
    True
    """
    options = Options(n_bins, norm, confidence_level, seed, replicates)
    given = Given.of("audit", outcomes)
    validate_same_order(
        scores=scores, hits=hits, probabilities=probabilities, logits=logits, labels=labels,
        clusters=clusters, by=by, **outcomes,
    )  # fmt: skip
    if given or has_shares(hits if labels is None else labels):
        if logits is not None or top_label:
            raise InputError("outcomes that are right on average go without logits and top_label")
        data = prepared_means(scores, hits, probabilities, labels, clusters, by, given)
    else:
        data = prepared(scores, hits, probabilities, logits, labels, clusters, top_label=top_label)
        data = replace(data, by=by)
    return audit_data(data, options, estimators, class_wise=class_wise, progress=progress)


def audit_data(
    data: Data,
    options: Options,
    estimators: Sequence[str] | str = (),
    *,
    class_wise: bool = False,
    progress: Callable[[str], None] | None = None,
    folders: Sequence | None = None,
) -> Audit:
    """Return the Audit of a ``Data``; ``folders`` hold the files of the estimators."""
    names, say = estimator_names(estimators), progress or (lambda text: None)
    is_of_classes = data.logits is not None and data.kind != EVENT  # rows have their order there
    are_hits = data.scored.seen is None
    if not are_hits and data.scored.n > MOST_SCORES:
        raise InputError(
            f"{data.scored.n} rows: outcomes that are right on average are judged row by row, up "
            f"to {MOST_SCORES}; give a random part of the rows"
        )
    is_many = data.scored.scores.size > MOST_SCORES and are_hits
    if is_many and data.clusters is None and not is_of_classes:
        data = replace(data, scored=in_cells(data.scored, cells_for(options.n_bins)))
    scored = data.scored
    if scored.n < 2:
        raise InputError("one row is too little to judge a model by: give at least two")
    say("test of calibration")
    words: Words = "events" if data.kind == EVENT else "hits"
    verdict = judge(scored, words=words, seed=options.seed)
    say("error, interval and curve")
    facts = verdict.cluster_facts
    effect = max(facts.design_effect, 1.0) if facts else 1.0
    by_score = scored.by_score
    columns = by_score.scores, by_score.rows, by_score.hits
    average = posterior_average(*columns, effect)
    interval = calibration_interval(scored, effect, options.seed)
    low, high = interval.at(options.norm, options.confidence_level)
    error = average.l1 if options.norm == 1 else average.l2
    ece, noise_floor = binned_ece(scored, options.n_bins)
    bins = picture_bins(scored, options.confidence_level, effect)
    corp = None
    if scored.seen is None:  # its band is of redrawn hits
        corp = corp_of(scored, options.confidence_level, _REDRAWS, options.seed, most_cells=_CELLS)
    description = description_of(data, options.confidence_level)
    noise_floor *= float(np.sqrt(effect))
    tables = _tables(data, options, verdict, average, noise_floor, names, class_wise, say, folders)
    if data.kind == EVENT:
        say("numbers of a risk model")
        l1 = interval.at(1, options.confidence_level)
        tables["risk"] = _risk_table(data, options, description, l1)
    return Audit(
        kind=data.kind,
        n=scored.n,
        error=min(max(error, low, verdict.stated_gap), high),
        interval=(low, high),
        verdict=verdict,
        rows_per_bin=interval.rows_per_bin(options.norm),
        ece=ece,
        noise_floor=noise_floor,
        description=description,
        curve=picture_curve(average, bins, *columns, effect, options.confidence_level),
        bins=bins,
        corp=corp,
        options=options,
        warnings=(
            *warnings_of(data, description),
            *sentences(data.outcomes.warnings if data.outcomes else ()),
            *sentences((*verdict.warnings, *(() if facts else data.hints))),
        ),
        n_clusters=facts.clusters if facts and not facts.are_rows else None,
        effective_n=facts.effective_rows if facts else None,
        design_effect=scored.n / facts.effective_rows if facts else None,
        mean_design_effect=interval.effect if facts else None,
        outcome=data.outcomes.words if data.outcomes else None,
        strata=data.outcomes.strata if data.outcomes else (),
        **tables,
    )


def _tables(
    data: Data,
    options: Options,
    verdict: CalibrationVerdict,
    average: Average,
    noise_floor: float,
    names: Sequence[str],
    class_wise: bool,
    say: Callable[[str], None],
    folders: Sequence | None,
) -> dict[str, Any]:
    """Return the tables of an Audit that apply or were asked for, and its notes."""
    from calbias.auditing.recalibrations import recalibration_table

    if data.scored.seen is not None:
        _validate_means(data, names, class_wise)
    say("recalibration")
    tables: dict[str, Any] = {"recalibration": recalibration_table(data, options.seed)}
    notes = (*data.notes, *_of_validation(data, tables["recalibration"]))
    if names:
        from calbias.auditing.error.estimator_bias import estimates_table

        say("estimators")
        asked = names, options, folders, noise_floor
        tables["estimates"] = estimates_table(data.scored, average, *asked)
    if data.by is not None and data.rows is not None:
        say("subgroups")
        tables["subgroups"] = _subgroups(data, options, verdict)
    if class_wise:
        say("classes")
        tables["classes"], words = _classes(data, options)
        notes = (*notes, *words)
    return {"notes": notes, **tables}


def _validate_means(data: Data, names: Sequence[str], class_wise: bool) -> None:
    """Raise InputError for what outcomes that are right on average do not allow."""
    if names:
        raise InputError(
            "the bias of an estimator is that of redrawn hits, and these outcomes are not 0 and 1: "
            "leave the estimators out"
        )
    if class_wise:
        raise InputError("classes, one against the rest, need labels: audit each by its column")
    if data.by is not None and data.outcomes and data.outcomes.weights is not None:
        raise InputError(
            "subgroups take no weights: the gaps of segments count rows as equal; leave the "
            "subgroups out, or audit the rows of one subgroup"
        )


def _of_validation(data: Data, recalibrated: pd.DataFrame) -> Iterator[str]:
    """Yield what a validation fold was used for."""
    from calbias.auditing.recalibrations import FEWEST

    if data.validation is not None:
        rows = f"fold validation ({data.validation.scored.n} rows)"
        how = f"recalibration is fitted on {rows}"
        if not len(recalibrated) or not recalibrated["validation_rows"].all():
            how = f"{rows} is not used: recalibration needs {FEWEST} rows and both outcomes"
        yield f"fold test is judged; {how}"


def _subgroups(data: Data, options: Options, verdict: CalibrationVerdict) -> Subgroups:
    """Return the Subgroups by the columns ``by``."""
    from calbias.auditing.subgroups.subgroup_audit import audit_subgroups

    rows = data.single
    return audit_subgroups(
        rows.score,
        rows.hit,
        data.by,
        data.clusters,
        log_scores=rows.log_score,
        log1m_scores=rows.log1m_score,
        confidence_level=options.confidence_level,
        seed=options.seed,
        what=RISKS if data.kind == EVENT else "scores",
        verdict=verdict,
        outcomes=data.outcomes if data.scored.seen is not None else None,
    )


def _classes(data: Data, options: Options) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the table of classes, one against the rest, and notes on all of them."""
    from calbias.auditing.classes import all_classes, classes_table

    if data.logits is None or data.labels is None:
        raise InputError("classes need a probability or a logit of every class, not scores")
    probabilities = softmax(data.logits.astype(np.float64), axis=1)
    table = classes_table(probabilities, data.labels, options, data.clusters)
    words: tuple[str, ...] = (_NO_FLOOR,)
    if data.clusters is None:
        words, table["corrected"] = all_classes(probabilities, data.labels, options.seed)
    if data.classes:
        table = table.rename(index=dict(zip(table.index, data.classes, strict=True)))
    return table, words


def _risk_table(
    data: Data, options: Options, description: Description, interval: tuple[float, float]
) -> pd.DataFrame:
    """Return the numbers of a risk model by ``name``, with the audit's ``interval`` of ℓ1.

    Of clusters, prevalence, observed/expected and ICI alone have intervals.
    """
    import pandas as pd

    from calbias.auditing.risk_model import brier_rows, risk_summary

    scored = data.scored
    rows = [*risk_summary(scored, options.confidence_level, interval)]
    if scored.seen is not None and data.outcomes:
        rows += brier_rows(*data.outcomes.brier_scores(data.single.score))
    table = pd.DataFrame(rows).set_index("name")
    table.attrs["also"] = table.pop("also").to_dict()  # printed, the table shows its intervals
    if np.isfinite(scored.freedom):
        table[["low", "high"]], table["coverage"] = np.nan, "unknown: clusters"
        table.loc["ICI", ["low", "high"]] = [*interval]
    if scored.clusters is not None:
        for name, key in (("prevalence", "accuracy"), ("observed/expected", OBSERVED_EXPECTED[0])):
            ends = [description.get(f"{key}_{end}", np.nan) for end in ("low", "high")]
            table.loc[name, ["low", "high"]] = ends
    return table


def estimator_names(estimators: Sequence[str] | str) -> list[str]:
    """Return the names that ``estimators`` asks for, each once."""
    if estimators == ALL:
        from calbias.auditing.error.estimator_bias import ESTIMATORS

        return list(ESTIMATORS)
    if isinstance(estimators, str):
        raise InputError(f'estimators must be "all" or a list of names, such as [{estimators!r}]')
    if not isinstance(estimators, Iterable):
        raise InputError(f'estimators must be "all" or a list of names, not {estimators!r:.60}')
    return list(dict.fromkeys(estimators))
