"""Which of two models is better calibrated: level, power, files, refusals."""

import json

import numpy as np
import pandas as pd
import pytest
from html_page import Page
from refusals import refuses
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import norm
from scipy.stats import t as student

import calbias
from calbias.auditing import compare_files as of_files
from calbias.auditing.compare import Comparison, compare
from calbias.auditing.compare_files import compare_files
from calbias.auditing.comparison import paired_gaps
from calbias.command import main
from calbias.errors import InputError
from calbias.reading.columns import Columns


def drawn(n=300, seed=0, decimals=9):
    generator = np.random.default_rng(seed)
    scores = generator.beta(3, 1, n).round(decimals)
    return scores, (generator.random(n) < scores**1.4).astype(np.uint8)


def shifted(rate, shift):
    return expit(logit(np.clip(rate, 1e-9, 1 - 1e-9)) + shift)


S, Y = drawn(30)


def test_no_model_is_better_than_itself():
    itself = compare(S, S.copy(), tuple(Y))
    assert (itself.difference, itself.low, itself.high) == (0, 0, 0)
    assert (itself.brier_difference, itself.better, itself.p_value) == (0, None, 1)
    assert "no difference found" in itself.sentence


def test_nearly_the_same_models_have_a_narrow_interval():
    """One point apart: the errors differ by at most that, and each is known to eight points."""
    scores, hits = drawn(1000, decimals=1)
    found = compare(scores, scores - 0.01 * scores, hits)
    assert -0.01 < found.low < found.high < 0.01 + 0.01


def test_few_events_do_not_look_certain():
    """Of 20 hits, which 0.75, between both scores, has with chance 0.003."""
    constant = compare(np.full(20, 0.9), np.full(20, 0.6), np.ones(20))
    assert 0.001 < constant.p_value < 0.03


@pytest.mark.parametrize("distance", [0.0, 1e-6])
def test_predicted_classes_are_worse_than_the_share_of_hits(distance):
    hits = np.arange(400) % 10 != 0
    classes, rate = np.full(400, 1 - distance), np.full(400, 0.9)
    worse = compare(classes, rate, hits)
    assert 0 < worse.low < 0.1 < worse.high
    assert worse.p_value < 1e-3


@pytest.mark.nightly
def test_a_slope_is_told_from_calibration():
    """Slope 1.7, n = 500, 7.6 points: two intervals put together did not find it."""
    generator = np.random.default_rng(0)
    rate = generator.random(500)
    hits = generator.random(500) < rate
    found = compare(rate, expit(1.7 * logit(rate)), hits)
    assert found.better == "first"
    assert found.p_value < 0.05


@pytest.mark.nightly
@pytest.mark.slow
def test_equally_wrong_models_of_rare_events_keep_the_level():
    """The former test called one of them better in 20 % (n = 100)."""
    rejected = 0
    for seed in range(30):
        generator = np.random.default_rng(seed)
        rate = generator.beta(0.6, 20, 100)
        hits = generator.random(100) < rate
        rejected += compare(shifted(rate, 0.7), shifted(rate, -1.365), hits).p_value <= 0.05
    assert rejected <= 3


test_bad_arguments = refuses(
    compare,
    (S, S[:-1], (Y, Y[:-1]), "30 rows in the first and 29 in the second: give the same rows"),
    (S[:19], S[:19], Y[:19], "19 rows are too few to compare two models by: give at least 20"),
    (S, S + 1, Y, "is not a probability"),
)
test_bad_options = refuses(
    lambda **options: compare(S, S, Y, **options),
    ({"confidence_level": 1.0}, "confidence_level must be above 0 and below 1, not 1"),
    (
        {"clusters": [1] * 29},
        r"clusters must be one id for each of the 30 rows: .* \(29,\)",
    ),
    ({"clusters": [1] * 30}, "1 cluster: give at least 10"),
    ({"confidence_level": "0.9"}, "confidence_level must be above 0 and below 1, not 0.9"),
    ({"clusters": [*range(29), None]}, r"row 29 \(counted from 0\): the cluster id is missing"),
    ({"clusters": [*range(29), np.nan]}, r"row 29 \(counted from 0\): the cluster id is missing"),
)


def files(tmp_path, first, second):
    paths = tmp_path / "a.csv", tmp_path / "b.csv"
    for path, columns in zip(paths, (first, second), strict=True):
        pd.DataFrame(columns).to_csv(path, index=False)
    return paths


