"""R11: the paired t-test of debias against sweep (section 7.1); R20 rests on the same test."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from pipeline.claims.claim import claim
from pipeline.claims.run_tables import RunTables
from pipeline.claims.verdicts import NAN, POINTS, Measurement, NotJudged, Ruling, Verdict, by_case
from pipeline.paper import (
    DEBIAS_PERCENT,
    MODEL_SIZES,
    MODELS,
    N_REPLICATES,
    P_VALUE,
    SWEEP_PERCENT,
    T_STATISTIC,
)
from reproduction.bias import (
    PAIR,
    PAIRINGS,
    ROUNDING,
    SAME_MEANS,
    abs_pairs,
    average_pairs,
    error_of_mean,
    paired_t_test,
)
from reproduction.claims.compared_biases import Biases

SIGNIFICANT = 0.05
TOLERANCE = 0.05  # of a printed number
COLUMNS = ["mean_abs_bias_a_percent", "mean_abs_bias_b_percent", "t_statistic"]
NAMES = (*(f"mean |bias| of {name}" for name in PAIR), "t of the paired test")
UNITS = ("percent", "percent", "")
NOT_PRINTED = ((NAN, NAN),) * 3
PRINTED = (
    *(("mean_abs_bias_percent", name) for name in PAIR),
    ("t_statistic", "by cell"),
)
PUBLISHED = (DEBIAS_PERCENT, SWEEP_PERCENT, T_STATISTIC)


class PairedTest(NamedTuple):
    """Both mean |bias| and t, (3,), percent, with their Monte Carlo errors (3,), and p."""

    measurements: list[Measurement]
    values: np.ndarray
    errors: np.ndarray
    p_value: float


def paired_test(
    run: RunTables, experiment: str, published: Sequence[tuple[float, float]] = NOT_PRINTED
) -> PairedTest:
    """Return the test over 70 pairs, of table ``paired_t_test``.

    ``published`` has a pair for each mean and for t: the printed number and its Monte Carlo error.
    """
    biases = Biases.of(run, run.bias(experiment, PAIR))
    row = paired_t_test(biases.bias.abs(), *PAIR)
    t_se = t_error(*biases.gain(*reversed(PAIR)))
    values = np.array([row[name] for name in COLUMNS])
    errors = [*error_of_mean(biases.se[[*PAIR]]), t_se]
    measurements = [
        Measurement(name, value, unit, "", error, NAN, NAN, *printed)
        for name, value, unit, error, printed in zip(
            NAMES, values, UNITS, errors, published, strict=True
        )
    ]
    measurements += [
        Measurement("p of the paired test", row["p_value"]),
        Measurement("pairs", row["n_pairs"]),
    ]
    return PairedTest(measurements, values, np.array(errors), row["p_value"])


def t_error(differences: np.ndarray, errors: np.ndarray) -> float:
    """Return the error of the t of ``differences`` (k,), to first order in their ``errors`` (k,).

    Pairs count as independent: each has data sets of its own.
    """
    k, mean, sd = len(differences), differences.mean(), differences.std(ddof=1)
    slopes = np.sqrt(k) * (1 / (k * sd) - mean * (differences - mean) / ((k - 1) * sd**3))
    return float(np.sqrt(np.sum((slopes * errors) ** 2)))


@claim(
    "R11",
    "§7.1",
    "bias correlations paired_t_test t_test_sensitivity authors_draws authors_numbers",
    "fig4_realistic",
    experiment="realistic",
)
def realistic_t_test(run: RunTables) -> Ruling:
    """A paired t-test finds the equal-mass sweep less biased than equal-mass debias.

    published: {DEBIAS_PERCENT} vs {SWEEP_PERCENT}, t = 5.10, p < 1e-5
    rule: Two parts. The printed numbers: on the data sets that the authors' public code draws, both
    means and t are within {TOLERANCE:.0%} of the printed ones, and p < {P_VALUE:g}. The statement:
    on independent draws the sweep has the smaller mean |bias| with p < {SIGNIFICANT}, also when
    dependent pairs are averaged first, by model and by data set and n. Reproduced if both parts
    hold, approximate if one does.
    errors: ± one Monte Carlo standard error, of the authors' draws over resamples of their shared
    seeds; ranges: parameters drawn within the rounding of the printed ones (table
    t_test_sensitivity)
    """
    authors = authors_numbers(run)
    printed = [authors.loc[key, "value"] for key in PRINTED]
    errors = [authors.loc[key, "error"] for key in PRINTED]
    test = paired_test(run, "realistic", [*zip(PUBLISHED, errors, strict=True)])
    p = authors.loc[("p_value", "by cell"), "value"]
    comes_out = bool(np.allclose(printed, PUBLISHED, TOLERANCE, 0) and p < P_VALUE)
    pairs = abs_pairs(run.bias("realistic", PAIR), *PAIR)
    tests = {
        pairing: paired_t_test(average_pairs(pairs, pairing, run.groups()), *PAIR)
        for pairing in PAIRINGS
    }
    holds = all(row["t_statistic"] > 0 and row["p_value"] < SIGNIFICANT for row in tests.values())
    measurements = [*authors_measurements(authors), *test.measurements]
    for name, column in (("t", "t_statistic"), ("p", "p_value")):
        cases = {f"by {pairing}:": tests[pairing][column] for pairing in PAIRINGS[1:]}
        measurements += by_case(f"{name} of pairs averaged", cases)
    notes = []
    table = run.tables.get("t_test_sensitivity")
    if table is not None and len(table):
        is_draw = table["choice"].str.startswith(ROUNDING)
        draws, words = table[is_draw], f", range of {is_draw.sum()} draws within rounding"
        ranges = zip(NAMES, UNITS, draws[COLUMNS].min(), draws[COLUMNS].max(), strict=True)
        for name, unit, low, high in ranges if len(draws) else ():
            measurements.append(Measurement(name + words, NAN, unit, low=low, high=high))
        notes = sensitivity_notes(table[~is_draw])
    a, b, t = printed
    luck = (PUBLISHED[0] - test.values[0]) / np.hypot(errors[0], test.errors[0])
    side = "above" if luck > 0 else "below"
    notes.append(
        f"the printed mean of {PAIR[0]} is {abs(luck):.1f} Monte Carlo errors {side} that of "
        "independent draws"
    )
    with_authors_draws = (
        f"with the authors' draws {a:.3f} against {b:.3f}, t = {t:.2f}, p = {p:.1g}"
    )
    weakest = max(tests, key=lambda pairing: tests[pairing]["p_value"])
    t, p = (tests[weakest][name] for name in ("t_statistic", "p_value"))
    independent = f"with independent draws, pairs by {weakest}: t = {t:.2f}, p = {p:.1g}"
    verdict = Verdict.all_or_some([comes_out, holds])
    reason = independent if comes_out else with_authors_draws
    return Ruling(verdict, measurements, notes=notes, reason=reason)


def authors_numbers(run: RunTables) -> pd.DataFrame:
    """Return value, error and published by (quantity, case); NotJudged but of the paper's grid."""
    draws = run.table("authors_draws")
    cells = {*draws[["scenario", "n_samples"]].itertuples(index=False, name=None)}
    missing = {(model, n) for model in MODELS for n in MODEL_SIZES} - cells
    if missing:
        raise NotJudged(f"table authors_draws lacks {len(missing)} of the paper's 70 cells")
    if draws["n_replicates"].min() < N_REPLICATES:
        raise NotJudged(f"table authors_draws has fewer than {N_REPLICATES} data sets a cell")
    numbers = run.table("authors_numbers")
    return numbers.fillna({"case": ""}).set_index(["quantity", "case"])


