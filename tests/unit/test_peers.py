"""What other packages print (resources/evidence/peers): recorded values and their causes."""

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT

from evidence.peers.causes import CAUSES, TOLERANCE
from evidence.steps import compare_peers

VALUES = pd.read_csv(ROOT / "resources/evidence/peers/values.csv")
DATA = compare_peers.data_sets()


def test_calbias_still_gives_the_recorded_values():
    recorded = VALUES.dropna(subset="calbias").drop_duplicates(["data_set", "quantity"])
    for row in recorded.itertuples():
        value = compare_peers.ours(row.quantity, *DATA[row.data_set])
        assert value == pytest.approx(row.calbias, abs=1e-12), (row.data_set, row.quantity)


def test_every_difference_has_an_established_cause():
    different = VALUES[VALUES["difference"].abs() > compare_peers.SAME]
    assert len(different) > 50
    assert different["cause_established"].astype(str).eq("True").all()


@pytest.mark.parametrize(("peer", "quantity"), list(CAUSES))
def test_a_cause_reproduces_what_the_peer_prints(peer, quantity):
    rows = VALUES[(VALUES["peer"] == peer) & (VALUES["quantity"] == quantity)]
    rows = rows.dropna(subset="printed")
    assert len(rows) >= 4
    tolerance = max(TOLERANCE.get((peer, quantity), 1e-6), compare_peers.SAME)
    for row in rows.itertuples():
        value = CAUSES[peer, quantity][1](*DATA[row.data_set])
        assert value == pytest.approx(row.printed, abs=tolerance)


def test_the_ordinary_ece_is_the_same_everywhere_off_the_edges():
    rows = VALUES[(VALUES["quantity"] == "ece_width") & (VALUES["peer"] != "mapie")]
    rows = rows[rows["data_set"] != "tied"]
    assert rows["peer"].nunique() == 8
    assert np.abs(rows["difference"]).max() < 1e-9
