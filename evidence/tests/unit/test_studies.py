"""Studies: the monitor's streams, feedback and faults; times of fits; scores stored as floats."""

from dataclasses import replace

import numpy as np
import pytest

from benchmark import row
from calbias import Curve, Monitor, Scenario
from calbias.engine.sampler import Sampler
from calbias.estimation.loading import load_estimator
from evidence.cells.streams import CALIBRATED, FAULTS
from evidence.steps import measure_monitor as study
from evidence.steps.compare_precisions import precision_rows
from evidence.steps.measure_fit_times import METHODS, fit_time_rows
from pipeline.table_schema import columns_of


def recorded(steps, rows):
    """Return (scores, hits, ids) of the steps that have so many rows, and of one more."""
    parts, done = [], 0
    for number, (scores, hits) in enumerate(steps):
        parts.append((scores, hits, np.full(scores.shape, number)))
        if np.max(done) >= rows:
            break
        done = done + np.sum(~np.isnan(scores), axis=1)
    return [np.concatenate(column, axis=1) for column in zip(*parts, strict=True)]


@pytest.mark.parametrize("name", CALIBRATED)
def test_streams_side_by_side_have_the_evidence_of_a_monitor(name):
    steps, rows = CALIBRATED[name], 60
    largest, last = study.evidence_of(steps(np.random.default_rng(1), 3), rows)
    columns = recorded(steps(np.random.default_rng(1), 3), rows)
    for stream, (scores, hits, ids) in enumerate(zip(*columns, strict=True)):
        monitor = Monitor()
        are_rows = ~np.isnan(scores)
        monitor.update(*(x[are_rows] for x in (scores, hits, ids)))  # the last stays open
        assert last[stream] == pytest.approx(monitor.evidence, rel=1e-9)
        assert largest[stream] >= last[stream]


@pytest.mark.parametrize("name", CALIBRATED)
def test_calibrated_streams_have_as_many_hits_as_their_scores_say(name):
    scores, hits, _ = recorded(CALIBRATED[name](np.random.default_rng(2), 40), 600)
    errors = np.nansum(scores - hits, axis=1)
    assert abs(errors.mean()) < 5 * errors.std() / np.sqrt(40)


def test_a_fault_begins_at_its_row():
    generator = np.random.default_rng(0)
    (fault,) = (fault for fault in FAULTS if fault.name == "band 0.45 to 0.50")
    scores, hits = replace(fault, from_row=20_001).rows(generator, 40_000)
    inside = (scores >= 0.45) & (scores < 0.5)
    gaps = [(scores - hits)[part][inside[part]].mean() for part in np.split(np.arange(40_000), 2)]
    assert gaps == pytest.approx([0, 0.3], abs=0.06)


@pytest.mark.nightly
@pytest.mark.slow
def test_a_row_of_the_table():
    (fault,) = (fault for fault in FAULTS if fault.name == "slope 0.6")
    (row,) = study.fault_rows(3, 0, [fault], 3000)
    assert set(row) <= set(columns_of("monitor"))
    assert row["alarms"] == 3
    assert 10 < row["verdict_delay"] < row["median_delay"] < 999
    (repeated,) = study.repeated_verdict_rows(2, 0)
    assert repeated["alarms"] <= 2


def test_ratio_is_baseline_over_implementation():
    def busy(count):
        return lambda: sum(k * k for k in range(count))

    _, _, baseline, _, seconds, slower, median, low, high = row(
        "count", 1, busy(20_000), ("b", busy(80_000))
    )
    assert baseline == "b"
    assert 2 < median < 8
    assert low <= median <= high
    assert seconds < slower


def test_every_method_is_fitted_at_every_size():
    rows = list(fit_time_rows(1, sizes=((60, 3), (90, 3))))
    assert [row["method"] for row in rows] == 2 * list(METHODS)
    assert all(0 < row["seconds_low"] <= row["seconds"] <= row["seconds_high"] for row in rows)
    assert columns_of("fit_times") == (*rows[0], "processor")


STEEP = Scenario("steep", 2.0, 0.04, Curve("logit_logflip_b1", b1=-0.1))


def test_the_effect_on_an_estimator_is_that_of_the_same_draws():
    run = {name: load_estimator(name) for name in ("ece_sweep_em", "ece_debias_em")}
    rows = {
        (row["estimator"], row["precision"], row["ties"]): row
        for row in precision_rows(STEEP, 400, 20, run, seed=3)
    }
    assert len(rows) == 8
    sweep = rows["ece_sweep_em", "float64", "average"]
    values = {
        name: 100 * run["ece_sweep_em"](data, 15, 2.0)[0]
        for name in ("exact", "float64")
        for data in Sampler(STEEP, 400, 3, precision=name).batches(range(20))
    }
    difference = values["float64"] - values["exact"]
    assert sweep["effect_percent"] == pytest.approx(difference.mean())
    assert sweep["effect_se_percent"] == pytest.approx(difference.std(ddof=1) / 20**0.5)
    assert sweep["bias_percent"] - sweep["bias_exact_percent"] == pytest.approx(difference.mean())
    assert 0.1 < sweep["share_at_one"] < rows["ece_sweep_em", "float32", "average"]["share_at_one"]


def test_the_sweep_stops_earlier_on_floats():
    """A miss among scores of 1 can be at any rank there: fewer bins, a lower estimate."""
    densenet = Scenario("densenet40_c10", 1.9824, 0.0397, Curve("logit_logflip_b1", b1=-0.26))
    run = {name: load_estimator(name) for name in ("ece_sweep_em", "ece_bin_em")}
    rows = {
        (row["estimator"], row["ties"]): row
        for row in precision_rows(densenet, 12_800, 600, run, seed=1)
        if row["precision"] == "float64"
    }
    sweep = rows["ece_sweep_em", "input_order"]
    assert abs(sweep["effect_percent"] + 0.059) < 3 * np.hypot(0.004, sweep["effect_se_percent"])
    assert sweep["mean_n_bins_used"] < sweep["mean_n_bins_exact"]
    assert abs(rows["ece_bin_em", "average"]["effect_percent"]) < 1e-3
