"""What studies make of the outcomes of their methods: rates, errors, delays, by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad

from calbias import Curve, Monitor, Scenario
from evidence.cells.clusters import ClusterCell
from evidence.cells.streams import FAULTS, GROWING, Fault, StreamRows
from evidence.names import SWEEP
from evidence.steps import measure_monitor as monitor
from evidence.steps import measure_power as power
from evidence.steps import measure_subgroups as subgroups
from evidence.steps.read_multiclass_league import reading_rows
from evidence.steps.subsample_genuine import _reduced
from pipeline.table_schema import columns_of
from reproduction.judging import DESIGN

FAULT = next(fault for fault in FAULTS if fault.from_row > 100 and fault.name != GROWING)


def test_a_rate_has_the_error_of_one_more_of_each_outcome():
    assert power._rate(np.array([True, False, False])) == (1 / 3, np.sqrt(0.4 * 0.6 / 3))


def test_a_rate_above_a_quantile_has_the_error_of_the_quantile():
    """Of 0 to 99 the level's error √(.05 · .95/100) puts the threshold between 91.9 and 96.2."""
    rate = power._above_quantile(np.array([92, 95, 96, 97, 96.3, 91.8]), np.arange(100.0))
    assert (rate.rate, rate.n_data_sets) == (1 / 2, 6)
    assert rate.of_threshold == pytest.approx((5 / 6 - 2 / 6) / 2)
    assert power._row("x", "y", 5, rate)["rejection_rate_se"] == np.hypot(rate.error, 1 / 4)
    assert power._above_quantile(np.array([0.0, 0.0, 1.0]), np.zeros(100)).of_threshold == 0


def test_calibrated_cells_have_the_data_sets_of_the_null():
    plan = power.Power([], 10, 0, null_replicates=30)
    cells = (
        power.SampledCell(Scenario("x", 2, 1, Curve(name, 0, 2))) for name in ("identity", "power")
    )
    assert [plan._data_sets(cell, 50) for cell in cells] == [30, 10]
    assert (
        power.Power([], 10, 0)._data_sets(
            power.SampledCell(Scenario("x", 2, 1, Curve("identity"))), 50
        )
        == 10
    )


def test_the_detected_error_is_where_a_tenth_is_missed(monkeypatch):
    """A test that rejects with probability 0.9·TCE·√n/1.6 misses a tenth at 1.6/√n."""

    def rows(self, scenarios, sizes):
        (scenario,), (n,) = scenarios, sizes
        assert (scenario.alpha, scenario.beta, scenario.curve.b0) == (1, 1, 0)
        tce = np.sqrt(quad(lambda c: (scenario.curve.at(c) - c) ** 2, 0, 1)[0])
        yield {
            "test": "x",
            "rate": power.Rate(min(0.9 * tce * np.sqrt(n) / 1.6, 1.0), 0.01, 0.0, 1000),
        }

    monkeypatch.setattr(power.Power, "rows", rows)
    found = power.detection_rows([], [100, 400], 10, 0)
    assert found["tce_percent"].to_numpy() == pytest.approx([16, 8], rel=0.003)
    assert list(found["test"]) == ["x", "x"]


def test_slow_tests_are_left_out_at_the_largest_size(monkeypatch):
    asked, tables = [], {}

    def rows(*words):
        asked.append(words)
        return []

    monkeypatch.setattr(power, "power_rows", rows)
    monkeypatch.setattr(power, "detection_rows", lambda tests, *words: rows(tests, None, *words))
    monkeypatch.setattr(power, "cluster_rows", lambda *words: [("clusters", *words)])
    monkeypatch.setattr(power.pd, "concat", lambda parts: parts)
    monkeypatch.setattr(power, "write_table", lambda path, name, rows: tables.update({name: rows}))
    scenarios = power.power_scenarios()
    of_step = {"n_samples": [200, 50, 100], "replicates": 20, "null_replicates": 40, "seed": 3}
    outputs = {"output_power": None, "output_detection": None}
    power.measure_power(tests=["verdict"], slow_tests=["y"], **of_step, **outputs)
    assert asked == [
        (tests, some, sizes, 20, 3, 40)
        for tests, sizes in ((["verdict"], [50, 100, 200]), (["y"], [50, 100]))
        for some in (scenarios, None)
    ]
    assert tables["test_power"] == [("clusters", 20, 3)]
    asked.clear()
    power.measure_power(tests=["cox_lrt"], slow_tests=[], **of_step, **outputs)
    power.measure_power(tests=[], slow_tests=["y"], **of_step | {"n_samples": [9]}, **outputs)
    assert len(asked) == 2
    assert tables["test_power"] == []


