"""Maps of subgroups and of some rows: whom they are for, what they do, and the audit after them."""

import html
import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

import calbias
from calbias.command import main
from calbias.errors import InputError
from calbias.row_maps import Condition, RowMaps, read_maps, rows_of_option
from calbias.subgroup_maps import _condition


@pytest.fixture(scope="module")
def table():
    """Risks that are too low where a = x and b = u, and nowhere else."""
    generator = np.random.default_rng(1)
    n = 4000
    frame = pd.DataFrame({"risk": generator.beta(2, 3, n).round(3).clip(0.01, 0.99)})
    for name, values in (("a", list("xyz")), ("b", list("uv"))):
        frame[name] = generator.choice(values, n)
    frame["age"] = generator.integers(20, 90, n)
    wrong = (frame["a"] == "x") & (frame["b"] == "u")
    frame["died"] = (generator.random(n) < expit(logit(frame["risk"]) + 1.2 * wrong)).astype(int)
    return frame


@pytest.fixture
def folder(table, tmp_path, monkeypatch):
    """A folder with the first half of the rows as FILE.csv and the others as NEW_FILE.csv."""
    monkeypatch.chdir(tmp_path)
    table[:2000].to_csv("FILE", index=False)
    (tmp_path / "FILE").rename("FILE.csv")
    table[2000:].to_csv("NEW_FILE.csv", index=False)
    return tmp_path


def test_the_commands_of_the_page_correct_a_pair_of_values(folder, table, capsys):
    words = ["--label", "died", "--score", "risk", "--quiet"]
    main(["audit", "FILE.csv", "--by", "a", "b", *words])
    page = (folder / "FILE.html").read_text("utf-8")
    [commands] = re.findall(r"<code>(calbias recalibrate.*?)</code>", page, re.DOTALL)
    capsys.readouterr()
    for line in html.unescape(commands).splitlines():
        more = words if "--apply" not in line else ["--quiet"]
        main([*shlex.split(line.replace("FILE ", "FILE.csv "))[1:], *more])
    first, other, sentence, details = capsys.readouterr().out.splitlines()
    assert first.startswith("where a = x and b = u: Adding 1.")
    assert other.startswith("other rows: The audit advises no recalibration")
    assert "no miscalibration found" in sentence
    assert details.startswith("No fault was found")
    new = table[2000:]
    better = pd.read_csv("recalibrated.csv")["calbias_score"].to_numpy()
    inside = ((new["a"] == "x") & (new["b"] == "u")).to_numpy()
    assert better[~inside] == pytest.approx(new["risk"][~inside].to_numpy())
    shift = logit(better[inside]) - logit(new["risk"][inside])
    assert shift.std() < 1e-9
    assert 0.8 < shift.mean() < 1.6
    told = json.loads((folder / "NEW_FILE.json").read_text("utf-8"))
    audit = calbias.audit(probabilities=better, labels=new["died"].to_numpy())
    assert (told["error"], told["p_value"]) == pytest.approx((audit.error, audit.p_value))
    assert any("after the map in map.json" in note for note in told["notes"])


def test_one_gate_on_the_error_after_recalibration(folder, table):
    words = ["--label", "died", "--score", "risk", "--quiet"]
    main(["recalibrate", "FILE.csv", "--by", "a", "b", "--output", "m.json", *words])
    for more, status in (([], 3), (["--map", "m.json"], 0)):
        with pytest.raises(SystemExit) as stop:
            main(["audit", "NEW_FILE.csv", "--within", "10", "--by", "a", "b", *more, *words])
        assert stop.value.code == status


@pytest.mark.parametrize("by", [[], ["--by", "a", "b"]])
def test_a_map_audited_on_the_rows_of_its_fit_has_a_note(folder, capsys, by):
    words = ["--label", "died", "--score", "risk"]
    main(["recalibrate", "FILE.csv", *by, "--output", "m.json", *words])
    pd.read_csv("NEW_FILE.csv")[1:].to_csv("OTHERS.csv", index=False)
    for name, is_told in (("FILE.csv", True), ("OTHERS.csv", False)):
        capsys.readouterr()
        main(["audit", name, "--map", "m.json", *words])
        assert ("if they are the same rows" in capsys.readouterr().err) == is_told


