"""Columns of a file that make outcomes give the numbers of the same arrays in Python."""

import numpy as np
import pandas as pd
import pytest
from follow_up_by_r import FILES
from refusals import refuses

import calbias
from calbias.auditing.outcome_columns import OutcomeColumns, read_outcomes
from calbias.command import main
from calbias.reading.columns import Columns


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 400
    score = rng.beta(4, 2, n).round(3)
    hit = (rng.random(n) < score).astype(int)
    votes = rng.integers(2, 6, n)
    return pd.DataFrame({
        "score": score, "hit": hit, "w": rng.gamma(1, 1, n).round(3) + 0.01,
        "judge": np.where(hit, rng.random(n) < 0.9, rng.random(n) < 0.2).astype(int),
        "human": np.where(rng.random(n) < 0.4, hit, np.nan),
        "share": rng.binomial(votes, score) / votes, "votes": votes,
        "site": np.arange(n) % 2,
        "time": rng.exponential(5, n).round(2), "status": rng.integers(0, 3, n),
    })  # fmt: skip


@pytest.fixture(scope="module")
def path(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("outcomes") / "table.csv"
    table.to_csv(path, index=False)
    return path


def scored(path, by=(), columns=None, **asked):
    named = {"score": "score", **(columns or {})}
    return read_outcomes(path, by, Columns(**named), False, OutcomeColumns(**asked))


def test_columns_are_the_arrays(path, table):
    for columns, asked, arrays in (
        ({"hit": "hit"}, {"weight": "w"}, {"hits": table.hit, "weights": table.w}),
        ({"hit": "share"}, {}, {"hits": table.share}),
        ({"hit": "share"}, {"weight": "votes"}, {"hits": table.share, "weights": table.votes}),
        ({"hit": "human"}, {"judge": "judge"}, {"hits": table.human, "judge": table.judge}),
        ({"hit": "human"}, {"judge": "judge", "labelled": "0.4"},
         {"hits": table.human, "judge": table.judge, "labelled": 0.4}),
    ):  # fmt: skip
        data = scored(path, columns=columns, **asked)
        audit = calbias.audit(table.score, **arrays)
        assert data.scored.hits.sum() / data.scored.n == pytest.approx(
            audit.description["accuracy"]
        )
        assert data.outcomes.words == audit.outcome
        assert data.kind == "top label"


def test_follow_up_is_found_by_the_usual_names(path, table):
    named = scored(path, by=["site"], time="time", status="status", horizon=4.0)
    usual = scored(path, by=["site"], horizon=4.0)
    assert np.array_equal(named.scored.hits, usual.scored.hits)
    assert [*usual.by] == ["site"]
    audit = calbias.audit(
        probabilities=table.score, times=table.time, events=table.status, horizon=4
    )
    assert usual.outcomes.words == audit.outcome
    assert usual.kind == "event"
    other = scored(path, columns={"event": "2"}, horizon=4.0, censoring="site")
    assert other.outcomes.words != usual.outcomes.words
    assert len(other.outcomes.strata) in (7, 8)  # ties of the score may join two
    part = scored(path, columns={"rows": "site=1"}, horizon=4.0)
    assert part.scored.n == 200


def test_a_genuine_file_by_the_command(tmp_path, capsys):
    file = FILES[0]
    path = tmp_path / "gbsg.csv"
    file.table.to_csv(path, index=False)
    main(["audit", str(path), "--score", "risk", "--horizon", "1825"])
    line = capsys.readouterr().out
    assert "285 events, 278 censored before, 51.2 % by Kaplan–Meier in 10 strata" in line
    assert "observed/expected 0.93 (0.85 to 1.01); no miscalibration found" in line
    page = (tmp_path / "gbsg.html").read_text("utf-8")
    assert "Follow-up in strata of the risk" in page
    assert "a random sign for each row" in page
    main(["recalibrate", str(path), "--score", "risk", "--horizon", "1825", "--method", "shift"])
    assert "adding −0.18 to the log odds" in capsys.readouterr().out.replace("Adding", "adding")


def test_plan_counts_by_the_design_effect_and_compare_refuses(path, capsys):
    score = ["--score", "score", "--quiet"]
    main(["plan", "--scores", str(path), *score, "--weight", "w", "--hit", "hit", "--detect"])
    weighted = capsys.readouterr().out.splitlines()
    main(["plan", "--scores", str(path), *score, "--hit", "hit", "--detect"])
    plain = capsys.readouterr().out.splitlines()
    for of_weights, of_hits in zip(weighted[2:], plain[2:], strict=True):
        ratio = float(of_weights.split()[-1]) / float(of_hits.split()[-1])
        assert 1.4 < ratio < 2.6  # weights of a Gamma law with mean 1: 2 on average
    with pytest.raises(SystemExit):
        main(["compare", str(path), "--score", "score", "--score", "w", "--weight", "w"])
    assert "compare takes hits of 0 and 1 alone" in capsys.readouterr().err


def test_a_status_of_texts_and_missing_times(path, table, tmp_path):
    words = {0: "alive", 1: "relapse", 2: "dead"}
    named = table.assign(status=table.status.map(words), time=table.time.mask(table.index < 5))
    file = tmp_path / "named.csv"
    named.to_csv(file, index=False)
    options = {"horizon": 4.0, "censored": "alive"}
    columns = {"event": "relapse", "missing": "drop"}
    data = scored(file, columns=columns, **options)
    numbers = calbias.audit(
        probabilities=table.score[5:], times=table.time[5:], events=table.status[5:], horizon=4
    )
    assert data.outcomes.words == numbers.outcome
    assert "rows without time, which are left out: 5" in data.notes
    assert np.array_equal(data.place.rows[:2], [5, 6])
    alive = table.assign(status=np.where(table.status == 1, "dead", "alive"))
    alive.to_csv(file, index=False)
    two = scored(file, columns={"event": "dead"}, horizon=4.0)
    single = scored(path, columns={"event": "1"}, horizon=4.0, censoring="by-risk")
    assert two.outcomes.events.sum() == single.outcomes.events.sum()
    named.fillna({"time": 1}).to_csv(file, index=False)
    with pytest.raises(calbias.InputError, match="say by --censored which is no event"):
        scored(file, columns={"event": "relapse"}, horizon=4.0)
    named.fillna({"time": 1}).assign(site=table.site.mask(table.index == 3)).to_csv(
        file, index=False
    )
    with pytest.raises(calbias.InputError, match="line 5: censoring: missing; give every row"):
        scored(file, columns={"event": "relapse"}, censoring="site", **options)


def test_none_is_a_status_and_what_is_left_of_the_texts_infers_nothing(table, tmp_path):
    file = tmp_path / "named.csv"
    words = {0: "none", 1: "relapse", 2: "death"}
    texts = table.status.map(words)
    table.assign(status=texts).to_csv(file, index=False)
    numbers = calbias.audit(
        probabilities=table.score, times=table.time, events=table.status, horizon=4
    )
    drop = {"event": "relapse", "missing": "drop"}
    for columns in ({"event": "relapse"}, drop):
        data = scored(file, columns=columns, horizon=4.0, censored="none")
        assert data.outcomes.words == numbers.outcome
    for columns, message in (
        (drop, "'none': say --censored none where it is no event"),
        ({"event": "relapse", "missing": ["none"]}, "relapse, death, none: say by --censored"),
    ):
        with pytest.raises(calbias.InputError, match=message):
            scored(file, columns=columns, horizon=4.0)
    table.assign(status=texts.mask(texts == "none")).to_csv(file, index=False)
    with pytest.raises(calbias.InputError, match="empty cells: say by --censored"):
        scored(file, columns=drop, horizon=4.0)
    table.assign(status=texts.replace("death", "none")).to_csv(file, index=False)
    two = scored(file, columns={"event": "relapse"}, horizon=4.0)
    assert two.outcomes.events.sum() == data.outcomes.events.sum()


def test_human_labels_are_read_by_their_event_or_refused(path, table, tmp_path):
    file = tmp_path / "human.csv"
    good = table.human.map({0.0: "bad", 1.0: "good"})
    judged = {"judge": "judge"}
    of_numbers = scored(path, columns={"label": "human"}, **judged)
    table.assign(human=good).to_csv(file, index=False)
    of_words = scored(file, columns={"label": "human", "event": "good"}, **judged)
    assert np.array_equal(of_words.outcomes.values, of_numbers.outcomes.values)
    swapped = scored(path, columns={"label": "human", "event": "0"}, **judged)
    assert swapped.outcomes.events.sum() == (table.human == 0).sum()
    with pytest.raises(calbias.InputError, match=r"line \d+: column human is '(good|bad)'"):
        scored(file, columns={"label": "human"}, **judged)
    with pytest.raises(calbias.InputError, match="column human is never 'great'"):
        scored(file, columns={"label": "human", "event": "great"}, **judged)
    for human, event in ((table.human, None), (table.human, "1"), (good, "good")):
        unsure = human.astype(object).mask(table.index == 7, "unsure")
        table.assign(human=unsure).to_csv(file, index=False)
        with pytest.raises(calbias.InputError, match="line 9: column human is 'unsure'"):
            scored(file, columns={"label": "human", "event": event}, **judged)


def test_shares_with_an_empty_cell(table, tmp_path):
    file = tmp_path / "shares.csv"
    table.assign(share=table.share.mask(table.index == 3)).to_csv(file, index=False)
    data = scored(file, columns={"hit": "share", "missing": "drop"})
    assert data.scored.n == len(table) - 1
    kept = table[table.index != 3]
    assert data.outcomes.words == calbias.audit(kept.score, kept.share).outcome


HIT = {"columns": {"hit": "hit"}}
test_columns_that_do_not_fit_are_refused = refuses(
    lambda tmp_path, **options: scored(_file(tmp_path), **options),
    ({"time": "time"}, "--time goes with --horizon"),
    ({**HIT, "labelled": "0.4"}, "--labelled goes with --judge"),
    ({**HIT, "weight": "w", "horizon": 3.0}, "--horizon goes without --weight"),
    ({"judge": "judge"}, "--judge needs --hit or --label"),
    ({**HIT, "weight": "weight"}, "there is no column 'weight'"),
    ({**HIT, "weight": "w"}, r"line 2: w: -1; a weight is at least 0"),
    ({"horizon": 1.0, "columns": {"hit": "hit"}}, "--horizon goes without --hit"),
    ({"horizon": 1.0, "status": "status", "columns": {"label": "hit"}}, "goes without --label"),
    ({"horizon": 9.0}, r"give one of at most 2\b"),
    ({"horizon": 1.0, "columns": {"event": "late"}}, "never .late."),
    ({"horizon": 1.0, "columns": {"event": "7"}}, "never '?7"),
)


def _file(folder):
    path = folder / "few.csv"
    path.write_text(
        "score,hit,w,judge,time,status\n0.5,1,-1,1,1,1\n0.4,0,1,0,2,0\n0.3,1,1,0,1.5,2\n"
    )
    return path


def test_a_fraction_that_is_no_share_keeps_its_message(tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("score,hit\n0.5,1\n0.4,0.5\n0.2,0\n")
    with pytest.raises(calbias.InputError, match=r"hit 0\.5 is neither 0 nor 1"):
        scored(path, columns={"hit": "hit"})
