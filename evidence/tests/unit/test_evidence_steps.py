"""Columns and counts of the steps that measure evidence, on toys by hand."""

from itertools import islice, pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from calbias import Curve, Monitor, Scenario
from evidence import runner
from evidence.calibration_tests import CalibrationTest
from evidence.cells import clusters as cluster_cells
from evidence.cells.beta import BetaCell
from evidence.cells.clusters import ClusterCell, Clustered
from evidence.cells.streams import FAULTS, GROWING, StreamRows
from evidence.cells.subgroups import PAIR
from evidence.figures.interval_coverage import DRAWN_AT
from evidence.runner import Batch, Method
from evidence.steps import measure_coverage as coverage
from evidence.steps import measure_monitor as monitor
from evidence.steps import measure_power as power
from evidence.steps import measure_subgroups as subgroups
from reproduction.judging import JUDGING, Drawn, HalfCell
from reproduction.steps import measure_judging_cells as judging


def as_rows(scores, hits):
    """Return a data set of a study."""
    return StreamRows(np.array(scores), np.array(hits))


class Numbers(Drawn):
    """A cell whose data sets are 100·n + their number."""

    name = "numbers"

    def draw(self, n, seed, number):
        return 100 * n + 10 * seed + number


def test_a_study_gives_each_method_its_data_sets_and_the_reducer_their_values():
    asked = []

    def reduce(cell, n, methods, values):
        asked.append((cell.name, n, list(methods)))
        yield {name: of_method.tolist() for name, of_method in values.items()}

    def methods(cell, n):
        double = runner.each(lambda number: 2 * number)
        return {"all": Method("", double), "two": Method("", double, 2), "none": Method("", 1, 0)}

    cells = runner.at_sizes([Numbers()], [1, 2])
    rows = list(runner.run(cells, methods, lambda cell, n: n + 1, 3, reduce))
    assert asked == [("numbers", n, ["all", "two", "none"]) for n in (1, 2)]
    assert rows == [
        {"all": [260, 262], "two": [260, 262]}, {"all": [460, 462, 464], "two": [460, 462]}
    ]  # fmt: skip
    (row,) = runner.run([(Numbers(), 1)], methods, 1, 0, reduce)
    assert row == {"all": [200], "two": [200]}
    assert np.isnan(Numbers().truth("l1"))


def test_a_method_gets_the_first_data_sets_of_a_batch():
    class Scored(Batch):
        scores = np.zeros((3, 7))

    sizes = {"all": Method("", np.array), "four": Method("", np.array, 4)}
    values = runner.values_of(sizes, [Scored([1, 2, 3]), Batch([4, 5])])
    assert {name: x.tolist() for name, x in values.items()} == {
        "all": [1, 2, 3, 4, 5], "four": [1, 2, 3, 4]
    }  # fmt: skip


@pytest.mark.parametrize(
    "redraws", [coverage._REDRAWS, power._REDRAWS, subgroups.REPLICATES, cluster_cells.REDRAWS]
)
def test_a_verdict_of_a_study_is_exact_at_5_percent(redraws):
    assert (redraws + 1) % 20 == 0


def found(low, high, miscalibrated=True, first=PAIR):
    segments = [first, subgroups.ALL]
    table = pd.DataFrame({"segment": segments, "low": [low, 0.0], "high": [high, 0.2]})
    apart = table[:1] if miscalibrated else table[:0]
    return SimpleNamespace(table=table, miscalibrated=miscalibrated, apart=apart)


@pytest.mark.parametrize(
    ("result", "outcomes"),
    [
        (found(0.4, 0.6), (True, True, True)),
        (found(0.5, 0.6), (True, True, True)),  # ends count
        (found(0.4, 0.5), (True, True, True)),
        (found(0.55, 0.75), (True, False, True)),
        (found(0.25, 0.45), (True, False, True)),
        (found(0.4, 0.6, False), (False, True, False)),
        (found(0.4, 0.6, first="a = v1"), (True, False, False)),  # its gap is 1/4
    ],
)
def test_outcomes_of_a_test_over_subgroups(monkeypatch, result, outcomes):
    """Rows of a = 1 have gaps 0 and 1/2, the latter with b = 2; on average gaps are 1/6."""
    asked = {}

    def test(scores, hits, texts, clusters, **options):
        asked.update(options, texts={name: list(words) for name, words in texts.items()})
        return result

    monkeypatch.setattr(subgroups, "audit_subgroups", test)
    columns = {"a": np.array([0, 1, 1]), "b": np.array([2, 1, 2])}
    scores, rates = np.array([0.5, 0.5, 0.75]), np.array([0.5, 0.5, 0.25])
    data = subgroups.Segmented(scores, rates > 0.3, columns, None, rates, 7)
    *flags, n_segments, length, misnamed = subgroups.outcomes(data, PAIR)
    assert tuple(flags) == outcomes
    assert misnamed == (flags[0] and not flags[2])
    assert asked.pop("verdict").rows == 3
    assert (n_segments, length) == (
        2,
        pytest.approx((0.2 + sum(result.table["high"][:1]) - sum(result.table["low"][:1])) / 2),
    )
    assert asked == {
        "replicates": 999, "seed": 7, "texts": {"a": ["v0", "v1", "v1"], "b": ["v2", "v1", "v2"]}
    }  # fmt: skip


