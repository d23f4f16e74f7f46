"""Monitors: the martingale by hand and by an oracle, splits, clusters, states, the command."""

import json
import threading

import numpy as np
import pandas as pd
import pytest
from html_page import Page
from hypothesis import example, given
from hypothesis import strategies as st
from nightly import daily
from refusals import refuses
from shipped import shipped_path

import calbias
from calbias import InputError, Monitor
from calbias.auditing.verdict.words import HEIGHT, SURENESS
from calbias.command import main
from calbias.monitoring import watch
from calbias.monitoring.blocks import (
    EDGES,
    NO_ENDS,
    NONE,
    PRIOR,
    Since,
    change,
    counts_of,
    likelihood_ratios,
    weight_after,
)  # fmt: skip
from calbias.monitoring.kept import alone_with
from calbias.monitoring.sizes import NO_SIZES, class_of, row_weights
from calbias.monitoring.state import sealed, unsealed

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


def test_a_clusters_rows_have_weights_from_the_clusters_before_by_hand():
    """Sizes 1 (always), 9 (as 8), 2: weights 1 + 1/8 + 1/2, 1/8 + 1/2, 1/8, …, each over 3."""
    sizes = NO_SIZES.copy()
    sizes[class_of(np.array([9, 2]))] = 1
    place = np.arange(1, 11)
    weights = row_weights(sizes, np.zeros(0, int), place, np.zeros(10, int))
    assert weights == pytest.approx(np.r_[13 / 8, 5 / 8, np.full(6, 1 / 8), 0, 0] / 3)
    ids = np.repeat(["a", "b", "c"], [9, 2, 4])
    scores, hits = np.linspace(0.2, 0.9, 15), np.arange(15) % 3 > 0
    monitor = watched(scores, hits, ids)
    before, sums = monitor.evidence, monitor._sums
    ratios = likelihood_ratios(scores[11:], hits[11:])
    monitor.update([0.5], [1], ["d"])
    unspent = weight_after(np.array([2, 3]))
    factor = 1 + weights[:4] @ (ratios - 1)
    expected = (sums + PRIOR * (unspent[0] - unspent[1])) @ factor + unspent[1]
    assert monitor.evidence == pytest.approx(expected, rel=1e-12)
    assert monitor.evidence != pytest.approx(before, rel=1e-3)


@pytest.mark.parametrize("ends_at", [0, 1])
@given(st.lists(st.integers(1, 7), max_size=4), st.lists(st.floats(0.01, 0.99), min_size=6))
def test_the_mean_evidence_stays_where_the_hits_end_a_cluster(ends_at, sizes, chances):
    """All ways in which a cluster runs until its first hit, or miss, or six rows."""
    ids = np.repeat(np.arange(len(sizes)), sizes)
    text = watched(np.full(ids.size, 0.4), ids % 2, [f"x{k}" for k in ids]).to_json()
    mean, left = 0.0, 1.0
    closed = Monitor.from_json(text)
    closed.update([0.5], [1], ["new"])
    for n in range(1, 7):
        for last in (0, 1) if n == 6 else (ends_at,):
            p = chances[n - 1] if last else 1 - chances[n - 1]
            hits = [*np.full(n - 1, 1 - ends_at), last]
            monitor = Monitor.from_json(text)
            monitor.update(chances[:n], hits, ["y"] * n)
            monitor.update([0.5], [1], ["new"])
            mean += left * p * monitor.evidence
        left *= 1 - chances[n - 1] if ends_at else chances[n - 1]
    assert mean == pytest.approx(closed.evidence, rel=1e-9)


test_missing_clusters = refuses(
    lambda ids: Monitor().update([0.5, 0.5], [1, 0], ids),
    *((["a", none], r"row 1 .*: the cluster id is missing") for none in (None, np.nan, pd.NA, "")),
    (["a"], "one id for each of the 2 rows"),
)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ([1, 2], [2.0, 3.0]), ([1.0, 2.0], pd.array([2, 3], dtype="Int64")), ([1, "2"], ["2", 3]),
        (np.array(["2024-01-01", "2024-01-02"], "M8[D]"),
         np.array(["2024-01-02", "2024-01-03"], "M8[ns]")),
    ],
)  # fmt: skip
def test_equal_ids_of_two_types_are_one_cluster(first, then):
    monitor = watched([0.5, 0.5], [1, 0], first)
    monitor.update([0.5, 0.5], [1, 0], then)
    monitor.complete()
    assert monitor._factors == 3


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
    Monitor, *((level, "between 0 and 1") for level in (0, 1, 1.5, True, "x", 5e-324))
)
test_bad_states = refuses(
    Monitor.from_json,
    (STATE[:-40], "no readable state of a monitor"),
    ("7", "no readable state of a monitor"),
    (json.dumps(json.loads(STATE) | {"calbias_monitor": 9}), "version 9"),
    (json.dumps(json.loads(STATE) | {"calbias_monitor": 3.0}), "version 3.0"),
    (json.dumps(json.loads(STATE) | {"n": 9}), "damaged"),
    (
        sealed({**unsealed(json.loads(STATE), set(json.loads(STATE)) - {"sha256"}), "more": 1}),
        "damaged",
    ),
)