def test_delays_count_from_the_first_row_of_the_fault():
    first = FAULT.from_row
    alarms = np.array([
        (first - 1, np.nan, np.nan), (first, first, first), (first + 9, first + 1, first + 5),
        (first + 19, first - 5, first - 1), (first + 29, first - 5, first + 5),
        (np.inf, np.nan, np.nan),
    ])  # fmt: skip
    row = monitor._fault_row(FAULT, 999, alarms, 10.0)
    assert (row["n_streams"], row["alarms"], row["early_alarms"]) == (6, 5, 1)
    assert (row["median_delay"], row["delay_of_90_in_100"], row["delay_ratio"]) == (20, np.inf, 2)
    assert row["since_coverage"] == 2 / 4
    assert set(row) <= set(columns_of("monitor"))
    never = monitor._fault_row(FAULT, 999, alarms[[0, -1]], 10.0)
    assert np.isnan(never["since_coverage"])


@pytest.mark.parametrize(
    ("is_found", "delay"),
    [
        (lambda n, seed: n >= 300, 300),
        (lambda n, seed: seed % 2 == 0, 20),  # half of the data sets is enough
        (lambda n, seed: seed % 4 >= 2, 20),  # the last two of four
        (lambda n, seed: seed % 4 == 0, 6000),
    ],
)
def test_the_verdicts_delay_is_where_it_finds_half(monkeypatch, is_found, delay):
    def judge(scored, seed):
        return SimpleNamespace(miscalibrated=is_found(scored.n, seed))

    monkeypatch.setattr(monitor, "judge", judge)

    def rows(self, generator, n):
        assert self.from_row == 1
        return np.full(n, 0.5), np.arange(n) % 2

    monkeypatch.setattr(Fault, "rows", rows)
    assert monitor.verdict_delay(FAULT, 4, 0) == pytest.approx(delay, rel=0.06)
    growing = next(fault for fault in FAULTS if fault.name == GROWING)
    assert np.isnan(monitor.verdict_delay(growing, 4, 0))


@pytest.mark.parametrize(("n", "is_read"), [(200, True), (400, True), (300, False), (600, False)])
def test_a_verdict_is_read_every_200_rows_to_the_last(monkeypatch, n, is_read):
    judge = lambda scored, seed: SimpleNamespace(miscalibrated=scored.n == n == seed)  # noqa: E731
    monkeypatch.setattr(monitor, "judge", judge)
    assert monitor._rejects_once(StreamRows(np.full(400, 0.5), np.arange(400) % 2)) is is_read


@pytest.mark.parametrize("rows", [20, 400])
def test_genuine_rows_are_watched_from_the_oldest(tmp_path, rows):
    scores = np.random.default_rng(0).uniform(0.6, 0.9, rows)
    table = pd.DataFrame({"score": scores, "hit": np.arange(rows) % 2})
    table.to_parquet(tmp_path / "x.parquet")
    row, watched = monitor.genuine_row(tmp_path / "x.parquet")
    direct = Monitor(0.05)
    direct.update(scores[::-1], table["hit"].to_numpy()[::-1])
    assert watched.evidence == direct.evidence
    assert (row["n_rows"], row["n_streams"], row["alarms"]) == (rows, 1, int(rows == 400))
    assert row["alarm_row"] == direct.alarm
    assert row["from_row"] == (direct.since and direct.since.row)