def test_cells_of_the_coverage_have_their_names_and_sizes(monkeypatch):
    judged = list(coverage.SETS["judging"]())
    assert {n for _, n in judged} == {DRAWN_AT}
    assert all(cell.name.startswith(f"{JUDGING}_") for cell, _ in judged)
    assert len(judged) == len(judging.CELLS) + 12
    assert all(cell.half == JUDGING for cell in judging.CELLS)
    assert isinstance(judging.CELLS[0], HalfCell)
    parts = {"batches": None, "truth": None}
    blind = [SimpleNamespace(name=f"b{n}", n=n, assumption_holds=n < 2, **parts) for n in (1, 2)]
    monkeypatch.setattr(coverage.blind_2026, "cells", lambda: blind)
    named = [(cell.name, n) for cell, n in coverage.SETS["blind26"]()]
    assert named == [("judging_blind26_b1", 1), ("judging_blind26_broken_b2", 2)]
    for cell, n in islice(coverage.SETS["clusters"](), 2):
        assert cell.n == n


@pytest.mark.parametrize(
    ("low", "high", "share"),
    [
        *((0.1, 0.3, 1.0), (0.2, 0.3, 1.0), (0.1, 0.2, 1.0)),
        *((0.2001, 0.3, 0.0), (0.1, 0.1999, 0.0)),
    ],
)
def test_an_interval_holds_the_truth_also_at_its_ends(low, high, share):
    cell = SimpleNamespace(name="x", truth={"l1": 0.2}.get)
    methods = {"mine": Method("l1", None), "verdict": Method("", None)}
    values = {
        "mine": np.full((4, 2), (low, high)),
        "verdict": np.array([True, False, False, False]),
    }
    (row,) = coverage.covered(cell, 50, methods, values)
    assert row.pop("low") == pytest.approx(0.025 ** (1 / 4) if share else 0)
    assert row.pop("high") == pytest.approx(1 if share else 1 - 0.025 ** (1 / 4))
    assert row == {
        "method": "mine", "target": "l1", "scenario": "x", "n_samples": 50, "nominal": 0.95,
        "coverage": share, "mean_length": pytest.approx(high - low), "truth": 0.2,
        "found_by_verdict": 0.25, "n_data_sets": 4,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("cell", "data_sets", "most"),
    [
        (BetaCell("uniform", "calibrated"), 10, {"verdict": 20, "sun2024": 5, "monotone_band": 5}),
        (BetaCell("uniform", "calibrated"), 2, {"verdict": 20, "basic_bootstrap": 2}),
        (SimpleNamespace(name="x"), 10, {"verdict": 20}),
        (ClusterCell(40, 5), 10, {"verdict": 20}),
    ],
)
def test_data_sets_that_a_method_gets(cell, data_sets, most):
    methods = coverage.methods(cell, data_sets)
    assert {
        name: method.most for name, method in methods.items() if method.most
    }.items() >= most.items()
    of_all = {name: method.target for name, method in methods.items() if method.most is None}
    ours = {"calbias": "l1", "calbias_l2": "l2"}
    assert of_all == ({"calbias_clusters": "l1"} if hasattr(cell, "clusters") else ours)


def test_the_bootstraps_of_a_cell_resample_200_times(monkeypatch):
    draws = []
    monkeypatch.setattr(coverage, "basic_bootstrap", lambda data, run, m: draws.append(m) or (0, 1))
    monkeypatch.setattr(
        coverage, "percentile_bootstrap", lambda data, run, m: draws.append(m) or (0, 1)
    )
    for options in ({}, {"draws": 30}):
        methods = coverage.methods(BetaCell("uniform", "calibrated"), 10, **options)
        for name in ("basic_bootstrap", "percentile_bootstrap"):
            assert methods[name].values([None]).tolist() == [[0, 1]]
    assert draws == [200, 200, 30, 30]


