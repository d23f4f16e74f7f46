from pathlib import Path

import pandas as pd

from pipeline.scenarios.fits import printed_fits
from pipeline.steps import Seed
from pipeline.tables.files import groups_of, read_table, write_table
from reproduction.studies.t_test import t_test_sensitivity
from reproduction.summaries.paired_t_test import paired_t_tests


def compare_estimators(
    *,
    bias: list[Path],
    models_table: Path,
    beta_fits: Path,
    glm_fits: Path,
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
    seed: seed of all random streams
    output_tests: table paired_t_test to write
    output_sensitivity: table t_test_sensitivity to write
    """
    table = pd.concat([read_table(path) for path in bias])
    fits = printed_fits(read_table(beta_fits), read_table(glm_fits))
    groups = groups_of(read_table(models_table), models_table)
    tests = paired_t_tests(table)
    sensitivity = t_test_sensitivity(table, fits, groups, seed)
    write_table(output_tests, "paired_t_test", tests)
    write_table(output_sensitivity, "t_test_sensitivity", sensitivity)
