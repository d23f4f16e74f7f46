"""The networks that ship: their truth, computed again from the counts."""

import numpy as np
import pytest
from checkout import ROOT

import calbias
from pipeline.networks import read_networks

FOLDER = ROOT / "resources/networks"
FILES = [FOLDER / name for name in ("networks.csv", "sketches.parquet", "top_labels.parquet")]


@pytest.mark.slow
def test_the_curve_of_the_counts_has_the_stated_error():
    networks = read_networks(*FILES)
    assert len(networks) >= 39
    for population, about, log_odds, hits, *_ in networks[::4]:
        for norm in (1, 2):
            if about[f"l{norm}_percent"] > 1:  # the kept values of lesser ones are cut off at 0
                error = 100 * calbias.true_calibration_error(population, norm=norm)
                error -= about[f"l{norm}_percent"]
                assert abs(error) < 2 * about[f"l{norm}_se_percent"]
        rate = population.hits.sum() / population.n.sum()
        spread = 4 * (rate * (1 - rate) / len(hits)) ** 0.5
        assert 100 * rate == pytest.approx(100 - about["error_percent"], abs=0.001)
        assert abs(hits.mean() - rate) < spread
        middle = population.log_odds(np.array([0.5]), upper=False)
        assert abs((log_odds < middle).mean() - 0.5) < 4 * 0.5 / len(hits) ** 0.5