@pytest.fixture
def judge_by_number(monkeypatch):
    """Verdicts of scored rows: miscalibrated where the first score is above 1/2."""
    asked = []

    def judge(scored, replicates=None, seed=0):
        asked.append((scored.n, replicates, scored.clusters is not None))
        facts = SimpleNamespace(design_effect=4.0, p_independent=0.01)
        p = 0.01 if scored.scores[0] > 0.5 else 0.2
        few = scored.n < 3
        return SimpleNamespace(
            miscalibrated=p < 0.05, p_value=p, cluster_facts=None if few else facts
        )

    for module in (coverage, power):
        monkeypatch.setattr(module, "judge", judge)
    return asked


def test_verdicts_and_intervals_of_cells(monkeypatch, judge_by_number):
    low, high = as_rows([0.2, 0.3], [0, 1]), as_rows([0.7, 0.8, 0.9], [0, 1, 1])
    verdict = coverage.methods(SimpleNamespace(name="x"), 10)["verdict"]
    assert verdict.values([low, high]).tolist() == [False, True]
    of_clusters = coverage.methods(ClusterCell(40, 5), 10)
    rows = Clustered(np.array([0.7, 0.8, 0.9]), np.array([0, 1, 1]), np.array([0, 0, 1]))
    assert of_clusters["verdict"].values([rows]).tolist() == [True]
    effects = []

    def interval(scored, effect):
        effects.append(effect)
        return SimpleNamespace(at=lambda: (0.1, 0.2))

    monkeypatch.setattr(coverage, "calibration_interval", interval)
    assert of_clusters["calbias_clusters"].values([rows]).tolist() == [[0.1, 0.2]]
    of_clusters["calbias_clusters"].values([Clustered(*(column[1:] for column in rows))])
    assert effects == [4.0, 1.0]
    assert power._cluster_p_values(rows) == (0.01, 0.01)
    assert judge_by_number == [
        (2, 499, False), (3, 499, False), (3, 999, True), (3, 999, True), (2, 999, True),
        (3, 999, True),
    ]  # fmt: skip


def test_one_posterior_serves_both_errors_of_a_sample(monkeypatch):
    made = []

    def interval(scored):
        made.append(scored.n)
        return SimpleNamespace(at=lambda norm, level: (norm, level))

    monkeypatch.setattr(coverage, "calibration_interval", interval)
    samples = as_rows([0.2, 0.3], [0, 1]), as_rows([0.2, 0.3, 0.4], [0, 1, 1])
    ends = {name: method.values for name, method in coverage._posterior().items()}
    for sample in samples:
        for name, norm in (("calbias", 1), ("calbias_l2", 2)):
            assert ends[name]([sample]).tolist() == [[norm, 0.95]]
    assert made == [2, 3]


class Sum:
    """A redraw test: the statistic of data set k is k, of the null's 0 to 99."""

    def __init__(self, values):
        self.scores = values


def test_a_redraw_test_rejects_above_its_nulls_quantile(monkeypatch):
    """Of nulls 0 to 99 the quantile is 95; p-values reject at 0.05 too."""
    drawn = []

    class Cell:
        def __init__(self, scenario):
            self.scenario, self.name = scenario, scenario.name

        def batches(self, n, seed, data_sets):
            drawn.append((self.name, n, seed, data_sets))
            is_null = self.name.startswith("null")
            yield Sum(np.arange(100.0) if is_null else np.array([95.0, 96, 97, 0.04]))

    values = lambda data: data.scores  # noqa: E731
    monkeypatch.setattr(power, "SampledCell", Cell)
    plan = power.Power([], 4, 3, 100)
    p = CalibrationTest("p", lambda data: np.array([0.05, 0.06, 0.01, 0.5]))
    plan.tests = [p, CalibrationTest("x", values, has_p_values=False)]
    scenario = Scenario("mine", 2.0, 0.25, Curve("power", 0.0, 2.0))
    rows = list(plan.rows([scenario, scenario._replace(name="other")], [50]))
    rates = {(row["test"], row["scenario"]): row["rate"] for row in rows}
    assert rates["p", "mine"] == power.Rate(0.5, pytest.approx((1 / 4 / 4) ** 0.5), 0.0, 4)
    assert rates["x", "other"][0] == 0.5
    assert [row["n_samples"] for row in rows] == [50] * 4
    null = ("null_2_0.25", 50, 3, 100)
    assert drawn == [("mine", 50, 3, 4), null, ("other", 50, 3, 4)]  # a null is drawn once
    plan.tests = [p]
    plan._nulls.clear()
    assert len(list(plan.rows([scenario], [50]))) == 1
    assert len(drawn) == 4


