"""The §7.1 t-test under the choices that the paper leaves open (table ``t_test_sensitivity``)."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr

from calbias.engine.float_scores import EXACT
from calbias.simulation import simulate_estimates
from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario
from calbias.truth.true_error import true_calibration_error
from pipeline.paper import DEBIAS_PERCENT, SWEEP_PERCENT, T_STATISTIC
from pipeline.scenarios import HALF_LAST_DIGIT, PrintedFits, printed_coefficients, printed_fits
from pipeline.steps import Precision, Seed
from pipeline.table_schema import columns_of
from pipeline.tables import groups_of, read_table, write_table
from reproduction.bias import (
    CONFIGURED,
    ONE_SIDED,
    POPULATION_VARIANCE,
    ROUNDING,
    abs_pairs,
    paired_t_test,
    paired_t_tests,
)

Row = dict[str, Any]
Average = Callable[[np.ndarray], float]

DEBIAS, SWEEP, UNCLIPPED = "ece_debias_em", "ece_sweep_em", "ece_debias_unclipped_em"
_MOST_REPLICATES = 10_000  # of a cell
_STREAM = 0x726F756E64  # keeps the rounding draws apart from every other use of the seed
_ROUNDING = f"b0 and b1 of every model drawn within ±{HALF_LAST_DIGIT:g} of the printed values"


def compare_estimators(
    *,
    bias: list[Path],
    models_table: Path,
    beta_fits: Path,
    glm_fits: Path,
    precision: Precision,
    seed: Seed,
    output_tests: Path,
    output_sensitivity: Path,
) -> None:
    """Compare estimators by paired t-tests of their absolute bias (paper §7.1, §7.3).

    The second table has the test of §7.1 under the choices that the paper leaves open.

    bias: bias of the experiments to test
    models_table: models table: gives the groups
    beta_fits: published Table 2
    glm_fits: published Table 3
    precision: how simulated scores are stored
    seed: seed of all random streams
    output_tests: table paired_t_test to write
    output_sensitivity: table t_test_sensitivity to write
    """
    table = pd.concat([read_table(path) for path in bias])
    fits = printed_fits(read_table(beta_fits), read_table(glm_fits))
    groups = groups_of(read_table(models_table), models_table)
    tests = paired_t_tests(table)
    sensitivity = t_test_sensitivity(table, fits, groups, seed, precision)
    write_table(output_tests, "paired_t_test", tests)
    write_table(output_sensitivity, "t_test_sensitivity", sensitivity)


def t_test_sensitivity(
    bias: pd.DataFrame,
    fits: dict[str, PrintedFits],
    groups: Mapping[str, str],
    seed: int,
    precision: str = EXACT,
    rounding_draws: int = 3,
) -> pd.DataFrame:
    """Return the table ``t_test_sensitivity``: a is ece_debias_em, b is ece_sweep_em.

    Experiment realistic of ``bias`` gives models (of ``fits``, {model: PrintedFits}), sizes and the
    number of replicates. Choices of analysis use its rows; others are simulated from the printed
    fits, on common random numbers. ``groups`` is {model: data set}.
    """
    rows = bias[(bias["experiment"] == "realistic") & bias["scenario"].isin(list(fits))]
    pairs = abs_pairs(rows, DEBIAS, SWEEP)
    results: list[Row] = []
    if len(pairs) >= 2:
        m = min(int(rows["n_replicates"].min()), _MOST_REPLICATES)
        results += _of_analysis(rows, pairs, groups)
        used = {model: fits[model] for model in pairs.index.unique("scenario")}
        sizes = sorted(map(int, pairs.index.unique("n_samples")))
        for choice, description, scenarios, *how in _simulated(used, seed, rounding_draws):
            simulated = _pairs_of_means(scenarios, sizes, m, seed, precision, *how)
            results.append(row(choice, description, simulated))
    return pd.DataFrame(results, columns=list(columns_of("t_test_sensitivity")))


def _of_analysis(
    rows: pd.DataFrame, pairs: pd.DataFrame, groups: Mapping[str, str]
) -> Iterator[Row]:
    """Yield the rows of choices that need no new simulation."""
    sizes = pairs.index.get_level_values("n_samples")
    grouped = rows.assign(scenario=rows["scenario"].map(groups))
    grouped = grouped.groupby(["scenario", "n_samples", "estimator"], as_index=False)
    averaged = abs_pairs(grouped["bias_percent"].mean(), DEBIAS, SWEEP)
    ew = abs_pairs(rows, *(name.replace("_em", "_ew") for name in (DEBIAS, SWEEP)))
    without = f"without n = {sizes.max()}, as in the heat maps"
    for choice, description, chosen in (
        (CONFIGURED, "the test of table paired_t_test", pairs),
        ("without_largest_n", without, pairs[sizes < sizes.max()]),
        ("averaged_by_data_set", "bias averaged over architectures first, as drawn in Fig 4",
         averaged),
        ("equal_width", "both estimators with bins of equal width", ew),
    ):  # fmt: skip
        if len(chosen) >= 2:
            yield row(choice, description, chosen)
    one_sided = row(ONE_SIDED, "one-sided p-value", pairs)
    half = one_sided["p_value"] / 2
    yield one_sided | {"p_value": 1 - half if one_sided["t_statistic"] <= 0 else half}
    population = row(POPULATION_VARIANCE, "variance of the differences over m, not m − 1", pairs)
    t, degrees = population["t_statistic"], len(pairs) - 1
    t *= np.sqrt(len(pairs) / degrees)
    yield population | {"t_statistic": t, "p_value": 2 * stdtr(degrees, -abs(t))}


def _simulated(
    fits: dict[str, PrintedFits], seed: int, rounding_draws: int
) -> Iterator[tuple[Any, ...]]:
    """Yield choices that are simulated anew: name, description, scenarios, how they are averaged.

    They are about the estimator's root, the calibration curve, and the decimals of b0 and b1.
    """
    base, second = (
        {model: fit.scenario(number) for model, fit in fits.items()} for number in (0, 1)
    )
    root = _root_of_mean_square
    words = "a negative debiased square keeps its sign under the root"
    yield "unclipped_debias", words, base, UNCLIPPED
    words = "root of the mean unclipped square over data sets, for debias; sweep as configured"
    yield "root_of_mean_square", words, base, UNCLIPPED, root
    words = "root of the mean square over data sets, for both"
    yield "root_of_mean_square_both", words, base, UNCLIPPED, root, root
    yield "second_best_glm", "each model's GLM of second-lowest published AIC", second
    generator = np.random.default_rng([seed, _STREAM])
    for draw in range(1, rounding_draws + 1):
        moved = {name: within_rounding(scenario, generator) for name, scenario in base.items()}
        yield f"{ROUNDING}{draw}", _ROUNDING, moved


def within_rounding(scenario: Scenario, generator: np.random.Generator) -> Scenario:
    """Return the Scenario with each printed coefficient drawn from what rounds to it."""
    moved = {
        name: getattr(scenario.curve, name) + generator.uniform(-HALF_LAST_DIGIT, HALF_LAST_DIGIT)
        for name in printed_coefficients(scenario.curve)
    }
    return scenario._replace(curve=Curve(scenario.curve.name, **moved))


def _pairs_of_means(
    scenarios: Mapping[str, Scenario],
    sizes: Sequence[int],
    m: int,
    seed: int,
    precision: str,
    debias: str = DEBIAS,
    mean_a: Average = np.mean,
    mean_b: Average = np.mean,
) -> pd.DataFrame:
    """Return |mean − TCE| in percent as ``abs_pairs``, with these averages over m data sets."""
    rows = {}
    for (model, scenario), n in itertools.product(scenarios.items(), sizes):
        tce = true_calibration_error(scenario, norm=2)
        estimates = simulate_estimates(
            scenario, n, np.arange(m), [debias, SWEEP], seed=seed, precision=precision
        )
        means = mean_a(estimates[debias][0]), mean_b(estimates[SWEEP][0])
        rows[model, n] = [100 * abs(mean - tce) for mean in means]
    return pd.DataFrame.from_dict(rows, orient="index", columns=[DEBIAS, SWEEP])


def _root_of_mean_square(values: np.ndarray) -> float:
    square = np.mean(np.sign(values) * values**2)
    return np.sign(square) * np.sqrt(abs(square))


def row(choice: str, description: str, pairs: pd.DataFrame) -> Row:
    """Return a row of the table, as a dict, from |bias| in two columns."""
    columns = columns_of("t_test_sensitivity")
    test = paired_t_test(pairs, *pairs.columns)
    numbers = {name: test[name] for name in columns if name in test}
    printed = (DEBIAS_PERCENT, SWEEP_PERCENT, T_STATISTIC)
    published = dict(zip(columns[-3:], printed, strict=True))
    return {"choice": choice, "description": description, **numbers, **published}
