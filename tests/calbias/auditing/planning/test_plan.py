"""The planner: goals, labels and refusals by hand; what verdicts need is a stub here."""

import numpy as np
import pandas as pd
import pytest
from predictions import scored, written
from refusals import refuses
from scipy.special import expit, logit

from calbias.auditing.planning import plan as module
from calbias.auditing.planning.plan import plan, plan_file
from calbias.auditing.planning.validation_size import c_labels, oe_labels
from calbias.auditing.verdict.power import Labels
from calbias.command import main
from calbias.reading.columns import Columns

FOUND = Labels(500.0, 450.0, 550.0, 0.81, 0.004)
PAIR = np.array([0.8, 0.2])  # logits ± log 4


@pytest.fixture
def asked(monkeypatch):
    """What the simulations of verdicts are asked for."""
    calls = []
    for name in ("verdict_labels", "cluster_labels"):
        monkeypatch.setattr(module, name, lambda *words: calls.append(words) or FOUND)
    return calls


def test_goals_without_options(asked):
    """Slope: 3.92²/(4 · 0.1² · 0.16 log²4); gap: 1.96² · 0.16/0.01²; curves at 0.8 minus error."""
    table = plan(scores=PAIR)
    errors = {"1 point": 0.01, "2 points": 0.02, "5 points": 0.05}
    goals = [f"detect {kind}{words}" for words in errors for kind in ("", "a shift of ")]
    assert list(table.index) == [*goals, "slope to ± 0.1", "mean gap to ± 1 point"]
    slope = 1.96**2 / (0.01 * 0.16 * np.log(4) ** 2)
    gap = 1.959963984540054**2 * 0.16 / 0.01**2
    assert table["labels"].tolist() == [*[500] * 6, np.ceil(slope), np.ceil(gap)]
    of_slope = table.loc["detect 5 points"].tolist()
    assert of_slope == [*FOUND[:3], pytest.approx(np.log(3) / np.log(4)), 0.0, *FOUND[3:]]
    for k, (scores, curve, *rest) in enumerate(asked):
        error, goal = [*errors.values()][k // 2], goals[k]
        assert scores.tolist() == [0.2, 0.8]
        if k % 2:
            assert curve.mean() == pytest.approx(0.5 + error)
            shift = table.loc[goal, "shift"]
            assert np.log(curve / (1 - curve)) - shift == pytest.approx([-np.log(4), np.log(4)])
            assert table.loc[goal, "slope"] == pytest.approx(1)
        else:
            assert curve == pytest.approx([0.2 + error, 0.8 - error])
        assert rest == [0.8, 0]
    assert len(asked) == 6
    assert table.loc["slope to ± 0.1", "labels_low":].isna().all()


def test_goals_of_other_widths(asked):
    table = plan(PAIR, detect=(0.1,), power=0.9, slope_width=0.2, gap_width=0.02, seed=3)
    usual = plan(PAIR, detect=())
    goals = ["detect 10 points", "detect a shift of 10 points"]
    assert list(table.index) == [*goals, "slope to ± 0.2", "mean gap to ± 2 points"]
    assert asked[0][2:] == (0.9, 3)
    assert table["labels"].to_numpy()[2:] == pytest.approx(usual["labels"].to_numpy() / 4, abs=1)


def test_a_slope_of_a_whole_number_of_labels_is_no_label_more(monkeypatch):
    monkeypatch.setattr(module.cox, "slope_labels", lambda scores, width: 200 + 1e-10)
    assert plan(PAIR, detect=()).loc["slope to ± 0.1", "labels"] == 200
    monkeypatch.setattr(module.cox, "slope_labels", lambda scores, width: 200.4)
    assert plan(PAIR, detect=()).loc["slope to ± 0.1", "labels"] == 201


def test_a_beta_distribution_is_20_000_quantiles(asked):
    plan(beta=(1.0, 1.0), detect=(0.02,))
    (scores, *_), _ = asked
    assert scores == pytest.approx((np.arange(20_000) + 0.5) / 20_000)
    plan(beta=(0.01, 0.01), detect=(0.02,))
    assert (asked[2][0][0], asked[2][0][-1]) == (2.0**-53, 1 - 2.0**-53)


def test_an_error_that_no_line_has_needs_infinitely_many(asked):
    scores = [0.9, 0.9]
    table = plan(scores, detect=(0.95,))
    assert table["labels"].tolist()[:2] == [np.inf, np.inf]
    assert table.loc["detect a shift of 95 points", "labels_low":].isna().all()
    assert asked == []
    pilot = {"hits": [1, 0], "clusters": [0, 1]}
    assert plan(scores, detect=(0.95,), **pilot)["clusters"].isna().all()


def test_clusters_of_a_pilot_are_planned_in_the_order_of_its_rows(asked):
    hits, ids = [1, 0], ["a", "b"]
    table = plan(PAIR, detect=(0.05,), hits=hits, clusters=ids)
    assert table.loc["detect 5 points", "clusters":].tolist() == [500, 450, 550]
    assert table.loc["slope to ± 0.1", "clusters":].isna().all()
    scores, *pilot, curve, power, seed = asked[2]
    assert (scores.tolist(), pilot, power, seed) == ([0.8, 0.2], [hits, ids], 0.8, 0)
    assert curve == pytest.approx([0.75, 0.25])
    assert "clusters" not in plan(PAIR, detect=(0.05,))


def test_a_file_gives_its_hits_to_a_plan_of_clusters_alone(tmp_path, monkeypatch):
    asked, notes = [], []
    monkeypatch.setattr(module, "plan", lambda scores, **words: asked.append((scores, words)))
    file = str(written(scored(30).assign(patient=np.arange(30) // 3), tmp_path / "mine.csv"))
    for columns in (Columns(), Columns(cluster="patient")):
        plan_file(file, columns, True, notes.append, power=0.7)
    (scores, words), (_, of_clusters) = asked
    assert scores == pytest.approx(scored(30)["score"].to_numpy())
    assert words == {"hits": None, "clusters": None, "power": 0.7}
    assert of_clusters["hits"].tolist() == scored(30)["hit"].tolist()
    assert len(set(of_clusters["clusters"])) == 10
    assert notes


def test_a_shift_is_planned_for_beside_a_slope():
    score = 0.8  # at one score both are the same fault, of rate 0.7
    table = plan([score] * 50, detect=(0.1,))
    slope, shift = table.loc["detect 10 points"], table.loc["detect a shift of 10 points"]
    assert shift["shift"] == pytest.approx(logit(0.7) - logit(score))
    assert shift["slope"] == 1.0
    assert slope["slope"] == pytest.approx(logit(0.7) / logit(score))
    assert slope["shift"] == 0.0
    assert slope["labels"] == pytest.approx(shift["labels"], rel=0.02)
    up = plan([0.01, 0.02, 0.2], detect=(0.05,)).loc["detect a shift of 5 points"]
    assert up["shift"] > 0.0
    assert expit(logit([0.01, 0.02, 0.2]) + up["shift"]).mean() == pytest.approx(0.23 / 3 + 0.05)


def test_the_plan_by_command(tmp_path, capsys):
    file = written(scored(), tmp_path / "mine.csv")
    out = tmp_path / "plan.csv"
    main(["plan", "--scores", str(file), "--detect", "20", "--output", str(out)])
    assert "detect 20 points" in capsys.readouterr().out
    assert pd.read_csv(out)["labels"].notna().all()
    (tmp_path / "ones.csv").write_text("score,hit\n0.9,1\n0.9,1\n")
    main(["plan", "--scores", str(tmp_path / "ones.csv"), "--detect", "95"])
    assert "no number of labels" in capsys.readouterr().err


def test_the_goals_by_command(monkeypatch):
    asked, table = [], pd.DataFrame({"labels": [1.0]})
    monkeypatch.setattr(module, "plan", lambda **goals: asked.append(goals) or table)
    words = ["--detect", "20", "30", "--power", "70", "--slope-width", "0.2", "--gap-width", "2"]
    main(["plan", "--beta", "2", "1", *words, "--seed", "5"])
    goals = {"detect": [0.2, 0.3], "power": 0.7, "slope_width": 0.2, "gap_width": 0.02, "seed": 5}
    assert asked == [{"beta": [2.0, 1.0], **goals}]


def test_the_criteria_of_riley_et_al():
    """Numbers of pmvalsampsize 0.2.1; its slopes, 4544 and 5906, are of a million drawn scores."""
    first = {"oe_width": 0.5, "c_width": 0.05, "prevalence": 0.018, "c_statistic": 0.8}
    table = plan(normal=(-5, 2.5), detect=(), gap_width=0.5, **first)
    goals = ["observed/expected to ± 0.5", "c statistic 0.8 to ± 0.05"]
    assert list(table.index) == ["slope to ± 0.1", "mean gap to ± 50 points", *goals]
    assert table.loc[goals, "labels"].tolist() == [905, 4252]
    assert table.loc[goals, "events"].tolist() == [17, 77]
    drawn = expit(np.random.RandomState(123456).normal(-5, 2.5, 1_000_000))
    assert plan(drawn, detect=()).loc["slope to ± 0.1", "labels"] == 4544
    assert table.loc["slope to ± 0.1", "labels"] == 4554  # seeds of the draws: 4536 to 4576
    beta = {"beta": (0.9, 8.1), "detect": ()}  # its mean is the prevalence, 0.1
    table = plan(**beta, c_statistic=0.77, oe_width=0.2, c_width=0.05)
    assert table["labels"].tolist()[2:] == [876, 942]
    assert table["events"].tolist()[2:] == [88, 95]
    assert "events" not in plan(**beta)
    assert plan(**beta, prevalence=0.5).loc["slope to ± 0.1", "events"] == 2950


def test_labels_of_observed_expected_and_c_by_hand():
    """O/E: 1.96·0.5 = asinh(w), 1/0.5²; c = 1/2: q = 2/3, se² = (1 + (n/2 − 1) 2/3)/n² = 9/144."""
    assert oe_labels(0.5, np.sinh(0.98)) == pytest.approx(4)
    assert oe_labels(0.2, np.sinh(0.98)) == pytest.approx(16)
    se = np.sqrt((1 + (12 / 2 - 1) * 2 / 3) / 144)
    assert c_labels(0.5, 0.5, 1.96 * se) == pytest.approx(12)
    goal = plan(PAIR, detect=(), c_width=0.1).index[-1]  # 0.8·0.8 of pairs in order, 0.32 tied
    assert goal == "c statistic 0.8 to ± 0.1"


def test_a_risk_model_is_planned_by_command(capsys):
    words = "--oe-width 0.5 --c-width 0.05 --prevalence 1.8 --c-statistic 0.8 --detect"
    main(["plan", "--normal", "-5", "2.5", *words.split()])
    lines = [line.split()[-2:] for line in capsys.readouterr().out.splitlines()]
    assert lines[2:] == [["4554", "82"], ["1300", "24"], ["905", "17"], ["4252", "77"]]
    with pytest.raises(SystemExit):
        main(["plan", "--normal", "-5", "2.5", "--score", "p"])


@pytest.mark.nightly
@pytest.mark.slow
def test_the_plan_of_clusters_by_command(tmp_path):
    table = scored().assign(patient=np.arange(300) // 10)
    file = written(table, tmp_path / "mine.csv")
    out = tmp_path / "plan.csv"
    options = ["--cluster", "patient", "--detect", "10", "--output", str(out)]
    main(["plan", "--scores", str(file), *options])
    pilot = {"hits": table["hit"], "clusters": table["patient"]}
    expected = plan(table["score"], **pilot, detect=(0.1,))["clusters"]
    np.testing.assert_array_equal(pd.read_csv(out, index_col="goal")["clusters"], expected)
    with pytest.raises(SystemExit):
        main(["plan", "--beta", "2", "1", "--cluster", "patient"])


test_bad_plans_are_refused = refuses(
    plan,
    ({}, "give scores, or the two parameters of a Beta distribution"),
    ({"beta": (1, 1), "scores": [0.5]}, "give scores, or the two parameters"),
    *(
        ({"beta": beta}, "parameters of a Beta distribution are between 1e-06 and 1000000, not")
        for beta in ((0, 1), (1e-320, 1), (1, np.nan), (1, 1, 1), "ab")
    ),
    ({"beta": (np.inf, 1)}, "parameters of a Beta distribution are between 1e-06 and 1000000, not"),
    *(
        ({"scores": scores}, message)
        for scores, message in (
            ([0.5, np.nan], r"row 1 .*score nan"),
            ([50, 60], "divide by 100"),
            ([], "not empty"),
            (np.ma.masked_array([0.5, 0.6], [0, 1]), "no mask"),
            (["0.5"], "must be numbers"),
            ([[0.5, 0.6]], "one-dimensional"),
        )
    ),
    ({"beta": (2, 1), "detect": 0.05}, "detect must be a list"),
    ({"beta": (2, 1), "detect": [[0.05]]}, "detect must be a list"),
    *(
        ({"beta": (1, 1), "power": power}, f"power must be above 0.05 and below 1, not {power}")
        for power in (2, 1, 0.05)
    ),
    *(
        ({"beta": (1, 1), **change}, "takes fractions between 0 and 1, not")
        for change in ({"gap_width": 0}, {"detect": [0]}, {"detect": [1]}, {"detect": [0.1, 1]})
    ),
    ({"beta": (1, 1), "slope_width": 0}, "slope_width must be above 0, not 0"),
    ({"beta": (1, 1), "detect": [2]}, "detect takes fractions .* not 2: 2 points is 0.02"),
    ({"beta": (1, 1), "normal": (0, 1)}, "give scores, or the two parameters"),
    *(
        ({"normal": normal}, "normal log odds have a mean and a standard deviation above 0")
        for normal in ((0, 0), (0, np.nan), (31, 1), (0, 1, 1), "ab")
    ),
    *(
        ({"beta": (1, 1), name: value}, f"{name} must be above 0")
        for name in ("oe_width", "c_width", "prevalence", "c_statistic")
        for value in (0, np.nan, *([] if name == "oe_width" else [1]))
    ),
    ({"beta": (1, 1), "c_statistic": 0.8}, "c_statistic goes with c_width"),
    ({"normal": (0, 1), "hits": [1], "clusters": [1]}, "go with scores, not with a Beta"),
    ({"beta": (1, 1), "hits": [1], "clusters": [1]}, "go with scores, not with a Beta"),
    (
        {"scores": [0.5, 0.6], "hits": [1], "clusters": [1]},
        "hits must be one for each of the 2 scores",
    ),
    ({"scores": [0.5, 0.6], "clusters": [1, 2]}, "hits and clusters of a pilot study go together"),
    ({"scores": [0.5, 0.6], "hits": [1, 0]}, "hits and clusters of a pilot study go together"),
    ({"beta": (1, 1), "hits": [1]}, "go with scores, not with a Beta"),
    ({"beta": (1, 1), "clusters": [1]}, "go with scores, not with a Beta"),
)
