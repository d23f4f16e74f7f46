"""Monitors: the martingale by hand and by an oracle, splits, clusters, states, the command."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from nightly import daily
from refusals import refuses
from shipped import shipped_path

from calbias import InputError, Monitor
from calbias.auditing.verdict.words import HEIGHT, SURENESS
from calbias.command import main
from calbias.monitoring import watch
from calbias.monitoring.blocks import (
    EDGES,
    NONE,
    PRIOR,
    change,
    counts_of,
    likelihood_ratios,
    weight_after,
)  # fmt: skip

ROWS = st.lists(
    st.tuples(st.floats(0, 1), st.booleans(), st.integers(0, 3)), min_size=1, max_size=90
)


def watched(scores, hits, clusters=None, **options):
    monitor = Monitor(**options)
    monitor.update(scores, hits, clusters)
    return monitor


def drifting(seed=0, rows=4000, change=2000, gap=0.15):
    generator = np.random.default_rng(seed)
    scores = generator.beta(6, 1.5, rows)
    return scores, generator.random(rows) < scores - gap * (np.arange(rows) >= change)


def test_three_hits_at_one_half_by_hand():
    """At 0.5 alternatives ±a have ratios 1 ± tanh(a/2); slopes and other bands have 1."""
    everywhere = [0.12, 0.25, 0.5, 1.0, 0.25, 0.75]  # pairs of shifts; the last two with slopes
    weights = np.array([2, 2, 2, 2, 2, 2]) * 0.75 / 16
    bands = [1.2, 1.2, 0.9, 0.9, 0.6, 0.6]  # of 73, those that hold 0.5
    squares = np.tanh(np.array(everywhere) / 2) ** 2 @ weights
    squares += (np.tanh(np.array(bands) / 2) ** 2).sum() * 2 * 0.125 / 73
    first, second = 1 - 0.5 / np.sqrt(1.002), 0.5 / np.sqrt(1.002) - 0.5 / np.sqrt(1.004)
    evidence = [watched([0.5] * n, [1] * n).evidence for n in (1, 2, 3)]
    by_hand = [1, 1 + first * squares, 1 + (3 * first + second) * squares]
    assert evidence == pytest.approx(by_hand, rel=1e-12)


def test_the_start_of_a_change_survives_evidence_beyond_any_float():
    blocks = np.concatenate([NONE, NONE])
    scores = np.full(40_000, 0.9)
    for k, hits in enumerate((scores.size, 0)):
        rows = counts_of(scores[:2], np.arange(2) < hits)
        blocks[k] = np.r_[40_000, 40_000, 20_000 * rows.sum(axis=0)]
    blocks = np.concatenate([blocks, NONE])
    since, left = change(blocks)
    assert (since.row, since.low) == (40_001, 40_001)
    assert len(left) == 2


def test_evidence_is_the_sum_over_alternatives_and_starts():
    scores, hits = drifting(rows=25, change=10, gap=0.3)
    ratios = likelihood_ratios(scores, hits)
    unspent = weight_after(np.arange(26))
    total = unspent[25]
    for alternative, prior in enumerate(PRIOR):
        for start in range(25):
            product = np.prod(ratios[start:, alternative])
            total += prior * (unspent[start] - unspent[start + 1]) * product
    assert watched(scores, hits).evidence == pytest.approx(total, rel=1e-12)


def test_a_calibrated_row_expects_a_ratio_of_at_most_one():
    scores = np.r_[0.0, 1e-9, 1e-6, np.linspace(0.001, 0.999, 111), 1 - 1e-7, 1.0]
    ones = np.ones_like(scores)
    hit, miss = likelihood_ratios(scores, ones), likelihood_ratios(scores, 0 * ones)
    mean = scores[:, None] * hit + (1 - scores[:, None]) * miss
    assert mean.max() <= 1 + 1e-9
    inner = (scores > 2e-6) & (scores < 1 - 2e-6)
    assert mean[inner] == pytest.approx(np.ones_like(mean[inner]))
    assert PRIOR.sum() == pytest.approx(1)


@given(ROWS, st.integers(1, 40), st.booleans(), st.booleans())
@example([(0.0, False, 0), (0.0, False, 0), (0.0, True, 0)], 1, True, False)
def test_the_split_into_updates_changes_no_bit(rows, step, is_clustered, is_stored):
    scores, hits, clusters = (np.array(column) for column in zip(*rows, strict=True))
    ids = clusters if is_clustered else None
    parts = Monitor(0.3)
    for k in range(0, scores.size, step):
        part = slice(k, k + step)
        parts.update(scores[part], hits[part], None if ids is None else ids[part])
        parts = Monitor.from_json(parts.to_json()) if is_stored else parts
    assert parts.to_json() == watched(scores, hits, ids, level=0.3).to_json()


def test_a_long_stream_is_split_anywhere_and_its_state_stays_small():
    scores, hits = drifting(rows=5000, change=4500)
    whole, parts = watched(scores, hits), Monitor()
    for part in np.split(np.arange(5000), [1, 4095, 4097, 4510]):
        parts = Monitor.from_json(parts.to_json())
        parts.update(scores[part], hits[part])
    assert parts.to_json() == whole.to_json()
    assert len(whole.to_json()) < 9000
    assert whole.n == 5000


@pytest.fixture
def audited(monkeypatch):
    """What a monitor gives to an audit."""
    calls = []
    monkeypatch.setattr(
        "calbias.auditing.audit.audit_data", lambda data, options: calls.append(data.scored)
    )
    return calls


def test_an_alarm_tells_when_the_change_began_and_audits_the_rows_since(audited):
    scores, hits = drifting(rows=3000)
    monitor = watched(scores, hits)
    assert 2000 < monitor.alarm < 2400
    assert monitor.since.low <= 2001 <= monitor.since.high
    assert monitor.since.low <= monitor.since.row <= monitor.since.high <= monitor.alarm
    assert watched(scores[: monitor.alarm - 1], hits[: monitor.alarm - 1]).alarm is None
    monitor.audit()
    scores, hits = (x[monitor.since.row - 1 :] for x in (scores, hits))
    inside = np.histogram(scores, EDGES)[0]
    (binned,) = audited
    assert binned.rows.tolist() == inside[inside > 0].tolist()
    assert binned.hits.sum() == hits.sum()
    assert binned.scores @ binned.rows == pytest.approx(scores.sum(), abs=0.01)


def test_a_calibrated_stream_is_silent_and_is_audited_whole(audited):
    monitor = watched(*drifting(gap=0))
    assert (monitor.alarm, monitor.since) == (None, None)
    assert monitor.evidence < 20
    monitor.audit()
    assert audited[0].n == 4000


def test_a_cluster_has_the_mean_ratio_of_its_rows():
    monitor = watched([0.3, 0.8], [1, 0], ["a", "a"])
    assert monitor.evidence == 1
    monitor.update([0.5], [1], ["b"])
    ratio = likelihood_ratios(np.array([0.3, 0.8]), np.array([1, 0])).mean(axis=0)
    unspent = weight_after(np.array([0, 1]))
    assert monitor.evidence == pytest.approx(PRIOR @ ratio * (1 - unspent[1]) + unspent[1])


def test_nothing_is_lost_by_a_refusal():
    monitor = watched(*drifting(rows=30))
    before = monitor.to_json()
    for scores, hits, clusters in (([0.5, 1.2], [1, 0], None), ([0.5, 0.5], [1, 0], ["a"])):
        with pytest.raises(InputError):
            monitor.update(scores, hits, clusters)
    monitor.update([], [])
    assert monitor.to_json() == before


STATE = watched([0.4, 0.8], [1, 0]).to_json()
test_bad_levels = refuses(
    Monitor, *((level, "between 0 and 1") for level in (0, 1, 1.5, True, "x"))
)
test_bad_states = refuses(
    Monitor.from_json,
    (STATE[:-40], "no readable state of a monitor"),
    ("7", "no readable state of a monitor"),
    (json.dumps(json.loads(STATE) | {"calbias_monitor": 9}), "version 9"),
    (json.dumps(json.loads(STATE) | {"n": 9}), "damaged"),
)


@pytest.fixture
def stream(tmp_path):
    scores, hits = drifting(rows=1200, change=600)
    table = pd.DataFrame({"score": scores, "hit": hits.astype(int)})
    table.insert(0, "day", pd.date_range("2024-01-01", periods=1200).strftime("%Y-%m-%d"))

    def written(table):
        path = tmp_path / "stream.csv"
        table.to_csv(path, index=False)
        return str(path)

    return table, written


def test_watch_prints_one_line_and_writes_a_page(stream, capsys, tmp_path):
    table, written = stream
    alarm = watched(table["score"], table["hit"]).alarm
    watch_with_alarm(written(table[::-1]))  # newest first is read from its end
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"alarm at row {alarm} ({table['day'][alarm - 1]}) of 1200: misc")
    assert f"{SURENESS[0]} by" in line
    watch_with_alarm(written(table.rename(columns={"hit": "label"})))
    assert f"risks {HEIGHT[0]} by" in capsys.readouterr().out
    page = (tmp_path / "stream-watch.html").read_text("utf-8")
    assert page.count("<svg") >= 2
    assert "Evidence against calibration" in page
    numbers = json.loads((tmp_path / "stream-watch.json").read_text("utf-8"))
    assert (numbers["alarm"], numbers["alarm_time"]) == (alarm, table["day"][alarm - 1])


def watch_with_alarm(*options):
    with pytest.raises(SystemExit) as stopped:
        main(["watch", *options, "--time", "day"])
    assert stopped.value.code == 3


def test_a_state_goes_from_file_to_file(stream, capsys, tmp_path, refused):
    table, written = stream
    monitor, state = watched(table["score"], table["hit"]), ["--state", str(tmp_path / "s.json")]
    assert monitor.alarm > 700
    main(["watch", written(table[:400]), "--time", "day", *state])
    main(["watch", written(table[400:700]), "--time", "day", *state])
    numbers = json.loads((tmp_path / "stream-watch.json").read_text("utf-8"))
    assert (numbers["n"], numbers["alarm"]) == (700, None)
    assert numbers["evidence"] == watched(table["score"][:700], table["hit"][:700]).evidence
    capsys.readouterr()
    watch_with_alarm(written(table[700:]), *state)
    out = capsys.readouterr().out
    assert out.startswith(f"alarm at row {monitor.alarm} ({table['day'][monitor.alarm - 1]}) of ")
    capsys.readouterr()
    with refused("stream.csv: begins at", "has the rows up to", "give later rows"):
        main(["watch", written(table[700:]), "--time", "day", *state])
    with refused("the state has the level 0.05, not 0.1"):
        main(["watch", written(table[700:]), "--time", "day", *state, "--level", "0.1"])
    (tmp_path / "s.json").write_text('{"generator": "calbias watch --state"}')
    with refused("s.json: is no state of calbias watch"):
        main(["watch", written(table[700:]), "--time", "day", *state])


@pytest.fixture
def unaudited(monkeypatch):
    """What was to be audited."""
    calls = []

    def audit(scores, hits, clusters, seed):
        calls.append((scores.tolist(), hits.tolist(), clusters))
        raise InputError("too few")

    monkeypatch.setattr(watch, "audit", audit)
    return calls


def test_watch_reads_times_with_offsets_in_any_iso_form(stream, capsys, unaudited):
    table, written = stream
    times = pd.date_range("2024-10-26", periods=1200, freq="10min", tz="Europe/Berlin")
    table["day"] = [time.isoformat() for time in times]  # summer time ends on the 27th
    table.loc[1::2, "day"] = [time.isoformat(" ") for time in times[1::2]]
    monitor = watched(table["score"], table["hit"])
    watch_with_alarm(written(table))
    said = f"row {monitor.alarm} ({table['day'][monitor.alarm - 1]})"
    assert said in capsys.readouterr().out
    since = table[monitor.since.row - 1 :]
    assert unaudited == [(since["score"].tolist(), since["hit"].tolist(), None)]


def test_watch_takes_clusters_when_they_are_complete(stream, capsys, unaudited):
    table, written = stream
    table["game"] = np.arange(1200) // 10 * 2 + np.arange(1200) % 2  # two at a time
    watch_with_alarm(written(table), "--cluster", "game")
    table = table.sort_values("game", kind="stable")
    expected = watched(*(table[name].to_numpy() for name in ("score", "hit", "game")))
    assert f"row {expected.alarm} " in capsys.readouterr().out
    ((scores, _, clusters),) = unaudited
    since = table[expected.since.row - 1 :]
    assert scores == since["score"].tolist()
    assert (pd.factorize(clusters)[0] == pd.factorize(since["game"])[0]).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: pd.concat([t, t[:1]]), "line 1202: day goes back to 2024-01-01"),
        (lambda t: pd.concat([t, t[-1:]]), "line 1202: repeats an earlier row"),
        (lambda t: t.assign(day=t["day"].str[5:]), "line 2: day is '01-01'"),
        (lambda t: t.assign(score=t["score"] * 100), "not a probability"),
        (lambda t: t.rename(columns={"day": "date"}), "no column 'day'"),
    ],
)
def test_watch_refuses_in_one_line(change, message, stream, refused, tmp_path):
    table, written = stream
    with refused(message):
        main(["watch", written(change(table)), "--time", "day"])
    assert not (tmp_path / "stream-watch.html").exists()


def test_watch_refuses_what_is_no_table_in_one_line(refused):
    times = "give a file with a column of times"
    for file, message in {"no.csv": "no such file", "model.npz": times, "-": times}.items():
        with refused(message):
            main(["watch", file, "--time", "day"])


@pytest.mark.parametrize(("name", "latest"), daily([("nba_games", 1700), ("mlb_games", None)], 1))
def test_basketball_rings_and_baseball_is_silent(name, latest):
    table = pd.read_parquet(shipped_path("forecasts", name))[::-1][:latest]
    assert (watched(table["score"], table["hit"]).alarm is None) == (latest is None)
