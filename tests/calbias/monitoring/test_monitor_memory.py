"""A monitor's bets, memory and picture, by hand and by loops."""

import contextlib
import itertools
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from calbias import InputError, Monitor
from calbias.command import main
from calbias.monitoring import blocks as memory
from calbias.monitoring import stream
from calbias.monitoring.evidence_chart import Mark, evidence_chart
from calbias.reading.output_file import Place

EDGES = [0, 0.001, 0.01, *(k / 40 for k in range(1, 40)), 0.99, 0.999, 1]


def test_bets_are_shifts_slopes_both_and_bands_with_their_weights():
    bets = [(sign * a, 1, 0, 1, 1) for a in (0.12, 0.25, 0.5, 1) for sign in (-1, 1)]
    slopes = (0.6, 0.8, 1.25, 1.7)
    bets += [(0, b, 0, 1, 1) for b in slopes]
    bets += [(a, b, 0, 1, 1 / 4) for a in (-0.75, -0.25, 0.25, 0.75) for b in slopes]
    everywhere = len(bets)
    for width, step, a in ((2, 1, 1.2), (4, 2, 0.9), (8, 4, 0.6)):
        for k in range(0, 41 - width, step):
            bets += [(sign * a, 1, k / 40, (k + width) / 40, 0) for sign in (-1, 1)]
    for low, high in ((0, 0.001), (0, 0.01), (0, 0.025), (0.999, 1), (0.99, 1), (0.975, 1)):
        bets += [(sign * 1.2, 1, low, high, 0) for sign in (-1, 1)]
    *columns, weight = np.array(bets, float).T
    found = memory._SHIFT, memory._SLOPE, memory._LOW, memory._HIGH
    np.testing.assert_allclose(np.array(found), columns, atol=1e-12)
    prior = np.where(np.arange(len(bets)) < everywhere, 0.75 * weight / 16, 0.25 / (len(bets) - 28))
    np.testing.assert_allclose(memory.PRIOR, prior)
    np.testing.assert_allclose(memory.EDGES, EDGES)


@pytest.mark.parametrize(
    ("scores", "moved"),
    [
        ([0.0, 1.0], [0.49, 0.51]),  # the step is not known: 0.98 and 0.02
        ([0.995, 0.0], [0.995, 0.49]),
        ([0.3, 0.2, 0.0, 1.0], [0.3, 0.2, 0.1, 0.65]),  # the nearest
        ([0.2, 0.4, 0.4, 0.0, 1.0], [0.2, 0.4, 0.4, 0.2, 0.7]),  # the nearest that came twice
        ([0.4, 0.0, 0.4, 0.3, 0.0], [0.4, 0.2, 0.4, 0.3, 0.2]),  # twice running of the inner ones
        ([0.9, 0.9, 0.95, 1.0], [0.9, 0.9, 0.95, 0.95]),
        ([0.0, 0.1, 0.0], [0.49, 0.1, 0.05]),  # of the rows before alone
    ],
)
def test_scores_of_0_and_1_are_read_half_a_step_inside(scores, moved):
    found, is_end, ends = memory.inside(np.array(scores), memory.NO_ENDS)
    assert found == pytest.approx(moved)
    assert is_end.tolist() == [x in (0, 1) for x in scores]
    parts, state = [], memory.NO_ENDS
    for score in scores:
        part, _, state = memory.inside(np.array([score]), state)
        parts.extend(part)
    assert parts == found.tolist()
    np.testing.assert_array_equal(state, ends)


def test_no_bet_beyond_an_end():
    """At an end of 0.01 that is read as 0.02, a shift down bets on the score itself."""
    scores, misses, ends = np.full(2, 0.02), np.zeros(2), np.array([True, False])
    ratios = memory.likelihood_ratios(scores, misses, ends)
    down = np.flatnonzero((memory._SHIFT == -0.5) & (memory._LOW == 0) & (memory._HIGH == 1))[0]
    up = np.flatnonzero((memory._SHIFT == 0.5) & (memory._LOW == 0) & (memory._HIGH == 1))[0]
    assert ratios[0, down] == 1 < ratios[1, down]
    assert ratios[0, up] == ratios[1, up] < 1


def test_blocks_of_20_factors_become_one_where_they_are_short_for_their_age():
    """Of 24 equal blocks the oldest two are joined, then the next two, and so on."""
    counts, blocks = np.zeros((20, 3 * memory.N_CELLS), np.int64), memory.NONE.copy()
    counts[:, 7] = 1
    sizes = []
    for _ in range(27):
        blocks = memory.add(blocks, counts[:12])
        assert blocks[-1, 0] == 12
        blocks = memory.add(blocks, counts[12:])
        sizes.append(blocks[:, 0].tolist())
    assert sizes[0] == [20, 0]
    assert sizes[22] == [20] * 23 + [0]
    assert sizes[23] == [40] + [20] * 22 + [0]
    assert sizes[24] == [40] * 2 + [20] * 21 + [0]
    assert sizes[26] == [40] * 4 + [20] * 19 + [0]
    assert (blocks[:, 1] == blocks[:, 0]).all()
    assert (blocks[:, 2 + 7] == blocks[:, 0]).all()


