"""Two folders of results compared."""

import json

import pandas as pd
import pytest

from calbias.errors import InputError
from reproduction.steps.compare_runs import compared


def run(folder, seed, verdicts, values):
    (folder / "tables").mkdir(parents=True)
    record = {"files": {}, "config": {"seed": seed}}
    (folder / "provenance.json").write_text(json.dumps(record))
    claims = pd.DataFrame([(x, v, f"it is {v}") for x, v in verdicts.items()])
    claims.set_axis(["id", "verdict", "reason"], axis=1).to_csv(
        folder / "tables/claims.csv", index=False
    )
    rows = [("R01", "bias", case, "percent", value, 0.1) for case, value in values.items()]
    columns = ["id", "name", "case", "unit", "value", "error"]
    pd.DataFrame(rows, columns=columns).to_csv(folder / "tables/measurements.csv", index=False)
    return folder


def test_verdicts_and_numbers_that_differ_are_named_with_their_size(tmp_path):
    before = run(tmp_path / "a", 1, {"R01": "reproduced", "R02": "approximate", "R03": "x"},
                 {"n = 1": 2.0, "n = 2": 4.0, "n = 3": 0.0})  # fmt: skip
    after = run(tmp_path / "b", 2, {"R01": "reproduced", "R02": "reproduced", "R04": "x"},
                {"n = 1": 2.001, "n = 2": 3.0, "n = 3": 0.0})  # fmt: skip
    assert [*compared(before, after)] == [
        "seed: 1 → 2",
        "only before: R03", "only after: R04",
        "2 claims, 1 verdicts differ",
        "R02: approximate → reproduced (it is approximate → it is reproduced)",
        "3 numbers, 1 differ by more than 0.01 of their value, 1 by more than three standard "
        "errors",
        "R01 bias, n = 2: 4 → 3 (+25.0%, 7.1 standard errors)",
    ]  # fmt: skip
    assert [*compared(before, before)][:1] == ["3 claims, 0 verdicts differ"]
    with pytest.raises(InputError, match="no such folder; give the folder of results"):
        [*compared(tmp_path / "c", after)]