@pytest.fixture
def given(monkeypatch):
    """What the comparisons of files are given."""
    calls = []
    monkeypatch.setattr(
        of_files, "compare",
        lambda *models, **options: calls.append((*models, options)) or Comparison(2, *[0.0] * 9),
    )  # fmt: skip
    return calls


def test_an_event_has_one_column_of_probabilities_or_two(tmp_path, given):
    event, wide = {"label": Y, "score": S}, {"label": Y, "p0": 1 - S, "p1": S}
    compare_files(*files(tmp_path, event, wide))
    ((first, second, hits, options),) = given
    assert first == pytest.approx(S)
    assert second == pytest.approx(S)
    assert hits.tolist() == Y.tolist()
    assert (options["clusters"], options["by"], options["names"]) == (None, None, ("a", "b"))


def test_two_columns_of_one_file_and_files_joined_by_an_id(tmp_path, given):
    path, _ = files(tmp_path, {"b": S, "c": S**2, "y": Y}, {"x": [1]})
    compare_files(path, score=("b", "c"), columns=Columns(label="y"))
    order = np.random.default_rng(0).permutation(30)[:25]
    one = {"score": S, "hit": Y, "key": [f"k{k:02}" for k in range(30)], "code": range(30)}
    other = {"score": (S**2)[order], "hit": Y[order], "key": [f"k{k:02}" for k in order]}
    compare_files(*files(tmp_path, one, other), id="key", by=["CODE", "code"], codes=["code"])
    cases = zip(given, (np.arange(30), np.sort(order)), (("b", "c"), ("a", "b")), strict=True)
    for (first, second, hits, options), rows, names in cases:
        assert first == pytest.approx(S[rows])
        assert second == pytest.approx((S**2)[rows])
        expected = Y[rows].tolist()
        assert np.array(hits).tolist() == (expected if names[0] == "b" else [expected] * 2)
        assert options["names"] == names
    assert options["by"] == {"code": [str(row) for row in rows]}


def in_parts(n=600):
    """Events, one model that is calibrated but too high by 25 points in c, one that is too low."""
    generator = np.random.default_rng(5)
    rate = generator.uniform(0.1, 0.7, n)
    part = np.array([*"abc"])[np.arange(n) % 3]
    first = rate + 0.25 * (part == "c")
    return first, rate - 0.02, (generator.random(n) < rate).astype(int), part


def cluster_squares(values, ids):
    """The sum of squares of the clusters' sums."""
    return sum(values[ids == k].sum() ** 2 for k in np.unique(ids))


def limits_of_gap(scores, hits, tail, ids=None):
    """The shifts of the log odds of scores that fit half a hit more, and less, by the deviance."""
    x, n = logit(scores), scores.size
    gap = lambda shift: float(np.mean(scores - expit(x + shift)))  # noqa: E731

    def likelihood(shift, extra):
        sums = shift * (np.sum(hits - scores) + extra)
        return sums - np.sum(np.log1p(scores * np.expm1(shift))) + shift * scores.sum()

    def fit(extra):
        return brentq(lambda shift: np.mean(hits - scores) + extra / n + gap(shift), -20, 20)

    chance = expit(x + fit(0))
    squares = cluster_squares(hits - chance, np.arange(n) if ids is None else ids)
    ratio = max(squares / np.sum(chance * (1 - chance)), 1)
    law = norm if ids is None else student(np.unique(ids).size - 1)
    ends = []
    for extra in (-0.5, 0.5):
        best = fit(extra)
        most = likelihood(best, extra) - ratio * law.ppf(tail) ** 2 / 2
        far = best + np.sign(extra) * 20
        ends.append(gap(brentq(lambda at: likelihood(at, extra) - most, *sorted((best, far)))))  # noqa: B023
    return ends[1], ends[0]


def ends_of_difference(a, b, apart):
    """The least and greatest |a| − |b| within limits of a, b and a − b."""
    x = np.linspace(*a, 100_001)
    low, high = np.maximum(b[0], x - apart[1]), np.minimum(b[1], x - apart[0])
    x, low, high = (values[low <= high] for values in (x, low, high))
    nearest, farthest = np.clip(0, low, high), np.maximum(np.abs(low), np.abs(high))
    return np.min(np.abs(x) - farthest), np.max(np.abs(x) - np.abs(nearest))