def test_the_change_is_where_the_posterior_has_its_mass():
    """Three blocks; P(change at a block's start | rows) by a loop over starts and bets."""
    generator, blocks = np.random.default_rng(6), []
    for clusters, gap in ((40, -0.1), (40, 0.2), (12, 0.3)):
        scores = generator.choice([0.55, 0.8], 48)
        hits = generator.random(48) < scores - gap
        blocks.append(np.r_[clusters, 48, memory.counts_of(scores, hits).sum(axis=0)])
    blocks = np.array([*blocks, memory.NONE[0]])
    logs = []
    for block in blocks:
        means, rows, hits = memory.in_cells(block)
        hit, miss = (np.log(memory.likelihood_ratios(means, np.full(44, y))) for y in (1, 0))
        of_rows = sum(hits[k] * hit[k] + (rows[k] - hits[k]) * miss[k] for k in range(44))
        logs.append(of_rows * block[0] / max(block[1], 1))
    starts = np.append(0, np.cumsum(blocks[:, 0]))
    mass = np.zeros(3)
    for k, j in itertools.product(range(3), range(memory.PRIOR.size)):
        weight = memory.weight_after(starts[k]) - memory.weight_after(starts[k + 1])
        mass[k] += memory.PRIOR[j] * weight * np.exp(sum(part[j] for part in logs[k:]))
    mass /= mass.sum()
    since, left = memory.change(blocks)
    first = int(np.argmax(mass))
    low, high = (int(np.argmax(np.cumsum(mass) >= share)) for share in (0.025, 0.975))
    assert since == (48 * first + 1, 48 * low + 1, 48 * (high + 1))
    assert len(left) == 4 - first
    assert (first, low, high) == (1, 0, 1)


@pytest.mark.parametrize(("rows", "kept"), [(2400, 120), (2420, 60), (2479, 61)])
def test_a_track_of_more_than_120_points_keeps_every_second(rows, kept):
    """A point is kept after 20 rows, and after 121 points after 40."""
    monitor = Monitor()
    monitor.update(np.full(rows, 0.5), np.arange(rows) % 2)
    track = monitor.track()
    step = 20 if rows == 2400 else 40
    assert track[:, 0].tolist() == [0, *range(step, step * kept + 1, step), rows]
    assert track[0].tolist() == [0, 0]
    half = Monitor()
    half.update(np.full(80, 0.5), np.arange(80) % 2)
    assert track[track[:, 0] == 80, 1] == pytest.approx(np.log10(half.evidence))


def alarmed(hits):
    """A monitor at level 0.1 of rows of 0.5 with these hits."""
    monitor = Monitor(0.1)
    monitor.update(np.full(len(hits), 0.5), hits)
    return monitor


def test_a_picture_ends_at_two_below_one_and_three_above_the_alarm():
    pytest.importorskip("matplotlib").use("agg")
    monitor = alarmed([1] * 300)
    assert monitor.track()[-1].tolist() == [300, 4]
    assert monitor.alarm < 30
    axes = monitor.plot()
    curve, line, dot = axes.lines
    assert curve.get_xydata() == pytest.approx(monitor.track() * [1, 0] + 10 ** (
        monitor.track() * [0, 1]) * [0, 1])  # fmt: skip
    assert set(line.get_ydata()) == {10}
    assert dot.get_xydata().tolist() == [[monitor.alarm, 10]]
    (area,) = axes.patches
    assert (area.get_x(), area.get_x() + area.get_width()) == monitor.since[1:]
    assert (axes.get_yscale(), axes.get_xlim()) == ("log", (0, 300))
    labels = axes.get_legend_handles_labels()[1]
    assert labels[:3] == ["evidence", "alarm at 10", "change, 95 % interval"]
    quiet = alarmed([])
    assert quiet.track().tolist() == [[0, 0], [0, 0]]
    assert quiet.plot().get_xlim() == (0, 1)
    assert len(quiet.plot(axes).lines) == 5
    falling = Monitor()
    falling._sums[:] = -0.4999999 / falling._sums.size
    assert falling.track()[-1, 1] >= -2


