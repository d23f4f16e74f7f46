"""Table true_calibration_error: the numbers, and each scenario once."""

import pytest
from command import made


@pytest.mark.parametrize(
    ("norm", "expected"),
    [
        (2, [(1 / 3 - 2 / 3.5 + 1 / 4) ** 0.5, (1 / 3 - 2 / 4 + 1 / 5) ** 0.5]),
        (1, [0.5 - 0.4, 0.5 - 1 / 3]),
    ],
)
def test_scenarios_of_several_tables_are_there_once(chain, tmp_path, norm, expected):
    name = "true_calibration_error"
    scenarios = [chain.scenarios] * 2
    table = made(name, "compute_true_error", tmp_path, scenarios=scenarios, norm=norm)
    assert table["tce_percent"].tolist() == pytest.approx([100 * x for x in expected], rel=1e-8)
    assert table["norm"].tolist() == [norm] * 2