def test_a_map_of_some_rows_is_refused_on_others(folder, table, refused):
    words = ["--label", "died", "--score", "risk", "--quiet"]
    main(["recalibrate", "FILE.csv", "--rows", "a=x", "--output", "m.json", *words])
    row = int((table["a"][2000:] != "x").argmax())
    with refused(f"NEW_FILE.csv, line {row + 2}: no map is for this row, but for a = x"):
        main(["recalibrate", "NEW_FILE.csv", "--apply", "m.json"])
    with refused(f"row {row} (counted from 0): m.json: no map is for this row, but for a = x"):
        main(["audit", "NEW_FILE.csv", "--map", "m.json", *words])
    table[2000:].query("a == 'x'").to_csv("x.csv", index=False)
    table[:0].to_csv("none.csv", index=False)
    with refused("none.csv: ", "no row with a score"):
        main(["recalibrate", "none.csv", "--apply", "m.json"])
    main(["recalibrate", "x.csv", "--apply", "m.json", "--output", "y.csv", "--quiet"])
    assert pd.read_csv("y.csv")["calbias_score"].notna().all()
    with refused("made from column risk, and calbias_score is judged: name the column"):
        main(["audit", "y.csv", "--map", "m.json", "--label", "died", "--quiet"])
    with refused("a map is not read from standard input"):
        main(["recalibrate", "x.csv", "--apply", "-"])
    table.drop(columns="a").to_csv("z.csv", index=False)
    with refused("no column 'a'"):
        main(["recalibrate", "z.csv", "--apply", "m.json"])
    table[:400].assign(split="validation").to_csv("v.csv", index=False)
    main(["recalibrate", "v.csv", "--rows", "split=validation", "--output", "v.json", *words])
    assert read_maps((folder / "v.json").read_text(), "v").maps[0].rows == ()  # of another fold


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (Condition("c", "7"), [False, True, True, False, False, False]),
        (Condition("c", "x"), [False, False, False, True, False, False]),
        (Condition("c", None), [False, False, False, False, True, True]),
        (Condition("c", above=6.0), [False, True, True, False, False, False]),
        (Condition("c", above=6.0, at_most=6.9), [False] * 6),
        (Condition("c", at_most=6.0), [True, False, False, False, False, False]),
    ],
)
def test_conditions_hold_for_cells_of_files_and_arrays(condition, holds):
    assert condition.holds([" 6", "7.0", 7, "x", None, float("nan")]).tolist() == holds


def test_ranges_of_numbers_leave_no_value_out():
    """An age between two quartiles has a map too, and so has one beyond all."""
    age = np.array([20.0, 30, 40, 50, 60, np.nan])
    parts = [age <= 30, age == 40, age >= 50, np.isnan(age)]
    ranges = [_condition("age", age, inside, True) for inside in parts]
    assert ranges == [
        Condition("age", at_most=30.0),
        Condition("age", above=30.0, at_most=40.0),
        Condition("age", above=40.0),
        Condition("age", None),
    ]
    cells = [10, 30.5, 45, 99, None]
    assert np.sum([each.holds(cells) for each in ranges], axis=0).tolist() == [1] * 5
    assert _condition("site", age, age == 40, False) == Condition("site", "40.0")


def maps_of(**changes):
    fitted = calbias.Recalibrator("shift").fit(np.tile([0.2, 0.7], 40), np.arange(80) % 3 == 0)
    condition = Condition("c", "x")._asdict() | changes
    state = {"rows": [condition], "map": json.loads(fitted.to_json())}
    return {"generator": "calbias recalibrate", "calbias_maps": 1, "maps": [state]}


def test_maps_come_back_from_their_text():
    maps = read_maps(json.dumps(maps_of()), "m.json")
    assert isinstance(maps, RowMaps)
    sorted_keys = json.dumps(maps_of(), sort_keys=True)  # as jq -S writes them
    for text in (maps.to_json(), sorted_keys):
        assert read_maps(text, "m.json").to_json() == maps.to_json()
    assert maps.columns == ["c"]
    assert rows_of_option(["c=x", "split=test", " d = "]) == (
        Condition("c", "x"),
        Condition("d", None),
    )


@pytest.mark.parametrize(
    "state",
    [
        maps_of(extra=1), maps_of(value="", above=2.0, at_most=1.0),
        maps_of() | {"calbias_maps": True}, maps_of() | {"generator": "another"},
        maps_of(above=2.0), maps_of(column=3), maps_of(value="", above=float("inf")),
        maps_of(value="", at_most="2"), maps_of() | {"calbias_maps": 2}, maps_of() | {"maps": []},
        maps_of() | {"more": 1}, maps_of() | {"maps": [{"rows": [], "map": {}}]},
        maps_of() | {"maps": 3},
    ],
)  # fmt: skip
def test_damaged_maps_are_refused(state):
    with pytest.raises(InputError):
        read_maps(json.dumps(state), "m.json")