def test_rates_of_subgroups_by_hand():
    """Three of four reject, one of them names the pair; two cover."""
    values = np.array(
        [(1, 1, 0, 5, 0.2, 1), (1, 0, 1, 5, 0.4, 0), (1, 1, 0, 6, 0.2, 0), (0, 0, 0, 5, 0.4, 0)]
    )
    cell = SimpleNamespace(name="a pair", half="judging", is_calibrated=False, fault="a pair")
    (row,) = subgroups._row(cell, 50, {}, {"subgroups": values})
    assert (row["rejection_rate"], row["coverage"], row["named"]) == (3 / 4, 1 / 2, 1 / 3)
    assert (row["n_data_sets"], row["n_segments"]) == (4, 5)
    assert row["misnamed"] == 1 / 4
    assert row["rejection_rate_se"] == pytest.approx(np.sqrt(3 / 16 / 4))
    assert row["coverage_se"] == pytest.approx(1 / 4)
    assert row["mean_length"] == pytest.approx(0.3)
    for some, named, error in ((0 * values, 0, np.sqrt(1e-4 / 4)), (values[[1, 3]], 1, 8**-0.5)):
        (row,) = subgroups._row(cell, 50, {}, {"subgroups": some})
        assert (row["named"], row["rejection_rate_se"]) == (named, pytest.approx(error))
    for cell.fault, misnamed in (("", 1 / 4), (None, None)):
        (row,) = subgroups._row(cell, 50, {}, {"subgroups": values})
        assert (row["named"], row["misnamed"]) == (None, misnamed)


def test_rows_of_a_segment_fulfil_all_its_parts():
    columns = {"a": np.array([1, 1, 2]), "b": np.array([3, 4, 4])}
    masks = list(subgroups._rows([subgroups.ALL, "a = v1", "a = v1 and b = v4"], columns))
    assert np.array(masks).tolist() == [[True] * 3, [True, True, False], [False, True, False]]


def test_a_fault_begins_at_its_row():
    """From row 4 on all are hits; before, few are."""
    fault = Fault("all hit", DESIGN, "Beta(0.6, 30)", np.ones_like, 4)
    hits = np.array([fault.draw(6, 0, number).hits for number in range(50)])
    assert hits[:, 3:].all()
    assert hits[:, :3].mean() < 0.1


def test_hits_of_a_cluster_have_the_correlation_of_their_normals():
    """At a rate of 1/2 normals of correlation 1/2 have signs of correlation 2/π arcsin(1/2)."""
    hits = ClusterCell(2000, 10, 0.5, (1e6, 1e6)).draw(0, 0, 0).hits.reshape(2000, 10)
    of_pairs = (hits.sum(axis=1) ** 2 - hits.sum(axis=1)).mean() / 90
    assert (of_pairs - 1 / 4) / (1 / 4) == pytest.approx(1 / 3, abs=0.05)


def test_a_genuine_file_has_two_references():
    """The debiased value of all rows, 3 %, and each estimator's own: by its own "one" is nearer."""
    cell = SimpleNamespace(name="file", rows=SimpleNamespace(hit=np.zeros(9)))
    values = {"one": np.array([0.05, 0.05]), SWEEP: np.array([0.04, 0.04])}
    own, reference = {"one": 0.055, SWEEP: 0.06}, (0.03, 0.001)
    row, _ = _reduced(cell, 4, {}, values, kind="scores", full_estimates=own, reference=reference)
    found = [row[name] for name in ("rmse_percent", "ratio_to_sweep", "own_ratio_to_sweep")]
    assert found == pytest.approx([2, 2, 1 / 4])
    assert (row["reference_percent"], row["own_reference_percent"]) == pytest.approx((3, 5.5))


def test_the_reading_of_a_league_of_all_classes():
    """Without its noise an estimator is nearer in two of three cells; of a calibrated model the
    larger floor is told."""
    rows = [
        ("a", "calibrated", 0.0, 0.04, 0.04),
        ("b", "x", 0.1, 0.2, 0.1),
        ("c", "y", 0.1, 0.2, 0.1),
    ]
    rows = pd.DataFrame(rows, columns=["scenario", "map", "truth", "mean_estimate", "rmse"])
    corrected = rows.assign(estimator="ece_corrected", mean_estimate=0.01, rmse=[0.01, 0.02, 0.2])
    league = pd.concat([rows.assign(estimator="ece"), corrected], ignore_index=True)
    league = league.assign(
        population="net", n_samples=50, target="classwise_l1", relative_rmse_se=0.01,
        relative_rmse=league["rmse"] / 0.1 * (league["scenario"] != "c"),
    )  # fmt: skip
    nearest, closer = (row["sentence"] for row in reading_rows(league))
    assert "is ece_corrected (" in nearest
    assert "ece prints 0.04" in nearest
    assert "in 2 of 3 cells" in closer
