"""Measures, tests, targets and scenarios in words, for figures and pages; code names stay small."""

from collections.abc import Iterable

TARGET_NAMES = {  # in the order in which figures and pages show them
    "l1": "ℓ1 error",
    "l2": "ℓ2 error",
    "l2_squared": "ℓ2 error squared",
    "isotonic_gain": "gain of an isotonic fit",
    "max_deviation": "greatest deviation of sums",
    "deviation_range": "range of deviations of sums",
    "averaged_two_bin": "two bins, border averaged",
    "smooth_ce": "smooth calibration error",
    "smece": "SmoothECE",
    "kernel_ce": "kernel calibration error",
    "gap_quantile": "quantile of the gap",
    "mce": "greatest gap of a bin",
}
SCHEMES = {"_em": ", equal mass", "_ew": ", equal width"}
MEASURES = {
    "averaged_posterior": "Averaged posterior",
    "averaged_two_bin": "Averaged two-bin error",
    "beta_kernel": "Beta kernel",
    "calib_err": "Bins of 100 rows",
    "corp_mcb": "CORP miscalibration",
    "e50_glm": "E50 of a logistic fit",
    "e50_loess": "E50 of a loess fit",
    "e90_glm": "E90 of a logistic fit",
    "e90_loess": "E90 of a loess fit",
    "ecce_r": "ECCE-R (Kuiper)",
    "ece_bin": "Binned",
    "ece_bin_cube_root": "Binned, n^(1/3) bins",
    "ece_debias": "Debiased",
    "ece_debias_squared": "Debiased, squared",
    "ece_debias_unclipped": "Debiased, unclipped",
    "ece_label_binned": "Label-binned",
    "ece_sweep": "Monotonic sweep",
    "kde": "Kernel density",
    "kde_unrooted": "Kernel density, no root",
    "ks": "KS (ECCE-MAD)",
    "mce": "Greatest gap",
    "mmce": "MMCE",
    "plugin_glm": "Logistic fit",
    "plugin_loess": "Loess fit",
    "skce_biased": "Kernel error, biased",
    "skce_unbiased": "Kernel error, unbiased",
    "smce": "Smooth error",
    "smece": "SmoothECE",
    "tcal": "T-Cal",
    "tcal_sun": "T-Cal, Sun's divisor",
    "variational_isotonic": "Cross-fitted isotonic",
    "variational_platt": "Cross-fitted Platt",
}
TESTS = {  # what a test looks for → its tests
    "several at once": "verdict verdict_clusters",
    "level and line": "cox_score cox_lrt spiegelhalter redraw_plugin_glm redraw_e90_glm "
    "redraw_variational_platt",
    "sums along the scores": "ecce_mad_series ecce_r_series redraw_ks redraw_ecce_r",
    "smooth shape": "redraw_skce_unbiased redraw_mmce redraw_smce redraw_smece redraw_kde "
    "redraw_plugin_loess",
    "rising shape": "redraw_corp_mcb redraw_variational_isotonic",
    "gaps of bins": "hosmer_lemeshow hosmer_lemeshow_8df tcal_adaptive redraw_tcal_sun "
    "redraw_ece_bin_em redraw_ece_bin_ew redraw_ece_debias_em redraw_ece_label_binned_em "
    "redraw_ece_sweep_em redraw_calib_err",
    "one local gap": "redraw_mce_em",
}
TEST_NAMES = {  # redraw_X is known by the name of X
    "verdict": "Verdict of an audit",
    "verdict_clusters": "with clusters",
    "cox_score": "Cox, score test",
    "cox_lrt": "Cox, likelihood ratio",
    "spiegelhalter": "Spiegelhalter",
    "ecce_mad_series": "ECCE-MAD, by its limit",
    "ecce_r_series": "ECCE-R, by its limit",
    "hosmer_lemeshow": "Hosmer-Lemeshow, 10 degrees",
    "hosmer_lemeshow_8df": "Hosmer-Lemeshow, 8 degrees",
    "tcal_adaptive": "T-Cal, adaptive bins",
}
OTHER = "others"
DISTRIBUTIONS = {name: f"{name} scores" for name in ("saturated", "spread", "uniform", "tied")}
CLUSTERED = "clusters_"
"""How the names of scenarios with clusters begin."""
BLIND = "judging_blind26_"
"""How the names of the blind cells of 2026 begin."""
BROKEN = f"{BLIND}broken_"
"""How the names of those begin that break the assumption of the audit's interval."""
_REDRAW = "redraw_"


def measure_name(estimator: str) -> str:
    """Return an estimator's name in words; an unknown one's own name without underscores."""
    family, scheme = estimator, ""
    if estimator[-3:] in SCHEMES:
        family, scheme = estimator[:-3], SCHEMES[estimator[-3:]]
    return MEASURES.get(estimator, MEASURES.get(family, family.replace("_", " ")) + scheme)


def target_name(target: str) -> str:
    """Return what a measure estimates, in words."""
    return TARGET_NAMES.get(target, target.replace("_", " "))


def targets_in_order(targets: Iterable[str]) -> list[str]:
    """Return the different targets: the ones of TARGET_NAMES in their order, then the others."""
    present = set(targets)
    return [name for name in TARGET_NAMES if name in present] + sorted(present - set(TARGET_NAMES))


def name_of_test(test: str) -> str:
    """Return a test's name in words: of a redraw test the estimator's."""
    return TEST_NAMES.get(test) or measure_name(test.removeprefix(_REDRAW))


def tests_by_purpose(tests: list[str]) -> dict[str, list[str]]:
    """Return {what it looks for: tests}, only with tests of the list; unknown ones come last."""
    by_purpose = {
        p: [test for test in names.split() if test in tests] for p, names in TESTS.items()
    }
    there = {test for names in by_purpose.values() for test in names}
    by_purpose[OTHER] = [test for test in tests if test not in there]
    return {purpose: names for purpose, names in by_purpose.items() if names}


def curve_name(scenario: str) -> str:
    """Return the curve of a scenario in words: ``spread_slope_0.5`` is ``slope 0.5``."""
    return scenario.partition("_")[2].replace("_", " ")


def scenario_name(scenario: str) -> str:
    """Return a scenario in words: ``spread_slope_0.5`` is ``slope 0.5, spread scores``."""
    distribution = scenario.partition("_")[0]
    return f"{curve_name(scenario)}, {DISTRIBUTIONS.get(distribution, distribution)}"


def cluster_cell_name(scenario: str) -> str:
    """Return a scenario with clusters in words: ``clusters_beta_50x20_0.6_calibrated``."""
    kind, size, *details = scenario.removeprefix(CLUSTERED).split("_")
    if details[0][0].isdigit():
        details[0] = f"correlation {details[0]},"
    return f"{kind}, {size.replace('x', ' × ')}, {' '.join(details)}"


SWEEP = "ece_sweep_em"
BEST, WORSE, UNDECIDED, UNKNOWN = "best", "worse", "undecided by noise", "no network of this kind"
"""What the noise says of a printed class-wise error."""
