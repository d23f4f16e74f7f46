"""Certified data sets by a second program and by calbias; what other packages print."""

from fractions import Fraction
from hashlib import sha256

import certified_check
import numpy as np
import pandas as pd
import pytest
from conftest import EVIDENCE
from mpmath import mp, mpf
from nightly import daily

import calbias
from calbias.reading.checks import as_top_label
from evidence.cells.beta import Wave
from evidence.certified import values as certified
from evidence.certified.values import FOLDER
from evidence.estimators import estimate, known_estimators
from evidence.peers.causes import CAUSES, TOLERANCE
from evidence.steps import compare_peers
from reproduction.measures import MEASURES

DATA = certified.data_sets()
NAMES = [data.name for data in DATA]
BY_SIZE = sorted(DATA, key=lambda data: len(data.scores))
TRUTHS = certified.contents()["truths"]


def arrays(data):
    return np.array(data.scores, float), np.array(data.hits)


def test_what_there_is():
    assert len(DATA) >= 20
    assert all(1 <= len(data.scores) == len(data.hits) <= 200 for data in DATA)
    estimators = {value["measure"] for data in DATA for value in data.values.values()}
    left = {*known_estimators()} - estimators
    # fitted, smoothed by a published program's grid, or integrals: no finite definition
    assert {name.partition("_")[0] for name in left} <= {
        "beta", "e50", "e90", "kde", "plugin", "smece", "variational", "averaged",
    }  # fmt: skip


@pytest.mark.parametrize("data", daily(BY_SIZE, 5), ids=lambda data: data.name)
def test_a_second_program_gives_the_same_digits(data):
    """All 17 digits; of the smooth error, by a linear program in float64, 12."""
    scores, hits, p, labels = certified_check.rows_of(FOLDER / f"{data.name}.csv")
    with mp.workdps(60):
        for key, value in data.values.items():
            if value["measure"] in ("brier", "nll", "classwise_ece"):
                again = certified_check.of_classes(value["measure"], value["options"], p, labels)
            else:
                again = certified_check.check(value["measure"], value["options"], scores, hits)
            if isinstance(again, float):
                assert again == pytest.approx(float(value["value"]), abs=1e-12), key
                continue
            if not isinstance(again, mpf):
                again = certified_check.exact(Fraction(again))
            printed = mpf(value["value"])
            assert abs(again - printed) <= abs(printed) * mpf("5.1e-17") + mpf("1e-45"), key
            if value["exact"] is not None:
                power = certified_check.exact(Fraction(value["exact"]))
                size = abs(again) ** value["root"]
                assert abs(size - abs(power)) <= mpf("1e-45"), key


@pytest.mark.parametrize("data", DATA, ids=NAMES)
def test_calbias_agrees(data):
    """To 1e-15; where a root follows a difference that nearly cancels, the square is to 1e-15."""
    scores, hits = arrays(data)
    for key, value in data.values.items():
        if not value["calbias"]:
            continue
        found = estimate(value["measure"], scores, hits, **value["options"])
        expected = float(value["value"])
        if (value["root"] == 2 and "debias" in key) or value["measure"] == "mmce":
            squares = (x * abs(x) for x in (found.value, expected))
            assert next(squares) == pytest.approx(next(squares), rel=1e-13, abs=2e-16), key
        else:
            assert found.value == pytest.approx(expected, rel=1e-13, abs=1e-15), key
        assert value.get("n_bins") in (None, found.n_bins), key
    for name, value in data.values.items():
        if name in MEASURES and not value["calbias"] and not value["options"]:
            given = scores, hits
            if MEASURES[name].reads == "probabilities":
                probabilities, labels = zip(*data.classes, strict=True)
                given = np.array(probabilities, float), np.array(labels)
            again = MEASURES[name].of(*given)
            assert again == pytest.approx(float(value["value"]), rel=1e-13, abs=1e-15), name


