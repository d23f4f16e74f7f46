"""Forecasts of games: a calibrated and an overconfident control, and rows in clusters."""

import numpy as np
import pytest
from shipped import shipped, shipped_path

from calbias.auditing.audit import audit_data
from calbias.auditing.inputs import EVENT, Options, read_data
from calbias.logits.columns import Columns


@pytest.mark.parametrize(
    ("name", "ece", "mean", "rate", "miscalibrated"),
    [("mlb_games", 0.0101, 0.0, 0.0, False), ("nba_games", 0.0485, 0.619, 0.572, True)],
)
def test_a_control_of_each_kind(name, ece, mean, rate, miscalibrated):
    entry = shipped("forecasts")[name]
    columns = Columns("score", label=entry["label"])
    data = read_data(shipped_path("forecasts", name), columns=columns)
    assert data.kind == EVENT
    assert data.scored.n == entry["rows"]
    audit = audit_data(data, Options(norm=1.0, seed=1), {"ece_bin_ew": None})
    assert audit.ece == pytest.approx(ece, abs=0.001)
    assert audit.miscalibrated == miscalibrated
    if miscalibrated:  # the home team wins less often than it is given
        assert np.mean(data.rows.score) == pytest.approx(mean, abs=0.001)
        assert np.mean(data.rows.hit) == pytest.approx(rate, abs=0.001)
        assert audit.p_value < 0.001
    else:
        assert audit.p_value > 0.1


def test_forecasts_during_a_game_are_clusters_of_rows():
    entry = shipped("forecasts")["march_madness_in_game_men"]
    columns = Columns("score", label=entry["label"], cluster=entry["clusters"])
    path = shipped_path("forecasts", "march_madness_in_game_men")
    data = read_data(path, columns=columns)
    assert len(np.unique(data.clusters)) == 401
    assert data.scored.n == entry["rows"] == 68_513