def test_gaps_of_subgroups_by_their_formulas():
    """Of an event the gap of the mean score says where the event's rate is."""
    first, second, hits, part = in_parts()
    both = compare(first, second, hits, by={"part": part}, names=("one", "other"))
    table = both.subgroups.table.set_index("segment")
    assert {*table.index} == {"part = a", "part = b", "part = c"}
    for name, row in table.iterrows():
        one, other, events = (x[part == name[-1]] for x in (first, second, hits))
        assert row["gap_first"] == pytest.approx(np.mean(one - events))
        assert row["difference"] == pytest.approx(
            abs(np.mean(one - events)) - abs(np.mean(other - events))
        )
        for level in (0.05, row["p_value"]):
            ends = limits_of_gap((one + other) / 2, events, level / 6)
            rates = np.linspace(*np.mean((one + other) / 2) - ends, 100_001)
            values = abs(one.mean() - rates) - abs(other.mean() - rates)
            least, most = values.min(), values.max()
            if level == 0.05:
                assert (row["low"], row["high"]) == pytest.approx((least, most), abs=1e-5)
            elif level < 1:  # the smallest that leaves 0 out
                assert min(abs(least), abs(most)) < 1e-4
    assert table["better"].to_dict() == {"part = c": "other", "part = b": "", "part = a": ""}
    assert both.subgroups.p_value == table["p_value"].min() < 0.01
    assert "where part = c (200 rows): the gap of other is smaller by" in both.subgroups.sentence
    assert "other is better in 1 of 3" in both.subgroups.apart_from("one")
    assert both.subgroups.apart_from("other") == ""
    low, high = table.loc["part = c", ["low", "high"]]
    ends = [low - 1e-6, (low + high) / 2, high + 1e-6]
    assert [both.subgroups.gate(x).answer for x in ends] == ["no", "undecided", "yes"]
    assert [both.within(x) for x in ends] == ["no", "undecided", "yes"]
    assert both.gate(ends[1]).sentence.startswith("undecided, where part = c")
    mirrored = compare(second, first, hits, by={"part": part})
    assert mirrored.subgroups.gate(0.06).answer == "yes"  # the second is worse, which was not asked
    with pytest.raises(InputError, match="one value for each row"):
        compare(first, second, hits, by=part[:-1])


def test_the_ends_of_a_difference_are_on_the_region():
    generator = np.random.default_rng(0)
    for _ in range(60):
        a, b = generator.uniform(-1, 1, 2)
        box = [(x - generator.random(), x + generator.random()) for x in (a, b, a - b)]
        low, high = paired_gaps._ends(*((np.array([x]), np.array([y])) for x, y in box))
        assert (low[0], high[0]) == pytest.approx(ends_of_difference(*box), abs=1e-4)


def test_few_clusters_are_a_warning():
    generator = np.random.default_rng(0)
    scores, hits = generator.random(240), generator.random(240) < 0.5
    for number, warned in ((59, 1), (60, 0), (None, 0)):
        clusters = None if number is None else np.arange(240) % number
        assert len(compare(scores, scores**2, hits, clusters=clusters).warnings) == warned


@pytest.mark.parametrize("clusters", [None, np.random.default_rng(1).integers(0, 60, 600)])
def test_gaps_of_hits_of_each_model_by_their_formulas(clusters):
    """Three limits share the level, of which one is of the paired difference of the gaps."""
    first, second, hits, part = in_parts()
    turned = np.where(np.arange(600) % 4 == 0, 1 - hits, hits)
    table = compare(first, second, (hits, turned), by={"part": part}, clusters=clusters)
    for _, row in table.subgroups.table.iterrows():
        inside = part == row["segment"][-1]
        models = [(s[inside], y[inside]) for s, y in ((first, hits), (second, turned))]
        n, tail = inside.sum(), 0.05 / 3 / 6
        ids = None if clusters is None else clusters[inside]
        box = [limits_of_gap(*model, tail, ids) for model in models]
        paired = models[0][0] - models[0][1] - (models[1][0] - models[1][1])
        number = n if ids is None else np.unique(ids).size
        spread = cluster_squares(paired - paired.mean(), np.arange(n) if ids is None else ids)
        reach = student(number - 1).ppf(tail) * np.sqrt(number / (number - 1) * spread + 1) / n
        box.append((paired.mean() + reach, paired.mean() - reach))
        expected = ends_of_difference(*box)
        assert (row["low"], row["high"]) == pytest.approx(expected, abs=1e-4)


