"""The rows of tables ``assessment``, ``assessment_verdicts`` and ``assessment_diagrams``.

Errors are in percent with four decimals, three more than the Monte Carlo error deserves; what is
not known is empty, and the row's note says why.
"""


def estimator_rows(origin, fold, assessment):
    """Return one dict per AssessedEstimator; ``origin`` is that of the top-label table."""
    return [
        {
            **_of_model(origin, fold, assessment),
            "estimator": estimator.name,
            "target": estimator.target,
            "norm": estimator.norm,
            "n_bins": estimator.n_bins or None,
            "estimate_percent": _percent(estimator.estimate),
            "bias_percent": _percent(estimator.bias),
            "bias_se_percent": _percent(estimator.bias_se),
            "sd_percent": _percent(estimator.sd),
            "rmse_percent": _percent(estimator.rmse),
            "debiased_percent": _percent(estimator.debiased),
            "trust_rank": estimator.trust_rank,
            "fitted_error_percent": _percent(estimator.truth),
            "null_mean_percent": _percent(estimator.null_mean),
            "null_95_percent": _percent(estimator.null_95),
            "p_value": _rounded(estimator.p_value),
            "note": estimator.note or None,
        }
        for estimator in assessment.estimators
    ]


def verdict_row(origin, fold, assessment):
    """Return the model's row, a dict."""
    best = assessment.best
    return {
        **_of_model(origin, fold, assessment),
        "accuracy_percent": _percent(assessment.accuracy),
        "mean_score_percent": _percent(assessment.mean_score),
        "direction": assessment.direction,
        "decided_by": assessment.decided_by,
        "p_value": _rounded(assessment.p_value),
        "miscalibrated": assessment.miscalibrated,
        "estimator": best.name,
        "norm": best.norm,
        "estimate_percent": _percent(best.estimate),
        "debiased_percent": _percent(best.debiased),
        "sd_percent": _percent(best.sd),
        "fitted_curve": assessment.fitted_curve or None,
        "fit_p_value": _rounded(assessment.fit_p_value),
        "model_verdict": assessment.verdict,
        "warnings": "; ".join(origin.warnings) or None,
    }


def diagram_rows(origin, fold, diagram):
    """Return one dict per bin of a ReliabilityDiagram, fractions."""
    names = diagram._fields
    return [
        {
            "model": origin.model,
            "source": origin.source,
            "fold": fold,
            **{
                name: int(value) if name == "n_in_bin" else round(float(value), 6)
                for name, value in zip(names, values, strict=True)
            },
        }
        for values in zip(*diagram, strict=True)
    ]


def _of_model(origin, fold, assessment):
    return {
        "model": origin.model,
        "source": origin.source,
        "fold": fold,
        "n_samples": assessment.n_samples,
    }


def _percent(value):
    return None if value is None else round(100 * value, 4)


def _rounded(value):
    return None if value is None else float(f"{value:.4g}")