def test_scenarios_and_reaches_of_the_power():
    names = [scenario.name for scenario in power.power_scenarios()]
    assert names[-3:] == ["uniform_calibrated", "uniform_power_1.1", "uniform_power_1.3"]
    for scenario, exponent in zip(power.power_scenarios()[-3:], (1.0, 1.1, 1.3), strict=True):
        assert (scenario.alpha, scenario.beta) == (1.0, 1.0)
        assert scenario.curve.at(np.array([0.5]))[0] == pytest.approx(0.5**exponent)
    assert power.REACHES[0] == 0.6
    assert all(1 < after / before <= 1.5 for before, after in pairwise(power.REACHES))
    (verdict, cox) = power.Power(["verdict", "cox_score"], 4, 3).tests
    assert (verdict.values, cox.name) == (power._verdict_p_values, "cox_score")
    assert power.NULL_REPLICATES == 1000  # of the kept table
    defaults = power.measure_power.__kwdefaults__
    assert defaults == {"null_replicates": 1000}


def test_the_verdicts_p_values_are_those_of_its_rows(judge_by_number):
    class Data:
        scores = np.array([[0.2, 0.6, 0.7], [0.6, 0.7, 0.8]])

        def hits(self):
            return np.array([[0.0, 1, 1], [1, 0, 1]])

    assert power._verdict_p_values(Data()).tolist() == [0.2, 0.01]
    assert judge_by_number == [(3, 239, False)] * 2


def test_rows_of_clusters_have_both_verdicts(monkeypatch):
    """The p-value with clusters is 0.05 in each data set and rejects; without it is 0.2 in one."""
    monkeypatch.setattr(
        power, "_cluster_p_values", lambda rows: (0.05, 0.2 if rows == "second" else 0.01)
    )
    cell = SimpleNamespace(
        name="x", n=40, batches=lambda n, seed, m: [Batch(["first"]), Batch(["second"])]
    )
    monkeypatch.setattr(power.clusters, "CELLS", {"x": cell})
    rows = {row["test"]: row for row in power.cluster_rows(2, 0)}
    assert rows["verdict_clusters"] == {
        "test": "verdict_clusters", "scenario": "x", "n_samples": 40, "rejection_rate": 1.0,
        "rejection_rate_se": pytest.approx((3 / 4 * 1 / 4 / 2) ** 0.5), "level": 0.05,
        "n_replicates": 2,
    }  # fmt: skip
    assert rows["verdict"]["rejection_rate"] == 0.5


FAULT = next(fault for fault in FAULTS if fault.name != GROWING)


def test_an_alarm_of_a_study_is_the_monitors():
    """Twice 200 rows: an alarm in the second reading, and in none."""
    scores = np.full(400, 0.5)
    hits = np.r_[np.arange(230) % 2, np.ones(170)]
    direct = Monitor(0.05)
    direct.update(scores, hits)
    assert 230 < direct.alarm < 400
    expected = direct.alarm, direct.since.low, direct.since.high
    assert monitor._alarm(StreamRows(scores, hits)) == expected
    silent = monitor._alarm(StreamRows(scores[:200], hits[:200]))
    assert silent[0] == np.inf
    assert np.isnan(silent[1:]).all()


def test_rows_of_faults_and_of_repeated_verdicts(monkeypatch):
    """The delay of the verdict is sought with two data sets for each stream."""
    monkeypatch.setattr(monitor, "verdict_delay", lambda fault, m, seed: 10.0 * m + seed)
    monkeypatch.setattr(monitor, "_alarm", lambda rows: (FAULT.from_row + 39, 1, len(rows.scores)))
    (row,) = monitor.fault_rows(3, 2, [FAULT], 500)
    assert (row["median_delay"], row["verdict_delay"]) == (40, 62)
    assert (row["n_streams"], row["n_rows"], row["since_coverage"]) == (3, 500, 1.0)
    monkeypatch.setattr(monitor, "_alarm", lambda rows: (9999, 1, 1))
    assert [row["n_rows"] for row in monitor.fault_rows(1, 0)] == [6000] * len(FAULTS)
    read = []
    monkeypatch.setattr(monitor, "_rejects_once", lambda rows: read.append(rows) or len(read) < 3)
    (row,) = monitor.repeated_verdict_rows(4, 0)
    assert row == {
        "distribution": "Beta(6, 1.5)", "stream": "none", "part": "verdict every 200 rows",
        "n_rows": 4000, "n_streams": 4, "alarms": 2,
    }  # fmt: skip
    assert {len(rows.scores) for rows in read} == {4000}