def test_subgroups_of_equal_models_and_of_few_clusters():
    first, second, hits, part = in_parts()
    itself = compare(first, first, hits, by=part)
    ends = itself.subgroups.table[["low", "high", "p_value"]].to_numpy()
    assert (ends == [0, 0, 1]).all()
    assert "nan" not in itself.to_html()
    patient = np.where(part == "a", np.arange(600) % 5, np.arange(600))
    few = compare(first, second, hits, by=part, clusters=patient)
    assert few.subgroups.small == ("by = a (5 clusters)",)
    sure = compare(first, second, hits, by=part, confidence_level=0.9999)
    low, high = 100 * sure.subgroups.differing.iloc[0][["low", "high"]]
    assert low < 0
    assert f"points ({low:.1f} to {high:.1f})" in sure.subgroups.sentence
    assert {*few.subgroups.table["segment"]} == {"by = b", "by = c"}
    assert json.loads(few.to_json())["models"][0]["skill"]["low"] is None


def test_the_command_gates_by_subgroup_and_writes_a_page(tmp_path, capsys):
    first, second, hits, part = in_parts()
    table = pd.DataFrame({"<i>one": first, "two": second, "label": hits, "part": part})
    table.to_csv(tmp_path / "both.csv", index=False)
    words = ["compare", str(tmp_path / "both.csv"), "--score", "<i>one", "--score", "two"]
    words += ["--by", "part", "--within", "7", "--output", str(tmp_path / "x")]
    with pytest.raises(SystemExit) as stop:
        main(words)
    line, of_parts = capsys.readouterr().out.splitlines()
    assert stop.value.code == 3
    assert "no worse than two by more than 7 points: no, where part = c (gap larger by" in line
    assert "part = c" in of_parts
    page = (tmp_path / "x.html").read_text()
    Page(page)
    assert "<i>" not in page
    assert page.count('<polyline class="curve"') == page.count('<polygon class="band"') == 2
    numbers = json.loads((tmp_path / "x.json").read_text())
    assert numbers["subgroups"]["table"][0]["segment"] == "part = c"
    assert [model["name"] for model in numbers["models"]] == ["<i>one", "two"]


def test_a_comparison_is_shown_as_an_audit_is():
    first, second, hits, _ = in_parts()
    both = compare(first, second, hits)
    audits = [calbias.audit(probabilities=scores, labels=hits) for scores in (first, second)]
    measures = both.tables()["measures"]
    axes = both.plot()
    for audit, model in zip(audits, both.models, strict=True):
        assert (audit.curve.mean == model.curve.mean).all()
        assert any(np.array_equal(line.get_ydata(), model.curve.mean) for line in axes.lines)
        skill = measures.loc[f"Skill score, reference the event rate: {model.name}"]
        expected = audit.risk.loc["Brier skill score", ["value", "low", "high"]]
        assert skill[:3].tolist() == pytest.approx(expected.tolist())
        assert model.error[1:] == pytest.approx(audit.interval)
    of_pair = measures.loc["Skill score, reference second: first"]
    assert of_pair["value"] == both.brier_skill
    assert f"{100 * both.brier_skill:.1f} %" in both.sentence
    assert both == compare(first, second, hits)
    assert both != compare(first, second, hits, seed=1)
    assert not any(
        "event rate" in name for name in compare(S, S, (Y, Y)).tables()["measures"].index
    )
    assert both._repr_html_().count("<svg") == both.to_html().count("<svg")


def compared(tmp_path, id=None, score=(), one_file=False, first=None):
    same = {"label": Y, "score": S, "key": [f"a{k // 2}" for k in range(30)]}
    paths = files(tmp_path, first or same, same)
    compare_files(*paths[: 2 - one_file], id=id, score=score)


