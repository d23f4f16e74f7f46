"""The tables of the averaged posterior's study, small."""

import pandas as pd
import pytest
from command import run

import evidence.studies.posterior_scenarios as listed
from evidence.studies.averaged_posterior import RIVALS, ratios
from evidence.studies.posterior_scenarios import SCENARIOS, StudyScenario, random_world


def test_scenarios_have_names_of_their_own_and_truths_between_0_and_1():
    names = [scenario.name for scenario in SCENARIOS]
    assert len(set(names)) == len(names)
    for scenario in SCENARIOS:
        truths = scenario.truths()
        assert 0 <= truths[1] <= truths[2] + 1e-12 <= 1
        assert (truths[1] == 0) == ("calibrated" in scenario.name)


@pytest.mark.parametrize("scenario", [SCENARIOS[1], SCENARIOS[3], random_world(4)])
def test_data_are_a_function_of_seed_and_number(scenario: StudyScenario):
    first, again, other = (scenario.draw(50, 1, number) for number in (0, 0, 1))
    assert (first[0] == again[0]).all()
    assert (first[1] == again[1]).all()
    assert (first[0] != other[0]).any()


@pytest.mark.parametrize("part", ["rmse", "coverage", "limit"])
def test_tables(tmp_path, monkeypatch, part):
    two = [SCENARIOS[0], SCENARIOS[4]]
    monkeypatch.setattr(listed, "SCENARIOS", two)
    path = tmp_path / "table.csv"
    run("tabulate_posterior", part=part, half="design", data_sets=3, sizes=[100], output=path)
    table = pd.read_csv(path)
    assert set(table["scenario"]) == {scenario.name for scenario in two}
    if part == "rmse":
        assert set(ratios(table)["estimator"]) == set(RIVALS)
    if part == "coverage":
        assert table["coverage"].between(0, 1).all()