def test_calibrated_streams_ring_where_their_evidence_reaches_twenty(monkeypatch):
    evidence = np.array([19.9, 20.0, 30.0]), np.array([1.0, 2.0, 6.0])
    monkeypatch.setattr(monitor, "evidence_of", lambda steps, rows: rows == 77 and evidence)
    rows = monitor.calibrated_rows(3, 77, 0)
    assert [row["distribution"] for row in rows] == list(monitor.CALIBRATED)
    assert {(*row.values(),)[1:] for row in rows} == {("none", "calibrated", 77, 3, 2, 3.0)}


def test_a_picture_is_drawn_of_each_genuine_stream(monkeypatch, tmp_path):
    drawn, tables = [], []
    for name in ("calibrated_rows", "repeated_verdict_rows", "fault_rows"):
        monkeypatch.setattr(monitor, name, lambda *_: [{}])
    monkeypatch.setattr(monitor, "genuine_row", lambda path: ({"stream": path.stem}, path.stem))
    monkeypatch.setattr(monitor, "draw", lambda *words: drawn.append(words))
    monkeypatch.setattr(monitor, "write_table", lambda *words: tables.append(words))
    given = {"streams": [tmp_path / "a.parquet"], "replicates": 2, "n_rows": 5, "seed": 0}
    for pictures in (tmp_path, None):
        monitor.measure_monitor(**given, pictures=pictures, output=tmp_path)
    assert drawn == [("a", tmp_path / "monitor_a.png")]
    assert tables == 2 * [(tmp_path, "monitor", [{}, {}, {}, {"stream": "a"}])]


def steps_of(*parts):
    return ((np.array(scores), np.array(hits)) for scores, hits in parts)


def test_evidence_of_streams_is_the_largest_of_every_cluster():
    """Two streams; the first rises by a miss at 0.99 and falls again, the second stays below 1."""
    parts = [([[0.99], [0.99]], [[0], [1]]), ([[0.9, 0.9], [0.9, 0.9]], [[1, 1], [1, 1]])]
    parts += [([[0.8], [0.8]], [[1], [1]])] * 3
    largest, last = monitor.evidence_of(steps_of(*parts), 5)
    for k, (top, end) in enumerate(zip(largest, last, strict=True)):
        evidence, watched = [1.0], Monitor()
        for number, (scores, hits) in enumerate(parts[:4]):
            watched.update(scores[k], hits[k], np.full(len(scores[k]), number))
            evidence.append(watched.evidence)
        watched.update([0.5], [1], ["next"])  # completes the fourth cluster
        evidence.append(watched.evidence)
        assert end == pytest.approx(evidence[-1], rel=1e-9)
        assert top == pytest.approx(max(evidence), rel=1e-9)
    assert largest[0] > last[0]
    assert largest[1] == 1.0


def test_clusters_of_genuine_rows_are_games_and_questions(tmp_path):
    """The file of games stands in the order of time; its rows count by game."""
    scores = np.full(60, 0.5)
    table = pd.DataFrame({"score": scores, "hit": np.arange(60) < 40, "game": np.arange(60) // 3})
    table.to_parquet(tmp_path / "march_madness_in_game_men.parquet")
    _, watched = monitor.genuine_row(tmp_path / "march_madness_in_game_men.parquet")
    direct = Monitor(0.05)
    direct.update(scores, table["hit"], table["game"])
    assert watched.evidence == direct.evidence
    watched.update([0.5], [1], ["new"])  # the last game is complete
    direct.update([0.5], [1], ["new"])
    assert watched.evidence == direct.evidence


def test_a_delay_is_sought_between_20_and_6000_rows_within_a_tenth(monkeypatch):
    rows = lambda self, generator, n: (np.full(n, 0.5), np.arange(n) % 2)  # noqa: E731
    monkeypatch.setattr(type(FAULT), "rows", rows)
    asked = []

    def judge(scored, seed):
        asked.append(scored.n)
        return SimpleNamespace(miscalibrated=scored.n >= 346)

    monkeypatch.setattr(monitor, "judge", judge)
    assert monitor.verdict_delay(FAULT, 2, 0) == pytest.approx(346, rel=0.05)
    assert asked[:2] == [round((20 * 6000) ** 0.5), 83]  # one of two is half
    assert len(set(asked)) == 6  # 300^(1/2⁶) < 1.1