def test_conventions_differ_where_the_data_are_made_for_it():
    values = {
        data.name: {key: float(value["value"]) for key, value in data.values.items()}
        for data in DATA
    }
    edges, one = values["edges"], values["one_value"]
    assert edges["ece_bin_ew n_bins=5"] != edges["ece_bin_ew n_bins=5 edge=upper"]
    assert one["ece_bin_em"] == 0.1
    assert one["ece_debias_em ties=cut"] < 0.02 < 0.09 < one["ece_debias_em"]
    assert values["calibrated"]["ece_bin_ew"] == 0


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda t: f"{t['name']}-{t['norm']}")
def test_truths_by_calbias_quadrature(truth):
    b0, b1 = float(truth["b0"]), float(truth["b1"])
    is_wave = truth["curve"] == "wave"
    curve = Wave(b0=b0, b1=int(b1)) if is_wave else calbias.Curve(truth["curve"], b0, b1)
    scores = float(truth["alpha"]), float(truth["beta"])
    scenario = calbias.Scenario(truth["name"], *scores, curve)
    value = calbias.true_calibration_error(scenario, norm=truth["norm"])
    expected = float(truth["value"])
    assert value == pytest.approx(expected, rel=8e-16, abs=1e-300)
    if truth["exact"] is not None:
        root = float(Fraction(truth["exact"])) ** (1 / truth["norm"])
        assert expected == pytest.approx(root, rel=4e-16)


@pytest.mark.nightly
@pytest.mark.slow
def test_the_values_are_computed_again():
    assert certified.computed() == (FOLDER / "values.json").read_text(encoding="utf-8")


def test_the_certified_files_have_their_checksums():
    sums = (line.split("  ") for line in (FOLDER / "SHA256SUMS").read_text().splitlines())
    found = {name: sha256((FOLDER / name).read_bytes()).hexdigest() for _, name in sums}
    lines = "".join(f"{digest}  {name}\n" for name, digest in found.items())
    assert lines == (FOLDER / "SHA256SUMS").read_text()
    assert {*found} == {x.name for x in FOLDER.iterdir()} - {"README.md", "SHA256SUMS"}


def test_hits_and_scores_are_those_of_the_top_label():
    for data in DATA:
        if data.classes:
            probabilities, labels = (np.array(part) for part in zip(*data.classes, strict=True))
            top = as_top_label(None, None, probabilities=probabilities.astype(float), labels=labels)
            for found, expected in zip((top.score, top.hit), arrays(data), strict=True):
                np.testing.assert_array_equal(found, expected)


VALUES = pd.read_csv(EVIDENCE / "resources/peers/values.csv")
PEERS_DATA = compare_peers.data_sets()


def test_calbias_still_gives_the_recorded_values():
    recorded = VALUES.dropna(subset="calbias").drop_duplicates(["data_set", "quantity"])
    for row in recorded.itertuples():
        value = compare_peers.ours(row.quantity, *PEERS_DATA[row.data_set])
        assert value == pytest.approx(row.calbias, abs=1e-12), (row.data_set, row.quantity)


def test_every_difference_has_an_established_cause():
    different = VALUES[VALUES["difference"].abs() > compare_peers.SAME]
    assert len(different) > 50
    assert different["cause_established"].astype(str).eq("True").all()


@pytest.mark.parametrize(("peer", "quantity"), daily(CAUSES, 4))
def test_a_cause_reproduces_what_the_peer_prints(peer, quantity):
    rows = VALUES[(VALUES["peer"] == peer) & (VALUES["quantity"] == quantity)]
    rows = rows.dropna(subset="printed")
    assert len(rows) >= 4
    tolerance = max(TOLERANCE.get((peer, quantity), 1e-6), compare_peers.SAME)
    for row in rows.itertuples():
        value = CAUSES[peer, quantity][1](*PEERS_DATA[row.data_set])
        assert value == pytest.approx(row.printed, abs=tolerance)


def test_the_ordinary_ece_is_the_same_everywhere_off_the_edges():
    rows = VALUES[(VALUES["quantity"] == "ece_width") & (VALUES["peer"] != "mapie")]
    rows = rows[rows["data_set"] != "tied"]
    assert rows["peer"].nunique() == 8
    assert np.abs(rows["difference"]).max() < 1e-9
