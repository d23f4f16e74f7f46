"""Mistakes of a new user of the command line, and sentences that would mislead one."""

import ast
import contextlib
import os
import re
import shlex

import numpy as np
import pandas as pd
import pytest

import calbias
from calbias.auditing.inputs import read_data
from calbias.command import main
from calbias.errors import InputError
from calbias.file_audit import audit_file
from calbias.io.python_files import PACKAGE
from calbias.parser import parser
from calbias.reading.columns import Columns
from calbias.sklearn import calibration_error

SCORES = np.linspace(0.5, 0.95, 60)
HITS = (np.arange(60) % 4 > 0).astype(int)


@pytest.fixture
def files(tmp_path):
    """Return two files of scores of the same rows."""
    paths = tmp_path / "a.csv", tmp_path / "b.csv"
    for path, power in zip(paths, (1, 2), strict=True):
        rows = [f"{s**power},{h},{t}" for t, (s, h) in enumerate(zip(SCORES, HITS, strict=True))]
        path.write_text("\n".join(["score,hit,t", *rows]) + "\n")
    return paths


# command: its words, and the suffixes of the files at --output
WRITERS = {
    "audit": (["a.csv"], [".html", ".json"]),
    "compare": (["a.csv", "b.csv"], [".html", ".json"]),
    "plan": (["--scores", "a.csv", "--detect", "20"], [".csv", ".json"]),
    "recalibrate": (["a.csv", "--method", "platt"], [".json"]),
    "watch": (["a.csv", "--time", "t"], [".html", ".json"]),
}
NOTES = {
    ".html": "<!DOCTYPE html>\n<title>my thesis, made with calbias audit</title>",
    ".json": '{\n  "sentence": "mine", "by": "calbias compare"}',
    ".csv": "goal,at,labels\nmine,1,2\n",
}
RESULTS = {"--output", "--force", "--seed", "--quiet"}
OF_COLUMNS = {"--score", "--hit", "--label", "--prediction", "--event", "--missing", "--cluster",
              "--top-label", "--values", "--rows", "--classes", "--count-from"}  # fmt: skip


def options_of(command):
    actions = parser()._subparsers._group_actions[0].choices[command]._actions
    return {option: action for action in actions for option in action.option_strings}


def test_an_option_is_the_same_in_every_command():
    for command in WRITERS:
        assert options_of(command).keys() >= RESULTS | OF_COLUMNS, command
    forms = {}
    for command in (*WRITERS, "check"):
        for option, action in options_of(command).items():
            form = type(action), action.nargs, action.type, repr(action.default), action.choices
            forms.setdefault(option, {})[command] = form
    forms["--score"].pop("compare")  # of two models
    forms["--time"].pop("watch")  # the order of a stream, where others have follow-up
    assert [option for option, of in forms.items() if len({*of.values()}) > 1] == []