def forged(rows=60, **values):
    """The state of 60 rows, or of an alarm, with other values."""
    scores, hits = np.tile([0.4, 0.8, 0.8], 20), np.tile([1, 0, 1], 20)
    monitor = watched(scores[:rows], hits[:rows], np.arange(rows) // 2)
    for name, value in values.items():
        array = getattr(monitor, name)
        if isinstance(value, dict):
            for place, number in value.items():
                array[place] = number
        else:
            setattr(monitor, name, value)
    return monitor.to_json()


def test_a_true_state_is_accepted():
    assert Monitor.from_json(forged()).to_json() == forged()
    assert Monitor.from_json(Monitor(np.float32(0.25)).to_json()).level == 0.25


since = Since(1, 1, 5)
test_states_that_no_rows_give = refuses(
    lambda **values: Monitor.from_json(forged(**values)),
    *(
        (values, "no rows give|no readable")
        for values in (
            {"n": 10**9}, {"n": 61}, {"n": -1}, {"n": 60.0}, {"_factors": 0}, {"_factors": 1},
            {"_factors": 60}, {"_sums": {0: 1740.0}}, {"_sums": {0: 1.7e308}}, {"_sums": {0: -1.0}},
            {"_sums": np.zeros(PRIOR.size)}, {"_sums": np.ones(3)}, {"_sums": {0: np.nan}},
            {"_largest": 0.5}, {"_largest": 21.0}, {"_largest": np.inf}, {"_largest": 1},
            {"_blocks": {...: 0}}, {"_blocks": np.tile(NONE, (100, 1))},
            {"_blocks": {(0, 0): 21}}, {"_blocks": {(0, 30): 2}}, {"_blocks": {(0, 0): -20}},
            {"_sums": PRIOR * 1e-20}, {"rows": 41, "_sums": PRIOR * 0.5},
            {"_open": {0: 1e300}}, {"_open": {0: 3.0}}, {"_open": {-1: 0.5}},
            {"_open": {PRIOR.size + 20: 3.0}}, {"_open": {...: 0.0}},
            {"_cluster": None}, {"_cluster": ""}, {"_cluster": 7},
            {"_sizes": {0: 1}}, {"_sizes": {1: 28, 2: 1}}, {"_sizes": {1: -29}},
            {"_sizes": {-1: 1}},
            {"_ends": {1: np.inf}}, {"_ends": {2: -5.0}}, {"_ends": {2: 0.9}}, {"_ends": {0: 0.1}},
            {"_ends": {1: 1.0}}, {"_ends": {0: np.nan}}, {"_ends": NO_ENDS},
            {"_ends": np.array([0.8, 1.0, 0.01, 0.0, 0.8])},
            {"_track": {(0, 0): 0.5}}, {"_track": {(0, 0): 1e300}}, {"_track": {(0, 0): 19.0}},
            {"_track": {(0, 1): 1.4}}, {"_track": {(0, 1): -3.0}}, {"_track": np.zeros((0, 2))},
            {"_step": 2 * 10**10}, {"_step": 40}, {"_step": 0},
            {"alarm": 5}, {"alarm": 5, "since": since}, {"since": since},
            {"alarm": 5, "since": since, "_largest": 19.0},
            {"alarm": 4, "since": since, "_largest": 21.0},
            {"alarm": 61, "since": since, "_largest": 21.0},
            {"alarm": 5, "since": Since(3, 1, 5), "_largest": 21.0},
        )
    ),
)  # fmt: skip


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
    assert Page(page).headings[:3] == [1, 2, 3]  # the audit is a part of the page
    numbers = json.loads((tmp_path / "stream-watch.json").read_text("utf-8"))
    assert (numbers["alarm"], numbers["alarm_time"]) == (alarm, table["day"][alarm - 1])
    since = numbers["since"]["row"]
    assert numbers["since_time"] == table["day"][since - 1]
    rows = table[since - 1 :]
    judged = calbias.audit(probabilities=rows["score"], labels=rows["hit"])
    told = numbers["audit"]
    assert (told["rows"], told["n"]) == (f"rows since row {since}", 1201 - since)
    assert (told["verdict"], told["error"]) == (judged.verdict.sentence, judged.error)
    assert page.count('class="bin"') == judged.to_html().count('class="bin"')
    assert numbers["series"][-1]["row"] == 1200
    assert numbers["options"] == {"level": 0.05, "time": "day", "by": [], "seed": 0, "state": None}


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
    with refused("the state has the level 5 %, not 10 %"):
        main(["watch", written(table[700:]), "--time", "day", *state, "--level", "10"])
    numbers = table.assign(day=np.arange(1200) + 20260101)
    with refused("its time 20260101 is a number, and", "a date: name one column"):
        main(["watch", written(numbers), "--time", "day", *state])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        *(({"last": last}, "not those of its rows") for last in ("", None, 5)),
        *(({"last": last}, "is no time") for last in ("x", "inf", "NaT", "99999-01-01")),
        *(({name: "2024-01-02"}, "not those of its rows") for name in ("alarm", "since")),
        ({"monitor": 7}, "no readable state"), ({"more": 7}, "damaged"),
        ({"last": "2024-01-01", "sha256": ""}, "damaged"),
    ],
)  # fmt: skip
def test_a_changed_state_is_refused(changes, message, stream, refused, capsys, tmp_path):
    table, written = stream
    state = tmp_path / "s.json"
    main(["watch", written(table[:40]), "--time", "day", "--state", str(state)])
    values = json.loads(state.read_text("utf-8"))
    del values["sha256"]
    text = json.dumps(values | changes) if "sha256" in changes else sealed(values | changes)
    state.write_text(text)
    capsys.readouterr()
    with refused("s.json: ", message):
        main(["watch", written(table[40:]), "--time", "day", "--state", str(state)])