def test_an_audit_of_a_monitor_wants_two_rows_and_no_clusters():
    with pytest.raises(InputError, match=r"has 1 rows .* since row 1, with"):
        alarmed([1]).audit()
    assert alarmed([1, 0]).audit().n == 2
    monitor = Monitor(0.1)
    monitor.update(np.full(600, 0.5), np.arange(600) < 300, np.arange(600) // 2)
    with pytest.raises(InputError, match=f"since row {monitor.since.row}, with"):
        monitor.audit()


def test_the_page_of_a_short_stream_says_that_nothing_rang(tmp_path, capsys):
    """Two clusters are too few for an audit, which the line then does not mention."""
    for rows, more in ((4, ["--cluster", "id"]), (40, [])):
        table = pd.DataFrame({"day": range(rows), "score": 0.5, "hit": np.arange(rows) % 2})
        table["id"] = np.arange(rows) // 2
        table.to_csv(tmp_path / "x.csv", index=False)
        main(["watch", str(tmp_path / "x.csv"), "--time", "day", "--level", "10", *more])
        monitor = Monitor(0.1)
        monitor.update(table["score"], table["hit"], table["id"] if more else None)
        monitor.complete()
        said = f"no alarm in {rows} rows: evidence {monitor.evidence:.2g}, alarm at 10"
        out = capsys.readouterr().out
        assert out.startswith(said)
        assert (f"; the {rows} rows: " in out) == (rows == 40)
        page = (tmp_path / "x-watch.html").read_text("utf-8")
        assert page.count(said[1:].replace(" %", "\u00a0%")) == 1
        assert "at most 10 %" in page
        assert page.count("<main>") == 1


@pytest.mark.parametrize(
    ("times", "order"),
    [
        ([1, 2, 2, 3], [0, 1, 2, 3]), ([3, 2, 2, 1], [3, 2, 1, 0]), ([1, 1, 1], [2, 1, 0]),
        (["2024-03-01", "2024-03-02T00:00+02:00"], [0, 1]),
        (["2024-03-02T01:00+02:00", "2024-03-02T00:30Z"], [0, 1]),
    ],
)  # fmt: skip
def test_rows_are_in_time_as_they_stand_or_backwards(times, order):
    times = np.array(times, object if isinstance(times[0], str) else None)
    _, found = stream._in_time(times, "day", Place(Path("x"), ""))
    assert found.tolist() == order


def test_a_chart_on_a_page_by_hand():
    """Ten rows without an alarm: 1000 for ten rows; 260 for the logs −2 to 1 and 15 % of these."""
    monitor = alarmed([1, 0])
    monitor.n = 10
    chart = evidence_chart(monitor, [Mark(1, "<day 1>"), Mark(10, "day 2")])
    assert f'points="0.0,{260 * 1.45 / 3.45:.1f} ' in chart
    assert re.findall(r"%\">(10<sup>.*?</sup>|[\d.]+)<", chart) == ["0.01", "0.1", "1", "10"]
    assert re.findall(r"left:(.*?)%", chart) == ["10.0", "100.0"]
    assert "&lt;day 1&gt;<br>row 1<" in chart
    assert 'class="alarm"' not in chart
    rung = alarmed([1] * 40)
    chart = evidence_chart(rung, [Mark(1, "day")])
    assert f'class="alarm" d="M{25 * rung.alarm:.1f} ' in chart
    _, low, high = rung.since
    assert f'class="change" d="M{25 * (low - 1):.1f} 0V260H{25 * high:.1f}V0Z"' in chart
    for points in re.findall(r'points="(.*?)"', chart):
        heights = [float(point.split(",")[1]) for point in points.split()]
        assert 0 < min(heights) < max(heights) <= 260  # inside the frame


def test_each_subgroup_has_a_monitor_and_all_share_the_level(tmp_path, capsys):
    """Site b is too sure from its 201st row on; the date of its change is in an earlier file."""
    generator = np.random.default_rng(2)
    table = pd.DataFrame({"day": np.arange(1600), "score": 0.8, "site": ["a", "b"] * 800})
    wrong = (table["site"] == "b") & (table["day"] >= 400)
    table["hit"] = (generator.random(1600) < np.where(wrong, 0.5, 0.8)).astype(int)
    words = [str(tmp_path / "x.csv"), "--time", "day", "--by", "site", "--state"]
    states = {}
    for name, cuts in (("whole", [0, 1600]), ("parts", [0, 500, 560, 1600])):
        for first, end in itertools.pairwise(cuts):
            table[first:end].to_csv(tmp_path / "x.csv", index=False)
            with contextlib.suppress(SystemExit):
                main(["watch", *words, str(tmp_path / f"{name}.json"), "--quiet"])
        states[name] = json.loads((tmp_path / "x-watch.json").read_text("utf-8"))
    found = states["whole"]
    assert found["subgroups"] == states["parts"]["subgroups"]
    for values, site in zip(found["subgroups"], "ab", strict=True):
        alone = Monitor(0.05 / 3)
        rows = table[table["site"] == site]
        alone.update(rows["score"], rows["hit"])
        assert (values["segment"], values["evidence"]) == (f"site = {site}", alone.evidence)
        assert values["alarm"] == alone.alarm
    since = found["subgroups"][1]["since"]["row"]
    day = table["day"][table["site"] == "b"].iloc[since - 1]
    assert found["subgroups"][1]["since_time"] == str(day)
    assert found["subgroups"][0]["alarm"] is None
    assert "site = b of 2 subgroups" in capsys.readouterr().out
    table.assign(day=table["day"] + 1600, g=table["site"]).to_csv(tmp_path / "x.csv", index=False)
    for by in ([], ["--by", "g"], ["--by", "site", "g"]):
        with pytest.raises(SystemExit, match="2"):
            main(["watch", *words[:3], *by, "--state", str(tmp_path / "parts.json")])
        assert "watches the subgroups site = a, site = b: " in capsys.readouterr().err