@pytest.mark.parametrize("command", WRITERS)
def test_output_is_a_stem_and_replaces_no_other_work(files, tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    words, suffixes = WRITERS[command]
    notes = {f"x{suffix}": NOTES[suffix] for suffix in suffixes}
    refused = {"folder/x": "a folder has this name", "a.csv/x": "no file can be written there"}
    refused["pipe/x"] = "no regular file"  # and nothing waits for a reader
    refused["x" * 300], refused[""] = "File name too long", "output: an empty text"
    for name, text in notes.items():
        (tmp_path / "folder" / name).mkdir(parents=True)
        (tmp_path / "pipe").mkdir(exist_ok=True)
        os.mkfifo(tmp_path / "pipe" / name)
        (tmp_path / name).write_text(text)
        refused[name] = refused["x"] = "was not written by calbias; choose another name"
    if command == "plan":
        refused["a.csv"] = "is a file that is read"
    for output, message in refused.items():
        with pytest.raises(SystemExit) as stop:
            main([command, *words, "--quiet", "--output", output])
        printed = capsys.readouterr()
        assert (stop.value.code, printed.out) == (2, "")  # refused before anything is computed
        assert message in printed.err
        assert printed.err.count("\n") == 1
    assert {name: (tmp_path / name).read_text() for name in notes} == notes
    before = {*os.listdir()}
    texts = []
    for more in (["--force"], [], ["--seed", "1"]):
        main([command, *words, "--quiet", "--output", "x", *more])
        assert not re.search("note: | …", capsys.readouterr().err)
        texts.append([(tmp_path / name).read_text() for name in sorted(notes)])
    main([command, *words, "--output", min(notes)])  # with a suffix
    assert "writing x." in capsys.readouterr().err
    assert {*os.listdir()} == before
    assert texts[0] == texts[1]
    assert command == "watch" or texts[0] != texts[2]


def test_no_error_of_a_file_names_an_option_that_a_command_lacks():
    """All texts of the readers, with the options that every command has."""
    named = set()
    for path in (PACKAGE / "reading").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                named |= set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", node.value))
    of_follow_up = {"--time", "--status", "--horizon"}  # of audit, which the text names
    assert {"--score", "--label"} <= named
    assert named - OF_COLUMNS - of_follow_up <= {"--by"}  # where the user gave it


FEATURES = "\n".join(
    ["age,bmi,crp,label", *(f"{k}.5,{k % 7}.25,{k % 5}.125,{k % 2}" for k in range(40))]
)
WRONG = {
    "score,hit\n80,1\n60,0\n": "--values percent divides percentages by 100",
    FEATURES: "found age, bmi, crp, label; the first line names the columns",
    "score hit\n.5 1\n": "line 1: 'score hit' is not a line of names of columns",
    "# mine\nscore,hit\n.5,1\n": "line 1: '# mine' is not a line of names",
    "0.7,1\n0.2,0\n": "line 1: '0.7' is not a line of names",
    "customer,churn,risk_1\na,Yes,.5\nb,No,.6\n": "--label churn: risk_1 is the prob",
    "score,hit\n72%,1\n.5,0\n": "'.5' and cells before it differ in the percent sign",
    "score,hit\n-,1\n": "'-' is not a number; write one, or leave the cell empty",
    "score,hit\n1000,1\n1001,0\n": "all scores are whole numbers: ids or counts?",
    "score,label\n.5,0.5\n.6,1\n": "column label has 2 values, such as 0.5, and is no label",
    "score,label\n" + "".join(f".5,{k}\n" for k in range(2, 30)): "has 28 values, such as 2",
    '{"score": [0.5, 0.6], "hit": [1, 0]}': "one object with all rows in it; write one object",
    "score,hit,name\n.5,1,a\n.6,0,Zo\xeb\n": "line 3: not in UTF-8 (in Latin-1 it would be 'ë')",
    "score,x\n.5,1.5\n.6,2.5\n": "--label",
    "score,hit\n.5,1\n.6,\n": "--missing drop",
}


@pytest.mark.parametrize("text", WRONG)
@pytest.mark.parametrize("command", ["audit", "plan", "compare", "watch"])
def test_what_a_command_answers_names_its_own_options(tmp_path, capsys, command, text):
    path = tmp_path / "m.csv"
    path.write_bytes(text.encode("latin-1"))
    files = {"plan": ["--scores", str(path)], "compare": [str(path)] * 2}
    more = ["--time", "x"] if command == "watch" else []
    with pytest.raises(SystemExit) as stop:
        main([command, *files.get(command, [str(path)]), *more])
    assert stop.value.code == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert WRONG[text] in said
    assert set(re.findall(r"(?<![\w-])--[a-z-]+", said)) <= {*options_of(command)}


def test_one_outcome_is_told_once():
    for hits in (np.zeros(60, int), np.ones(60, int)):
        parts = calbias.audit(np.linspace(0.4, 0.6, 60), hits).finding.split("; ")
        assert len(parts) == len(set(parts))


def test_one_score_is_neither_reversed_nor_separated():
    audit = calbias.audit(np.full(400, 0.7), np.arange(400) % 12 > 4)
    assert not any("lower scores" in text or "separates" in text for text in audit.warnings)
    three = calbias.audit([0.2, 0.5, 0.8], [0, 1, 0])
    assert not any("share one score" in text for text in three.warnings)


def test_warning_that_asks_ends_as_a_question():
    scores = np.tile(np.linspace(0.55, 0.95, 20), 20)
    audit = calbias.audit(scores, np.arange(400) % 20 < 12)
    assert any(text.endswith("?") for text in audit.warnings)
    assert not any(text.endswith("?.") for text in audit.warnings)


def test_bins_may_be_a_whole_float():
    assert calbias.audit(SCORES, HITS, n_bins=15.0) == calbias.audit(SCORES, HITS)


@pytest.mark.parametrize("least", [1e-310, 5e-324])
def test_scores_may_be_as_small_as_a_float(least):
    with np.errstate(over="ignore"):
        assert calbias.audit(np.round(SCORES, 1) * least, HITS).miscalibrated
    is_small = HITS == 0
    with np.errstate(over="raise"):  # logits of -700 are no mistake
        calbias.audit(np.where(is_small, least, SCORES), HITS)
        logits = np.where(is_small, np.log(least), SCORES)
        calbias.audit(logits=np.c_[0 * logits, logits], labels=HITS)


def test_pandas_columns_in_another_order_are_refused():
    """Equal labels in another order; other labels are paired by position."""
    scores = pd.Series([0.2, 0.9, 0.6], index=[0, 1, 2])
    hits = pd.Series([1, 0, 1], index=[2, 0, 1])
    matrix, y = pd.DataFrame({"a": 1 - scores, "b": scores}), hits.to_numpy()
    for call in (
        lambda: calbias.audit(scores, hits),
        lambda: calbias.audit(probabilities=matrix, labels=hits),
        lambda: calbias.audit(scores, y, clusters=[y, hits]),
        lambda: calbias.audit(scores, y, by={"g": y, "h": hits}),
        lambda: calbias.audit(scores, hits.set_axis([7, 8, 9]), by=hits),
        lambda: calbias.audit(scores, y, weights=hits),
        lambda: calbias.audit(probabilities=scores, times=y, events=hits, horizon=1),
        lambda: calbias.compare(scores, y, y, by=hits),
        lambda: calbias.Recalibrator().fit(scores, y, judge=hits),
        lambda: calbias.Monitor().update(scores, y, hits),
        lambda: calibration_error(hits, scores),
        lambda: calibration_error(y, scores, sample_weight=hits),
        lambda: calbias.estimate("ece_bin_ew", scores, y, sample_weight=hits),
        lambda: calbias.reliability_diagram(scores, y, sample_weight=hits),
        lambda: calbias.Sketch().add(scores, y, hits),
    ):
        with pytest.raises(InputError, match=r"same index in another order.*\.loc\["):
            call()
    assert calbias.audit(scores, hits.set_axis([7, 8, 9])).n == 3


@pytest.mark.parametrize("name", ["clusters", "by"])
def test_masks_and_ragged_rows_are_refused_in_a_line(name):
    for column in (np.ma.masked_array(HITS, HITS == 1), [[1], *[[1, 2]] * (len(HITS) - 1)]):
        with pytest.raises(InputError, match=f"{name}.* (no mask|cannot be read|the shape)"):
            calbias.audit(SCORES, HITS, **{name: column})


def test_ids_of_a_list_with_nan_are_missing_and_objects_have_a_remedy():
    clusters = [f"patient {k // 2}" for k in range(40)]
    clusters[5] = float("nan")
    with pytest.raises(InputError, match=r"row 5 \(counted from 0\): the cluster id is missing"):
        calbias.audit(np.linspace(0.1, 0.9, 40), np.arange(40) % 2, clusters=clusters)
    with pytest.raises(InputError, match=r"not of type object: convert them, as by astype"):
        calbias.audit(np.array([0.5, None]), [0, 1])


def test_a_name_among_thousands_is_answered_in_a_short_line(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text(",".join(f"f{k}" for k in range(3000)) + "\n" + "1," * 2999 + "2\n")
    with pytest.raises(InputError, match=r"no column 'zzz'. Known: f0, .*, f39, …$"):
        audit_file(path, columns=Columns(score="zzz"))


def test_a_note_names_the_event_that_was_asked_for(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("score,label\n.5,left\n.6,stayed\n")
    data = read_data(path, columns=Columns(event="left"))
    assert data.notes[0] == "score is the probability that label is left"


def lines_of(header, *cells):
    return "\n".join([header, *(",".join(row) for _ in range(30) for row in cells)]) + "\n"


SUGGESTED = {
    "names": lines_of("Churn Probability,Churned (Y/N)", (".8", "1"), (".3", "0"), (".6", "0")),
    "event": lines_of("score,label", (".8", "50000+."), (".3", "- 50000."), (".6", "- 50000.")),
    "quotes": lines_of('"a ""b"" $(x)",y', (".8", "1"), (".3", "0"), (".6", "0")),
    "percent": lines_of("score,hit", ("80", "1"), ("30", "0"), ("60", "0")),
    "logits": lines_of("score,hit", ("1.5", "1"), ("-3", "0"), ("2.6", "0")),
    "code": lines_of("score,label", (".8", "1"), (".3", "0"), (".6", "-100")),
    "word": lines_of("score,label", (".8", "1"), (".3", "0"), (".6", "not known")),
    "nothing": lines_of("score,label", (".8", "1"), (".3", "0"), (".6", "None")),
    "gap": lines_of("score,label", (".8", "1"), ("?", "0"), (".6", "1"), (".2", "0")),
    "ignored": lines_of("p_0,p_1,p_2,label", (".8", ".1", ".1", "0"), (".3", ".4", ".3", "255")),
    "sums": lines_of("p_0,p_1,label", ("1.5", "2.5", "0"), ("3.5", "0.5", "1")),
    "rows": lines_of("score,hit,my fold", (".8", "1", "fold 1"), (".3", "0", "fold 2")),
}
_OPTION = re.compile(r"--(?:score|label|event|missing|values|rows) (?:'[^']*'|[^\s,;:]+)")


@pytest.mark.parametrize("text", SUGGESTED)
def test_a_suggested_option_works_when_it_is_pasted(tmp_path, capsys, text):
    path = tmp_path / "m.csv"
    path.write_text(SUGGESTED[text].replace("my fold", "split"))
    with contextlib.suppress(SystemExit):
        main(["audit", str(path)])
    said = capsys.readouterr().err
    first = said.partition(", or ")[0] if text in ("names", "quotes", "event") else said
    options = _OPTION.findall(first)[: 2 if text in ("names", "quotes") else 1]
    assert options, said
    main(["audit", str(path), *shlex.split(" ".join(options))])
    assert "n = " in capsys.readouterr().out