def test_rows_come_one_by_one_and_those_that_wait_are_named(stream, capsys, tmp_path):
    table, written = stream
    state = ["--time", "day", "--state", str(tmp_path / "s.json"), "--force"]
    for k in range(3):
        main(["watch", written(table[k : k + 1]), *state])
    assert json.loads((tmp_path / "stream-watch.json").read_text("utf-8"))["n"] == 3
    open_rows = table[3:40].astype({"hit": object})
    open_rows.loc[[12, 30], "hit"] = None
    capsys.readouterr()
    main(["watch", written(open_rows), *state, "--missing", "drop"])
    said = capsys.readouterr().err
    assert "2 rows left out, from 2024-01-13 on, will never be watched" in said
    assert "goes on after 2024-02-09" in said


def test_two_watches_of_one_state_wait_for_each_other(stream, tmp_path):
    """The second reads the state after the first has written it."""
    table, written = stream
    state, order = str(tmp_path / "s.json"), []
    inside, free = threading.Event(), threading.Event()

    def first():
        with alone_with(state):
            inside.set()
            free.wait(60)
            order.append("first")

    def second():
        inside.wait(60)
        main(["watch", written(table[:40]), "--time", "day", "--state", state])
        order.append("second")

    threads = [threading.Thread(target=each) for each in (first, second)]
    for thread in threads:
        thread.start()
    inside.wait(60)
    free.set()
    for thread in threads:
        thread.join(60)
    assert order == ["first", "second"]


def test_a_watch_of_patients_until_their_event_is_silent(tmp_path, capsys):
    """Placed by their last rows, or with means of ratios, calibrated patients rang at once."""
    generator = np.random.default_rng(1)
    rows = []
    for patient in range(150):
        for day in range(14):
            risk = generator.uniform(0.05, 0.3)
            has_event = generator.random() < risk
            rows.append((patient // 10 + day, patient, risk, int(has_event)))
            if has_event:
                break
    table = pd.DataFrame(rows, columns=["day", "patient", "risk", "label"]).sort_values("day")
    table.to_csv(tmp_path / "until.csv", index=False)
    more = ["--cluster", "patient", "--score", "risk", "--label", "label"]
    main(["watch", str(tmp_path / "until.csv"), "--time", "day", *more])
    assert capsys.readouterr().out.startswith(f"no alarm in {len(rows)} rows")


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
    expected.complete()
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
        (lambda t: t.assign(day=t["day"] > "2025"), "line 2: day is 'False'"),
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