test_files_that_cannot_be_compared = refuses(
    compared,
    (
        {"first": {"label": np.where(np.arange(30) == 4, 1 - Y, Y), "score": S}},
        r"b.csv: row 4 \(counted from 0\) has label",
    ),
    ({"first": {"score": S, "hit": Y}}, r"a\.csv holds top-label scores and .*b\.csv the prob"),
    ({"id": "key"}, "--id key: a0 stands in several rows"),
    ({"id": "kye"}, "there is no column 'kye'"),
    ({"one_file": True}, "models are compared: give a file for each, and one --score"),
    ({"score": ("score", "score", "score")}, "models are compared"),
)


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (("a/x.csv", "b/y.csv"), ("x", "y")),
        (("runs/gpt/test/x.csv", "runs/base/test/x.csv.gz"), ("gpt", "base")),
        (("x.csv", "old/x.csv"), ("x.csv", "old/x.csv")),
        (("-", "x.csv"), ("standard input", "x")),
    ],
)
def test_files_of_one_name_are_called_by_their_folders(files, names):
    assert of_files.names_of_files(*files) == [*names]


test_bad_calls_for_several_models = refuses(
    main.__wrapped__,
    (["compare", "a", "b", "c", "--score", "x", "--score", "y"], "one --score for all or one for"),
    (["compare", "-", "b", "-"], "one of the files can be standard input"),
)


def three(tmp_path):
    """Three models of the same events, the rows of each file in another order."""
    generator = np.random.default_rng(3)
    rate, part = generator.beta(2, 3, 900), np.array([*"abc"])[np.arange(900) % 3]
    table = pd.DataFrame({"id": np.arange(900), "part": part})
    table["label"] = (generator.random(900) < rate).astype(int)
    models = {"good": rate, "near": expit(1.1 * logit(rate)), "poor": rate**0.5}
    for seed, (name, scores) in enumerate(models.items()):
        rows = table.assign(score=scores).sample(frac=1, random_state=seed)
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
    return table, models


def test_a_board_has_each_pair_at_one_level(tmp_path, capsys):
    table, models = three(tmp_path)
    paths = [str(tmp_path / f"{name}.csv") for name in models]
    words = ["--id", "id", "--by", "part", "--output", str(tmp_path / "board")]
    main(["compare", *paths, *words])
    sentence, *lines = capsys.readouterr().out.splitlines()
    found = json.loads((tmp_path / "board.json").read_text("utf-8"))
    assert sentence == found["sentence"]
    assert [each["name"] for each in found["models"]] == ["good", "near", "poor"]
    assert len(found["pairs"]) == len(lines) == 3
    assert pd.read_csv(tmp_path / "board.csv")["difference"].tolist() == pytest.approx(
        [pair["difference"] for pair in found["pairs"]]
    )
    for pair in found["pairs"]:
        scores = (models[pair[name]] for name in ("first", "second"))
        alone = compare(*scores, table["label"], confidence_level=1 - 0.05 / 3)
        assert (pair["low"], pair["high"]) == pytest.approx((alone.low, alone.high), abs=1e-9)
        assert pair["p_value"] == pytest.approx(min(3 * alone.p_value, 1))
        assert (pair["better"] != "") == (pair["low"] > 0 or pair["high"] < 0)
        if not pair["better"]:  # the end on the side of 0 comes to it
            end = pair["high"] if pair["difference"] < 0 else pair["low"]
            needed = 900 * ((end - pair["difference"]) / pair["difference"]) ** 2
            assert pair["rows_needed"] == pytest.approx(needed)
            assert f"about {float(f'{needed:.2g}'):.0f} rows would tell" in lines[-1]
    assert {pair["better"] for pair in found["pairs"]} == {"good", "near", ""}
    assert all(row["low"] * row["high"] > 0 for row in found["subgroups"])
    assert {"poor"} == {row["second"] for row in found["subgroups"]}
    page = (tmp_path / "board.html").read_text("utf-8")
    assert page.count("less poor</span>") == 2
    main(["compare", *paths, *words, "--quiet"])  # its files are replaced
    one = tmp_path / "all.csv"
    table.assign(**models).to_csv(one, index=False)
    columns = [word for name in models for word in ("--score", name)]
    main(["compare", str(one), *columns, "--label", "label"])
    assert capsys.readouterr().out.splitlines()[-3:] == lines


def test_tenths_and_percentages_of_one_calibrated_model_do_not_differ():
    """Where the density bends within a step, tenths have 1 to 2 points more error than they say."""
    generator = np.random.default_rng(0)
    rates = np.r_[generator.beta(60, 12, 18_000), generator.beta(3, 5, 12_000)]
    hits = generator.random(30_000) < rates
    found = compare(rates.round(1), rates.round(2), hits)
    assert found.error_first > 0.01
    assert found.better is None