def authors_measurements(authors: pd.DataFrame) -> list[Measurement]:
    """Return the test on the authors' draws; gains with errors over resamples of their seeds."""
    values, errors = authors["value"], authors["error"]
    gains = values["gain_percent"]
    pairings = [f"by {pairing}" for pairing in PAIRINGS if f"by {pairing}" in values["t_statistic"]]
    p = Measurement(
        f"p, authors' draws, published as < {P_VALUE:g}", values["p_value", "by cell"],
        published=P_VALUE,
    )  # fmt: skip
    return [
        *(
            Measurement(f"{name}, authors' draws", values[key], unit, published=printed)
            for name, unit, key, printed in zip(NAMES, UNITS, PRINTED, PUBLISHED, strict=True)
        ),
        p,
        *by_case("t, authors' draws", {f"{x}:": values["t_statistic", x] for x in pairings[1:]}),
        *by_case("p, authors' draws", {f"{x}:": values["p_value", x] for x in pairings[1:]}),
        *by_case(
            "gain of the sweep, authors' draws",
            {f"{case}:": (gain, errors["gain_percent", case]) for case, gain in gains.items()},
            POINTS,
        ),
    ]


def sensitivity_notes(table: pd.DataFrame) -> list[str]:
    """Return which open choices keep the sign, and which reverse it."""
    others = table[~table["choice"].isin(SAME_MEANS)]
    keeps = others["t_statistic"] > 0
    notes = []
    if len(others):
        notes.append(
            f"{len(others)} other choices open to the authors have means of their own: "
            f"{keeps.sum()} keep the published sign ({', '.join(others.loc[keeps, 'choice'])})"
        )
    if not keeps.all():
        notes.append(f"the others reverse it ({', '.join(others.loc[~keeps, 'choice'])})")
    return notes
