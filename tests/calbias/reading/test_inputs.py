"""What people hand in: formats, names of columns, events and top labels, clusters, refusals."""

import gzip
import io
import json
import sys

import numpy as np
import pandas as pd
import pytest
from refusals import refuses, refuses_texts
from scipy.special import expit

from calbias import InputError
from calbias.auditing.audit import audit_data
from calbias.auditing.data import EVENT, TOP_LABEL, Options
from calbias.auditing.description import description_of, warnings_of
from calbias.auditing.inputs import prepared, read_data
from calbias.reading.columns import Columns

SCORES, HITS = [0.9, 0.8, 0.6, 0.7], [1, 0, 1, 1]
PAIRS = [*zip(SCORES, HITS, strict=True)]


def rows(path, **options):
    """Return scores, hits and Data of a file, in the order of its rows."""
    data = read_data(path, **options)
    return data.rows.score.tolist(), data.rows.hit.tolist(), data


def text(delimiter=",", names=("score", "hit"), decimal="."):
    lines = [delimiter.join(names)]
    lines += [f"{str(s).replace('.', decimal)}{delimiter}{h}" for s, h in PAIRS]
    return "\n".join(lines) + "\n"


LINES = "".join(json.dumps({"score": s, "hit": h}) + "\n" for s, h in PAIRS)
FORMATS = {
    "a.csv": text(), "b.csv": text(";"), "c.csv": text(";", decimal=","), "d.tsv": text("\t"),
    "e.txt": text("|"), "f.csv": text(names=("Score", "Hit")), "g.jsonl": LINES,
    "h.ndjson": LINES.replace("\n", "\n\n"), "i.json": f"[{LINES.strip()}]".replace("\n", ","),
    "j.csv": text(names=("SCORE ", " hits")), "k.csv": text(names=("confidence", "is correct")),
    "l.csv.gz": gzip.compress(text().encode()), "m.jsonl.gz": gzip.compress(LINES.encode()),
    "p.parquet": pd.DataFrame({"score": SCORES, "hit": HITS}).to_parquet(),
    "o.csv": LINES, "n.csv": b"\xef\xbb\xbf" + text("\t").replace("\n", "\r\n").encode(),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_formats_of_files_and_of_standard_input(tmp_path, monkeypatch, name):
    content = FORMATS[name]
    content = content if isinstance(content, bytes) else content.encode()
    (tmp_path / name).write_bytes(content)
    monkeypatch.setattr(sys, "stdin", type("", (), {"buffer": io.BytesIO(content)}))
    for path in [tmp_path / name, *["-"] * (name != "i.json")]:  # a list needs its suffix
        scores, hits, data = rows(path)
        assert (scores, hits, data.kind) == (SCORES, HITS, TOP_LABEL)


def table_file(tmp_path, **columns):
    path = tmp_path / "m.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    "columns",
    [
        {"y_true": HITS, "y_prob": SCORES},
        {"target": HITS, "score": SCORES},
        {"Label": ["yes", "No", "YES", "yes"], "risk": SCORES},
        {"y_true": HITS, "y_prob": SCORES, "y_pred": [1, 1, 1, 1]},
        {"label": HITS, "p_0": [0.1, 0.2, 0.4, 0.3], "p_1": SCORES},
        {"label": ["Yes", "no", "yes", "yes"], "p_no": [0.1, 0.2, 0.4, 0.3], "p_yes": SCORES},
        {"label": HITS, "no": [0.1, 0.2, 0.4, 0.3], "yes": SCORES, "weight": [0.5, 1, 1, 0.5]},
        {"label": HITS, "p_0": [0.1, 0.2, 0.4, 0.3], "p_1": SCORES, "age": [50, 60, 70, 80]},
        {"label": HITS, "p_0": [0.1, 0.2, 0.4, 0.3], "p_1": SCORES, "who": list("abcd")},
    ],
)
def test_events(tmp_path, columns):
    scores, hits, data = rows(table_file(tmp_path, **columns))
    assert scores == pytest.approx(SCORES, rel=1e-6)
    assert (hits, data.kind, data.n_classes) == (HITS, EVENT, 2)
    assert "is the probability that " in data.notes[0]
    named = [name for name in ("y_pred", "weight", "age", "who") if name in columns]
    notes = [f"columns not used: {name}" for name in named]
    if data.form == "probabilities":
        notes = ["--top-label judges the confidence in the predicted class instead", *notes]
        notes.append("the columns of classes are read as probabilities: rows sum to 1")
    assert data.notes[1:] == (*notes,)


def test_two_classes_by_their_top_label(tmp_path):
    risk, label = [0.9, 0.2, 0.6, 0.3], [1, 0, 0, 1]
    wide = {"label": label, "p0": [0.1, 0.8, 0.4, 0.7], "p1": risk}
    for columns in (wide, {"label": label, "score": risk}):
        data = read_data(table_file(tmp_path, **columns), top_label=True)
        assert data.scored.scores == pytest.approx([0.6, 0.7, 0.8, 0.9])
        assert (data.scored.hits.tolist(), data.kind) == ([0, 0, 1, 1], TOP_LABEL)


@pytest.mark.parametrize("form", ["probabilities", "logits"])
def test_arrays_of_two_classes_are_the_event_of_class_1(form):
    p = np.array([[0.9, 0.1], [0.3, 0.7], [0.6, 0.4]])
    values = p if form == "probabilities" else np.log(p) + 3
    data = prepared(**{form: values}, labels=[0, 1, 1])
    assert data.scored.scores == pytest.approx([0.1, 0.4, 0.7])
    assert (data.scored.hits.tolist(), data.kind) == ([0, 1, 1], EVENT)
    top = prepared(**{form: values}, labels=[0, 1, 1], top_label=True)
    assert top.scored.scores == pytest.approx([0.6, 0.7, 0.9])
    assert top.kind == TOP_LABEL


def test_the_logarithms_of_an_events_logits_are_exact():
    data = prepared(logits=[[0.0, 60.0], [60.0, 0.0]], labels=[1, 0])
    assert data.scored.log1m_scores == pytest.approx([0, -60], abs=1e-12)
    assert data.scored.log_scores == pytest.approx([-60, 0], abs=1e-12)


def test_classes_named_by_their_labels(tmp_path):
    columns = {"label": ["dog", "Cow", "cat", "dog"]}
    columns |= {f"p_{name}": np.eye(3)[k].take([1, 2, 0, 0]) * 0.7 + 0.1
                for k, name in enumerate(["cat", "dog", "cow"])}  # fmt: skip
    data = read_data(table_file(tmp_path, **columns))
    assert data.labels.tolist() == [1, 2, 0, 1]
    assert data.kind == TOP_LABEL


@pytest.mark.parametrize(
    ("named", "hits"),
    [
        (Columns("c", "OK"), HITS),
        (Columns("c", "grade"), HITS),  # in words
        (Columns("c", "passed"), HITS),
        (Columns("c", label="gold", prediction="answer"), [1, 0, 1, 1]),  # of texts
        (Columns("c", label="ok"), HITS),
        (Columns("c", label="gold", event="A"), [1, 0, 0, 1]),
        (Columns("c", label="number", event="2"), HITS),
        (Columns("c", label="decimal", event="2"), HITS),
    ],
)
def test_columns_that_the_user_names(tmp_path, named, hits):
    path = table_file(
        tmp_path, c=SCORES, ok=HITS, grade=["Correct", "wrong", "correct", "right"],
        passed=["PASS", "fail", "yes", "pass"], gold=[*"abca"], answer=[*"acca"],
        number=[2, 1, 2, 2], decimal=[2.0, 1.0, 2.0, 2.0],
    )  # fmt: skip
    found, found_hits, data = rows(path, columns=named)
    is_event = named.label and not named.prediction
    assert (found, found_hits, data.kind) == (SCORES, hits, EVENT if is_event else TOP_LABEL)
    assert data.notes[-1].startswith("columns not used: ")


def test_clusters(tmp_path):
    path = table_file(
        tmp_path, score=SCORES, hit=HITS, benchmark=list("xyxy"), question=[1, 1, 1, 2]
    )
    assert read_data(path).clusters is None
    data = read_data(path, columns=Columns(cluster=("question",)))
    assert data.clusters.tolist() == [0, 0, 0, 1]
    data = read_data(path, columns=Columns(cluster=("benchmark", "question")))
    assert data.clusters.tolist() == [0, 1, 0, 2]


@pytest.mark.parametrize(
    ("text", "hits"),
    [
        ('score,hit,who\n.9,1,"a,b"\n.8,0,"c\nd"\n', [1, 0]),  # a separator and a line in quotes
        ("score,hit,who\n.9,True,a\n.8,False,b\n", [1, 0]),
        ("score,hit\n.9,TRUE\n.8,0\n", [1, 0]),  # of two programs
        ("score,label,prediction\n.9,None,None\n.8,None,cat\n", [1, 0]),  # a class of this name
        ("score,hit\n.9,1\n\n.8,0\n\n", [1, 0]),
        ("score,hit,empty\n.9,1,\n.8,0,\n", [1, 0]),
        ("score,hit,id\n.9,1,99999999999999999999\n.8,0,1\n", [1, 0]),
    ],
)
def test_cells_of_text_tables(tmp_path, text, hits):
    (tmp_path / "m.csv").write_text(text)
    assert rows(tmp_path / "m.csv")[:2] == ([0.9, 0.8], hits)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_ids_longer_than_64_bits_are_kept_apart(tmp_path, suffix):
    ids = [10**25, 10**25 + 1, 10**25 + 1, 7]
    rows = pd.DataFrame({"score": SCORES, "hit": HITS, "id": pd.Series(ids, dtype=object)})
    records = [json.dumps(row) for row in rows.to_dict("records")]
    text = rows.to_csv(index=False) if suffix == ".csv" else "\n".join(records)
    (tmp_path / f"m{suffix}").write_text(text)
    data = read_data(tmp_path / f"m{suffix}", columns=Columns(cluster=("id",)))
    assert len({*data.clusters.tolist()}) == 3
    assert data.clusters[1] == data.clusters[2]


def test_truth_values_with_a_gap_keep_their_names(tmp_path):
    (tmp_path / "m.csv").write_text("score,hit,icu\n.9,1,True\n.8,0,False\n.7,0,\n")
    assert read_data(tmp_path / "m.csv", ["icu"]).by["icu"].tolist() == ["True", "False", None]


def test_columns_that_repeat_like_identifiers_give_a_hint(tmp_path):
    k = np.arange(60)
    ids = {
        "benchmark": k % 3,
        "question": k % 20,
        "age": 7 * k % 29,
        "name": [f"n{i}" for i in k % 12],
    }
    path = table_file(tmp_path, score=k / 60, hit=k % 2, row_id=k, **ids)
    question, name = read_data(path).hints
    assert question == (
        "column question has 20 values in 60 rows: if rows of one value depend on each other, name "
        "it by --cluster question; if they start again in each benchmark, --cluster benchmark too"
    )
    assert name.startswith("column name has 12 values in 60 rows")
    assert read_data(path, columns=Columns(cluster="question")).hints == ()


def test_clusters_and_subgroups_follow_the_fold(tmp_path):
    path = table_file(
        tmp_path,
        score=[*SCORES, 0.5, 0.1],
        hit=[*HITS, 0, 0],
        who=list("abcabd"),
        fold=["test", "validation", "test", "test", "test", "validation"],
    )
    data = read_data(path, ["who"], columns=Columns(cluster="who"))
    assert data.clusters.tolist() == [0, 2, 0, 1]
    assert data.by["who"].tolist() == ["a", "c", "a", "b"]


def doubts(tmp_path, n=400, **columns):
    generator = np.random.default_rng(0)
    p = generator.beta(1, 8, n)
    event = (generator.random(n) < p).astype(int)
    chosen = {"p": p, "q": 1 - p, "event": event, "correct": ((p > 0.5) == event).astype(int)}
    path = table_file(tmp_path, **{name: chosen[key] for name, key in columns.items()})
    return " ".join(read_data(path).warnings)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"label": "event", "score": "p"}, None),
        ({"label": "event", "score": "q"}, "fits the given events better than p"),
        ({"label": "event", "p0": "p", "p1": "q"}, "fits the given events better than p"),
        ({"score": "p", "hit": "correct"}, "as if score were the probability of class 1"),
        ({"score": "q", "hit": "event"}, "misses"),
    ],
)
def test_what_looks_reversed(tmp_path, columns, expected):
    found = doubts(tmp_path, **columns)
    if expected:
        assert expected in found
    else:
        assert "?" not in found


def test_an_overfitted_model_has_no_doubt_about_its_columns():
    """At 1/2 it is worse than the base rate, but events have higher risks; random risks do not."""
    generator = np.random.default_rng(0)
    x = generator.normal(-2.2, 1.2, 2000)
    event = (generator.random(2000) < expit(x)).astype(int)
    overfitted = expit(2.5 * x + 3.2 + generator.normal(0, 2.5, 2000))
    for risk, is_doubted in ((overfitted, False), (generator.random(2000), True)):
        data = prepared(probabilities=risk, labels=event)
        doubts = " ".join(warnings_of(data, description_of(data, 0.95)))
        assert ("below the base rate" in doubts) == is_doubted


test_bad_tables = refuses_texts(
    read_data,
    "m.csv",
    ("score;hit\n0.5;1\n0.6\n", "line 3: 1 cell, but 2 columns; separate cells by semicolons"),
    ("score\thit\n0.5\t1\n0.6\t1\t0\n", "line 3: 3 cells, but 2 columns; separate cells by tabs"),
    ("score;hit\n0,5;1\n0,x;1\n", "line 3: column score: '0,x' is not a number"),
    ('score,hit,who\n.5,1,"a,b"\n.6,1,a,b\n', "line 3: 4 cells, but 3 columns"),
    ('score,hit,who\n.5,1,a\n"a,b",1\n', "line 3: 2 cells, but 3 columns"),
    ('score,hit,who\n.5,1,a\n.6,,"b\nc"\n', "line 3: column hit is empty"),
    ("score,label\n0.5,1\n0.6,2\n", "(?s)which of 2.* --event 1: .* --event 2: "),
    ("score,label\n.5,1\n.6,cat\n", "(?s)which of 2.* --event 1: .* --event cat: "),
    ("score,label\n.4,ja\n.6,nein\n", "(?s)which of 2.* --event ja: .* --event nein: "),
    ("score,label\n0.4,1\n0.6,\n", "line 3: column label is empty or NaN; fill it, or .* --mis"),
    ("y_true,y_prob\n1,0.5\n0,1.5\n", "line 3: score 1.5 is not a probability"),
    ("Score,SCORE,hit\n.5,.5,1\n.5,.6,0\n", "(?s)--score Score: .*--score SCORE: "),
    ("p_a,p_b,label\n.5,.5,a\n.4,.6,c\n", "--missing c --top-label: p_a, p_b are"),
    ("p_a,p_b,label\n.5,.5,a\n.4,.6,\n", "line 3: column label is empty"),
    ("label,who\n1,a\n0,b\n", "found label, who; .* name them by --score"),
    (
        "patient,age,label\n1,70,0\n1,70,1\n2,65,0\n2,64,1\n",
        "label may be the outcome, but .*; found patient, age, label; .* --values percent",
    ),
    ("id,prob\n1,.5\n2,.7\n", "prob is a score, but no column is its outcome, .*; found id, prob"),
    ("hit,p\n1,.5\n0,.5\n", "this is one.*\n  --score p: p is the confidence"),
    ("a,b\n1,.5\n0,.5\n", "(?s)--score b --label a: .*--score b --hit a: "),
    ("a,b\n2,.5\n0,.5\n", "found a, b; .* name them by --score and --hit or --label"),
    ("label,p\n1,.5\n0,.5\n", "  --score p: p is the probability that label is 1; 2 rows"),
    ("label,p,age\n1,.5,50.5\n0,.5,60.5\n", "  --score p: p is the probability that label"),
    ('label,n_0,n_1\n0,"1,234",12\n1,4,"2,345"\n', "'1,234' may be a number of thousands"),
    (
        "logit_a,logit_b,logit_c,label\n.5,1,2,0\n.6,2,-1,1\n.5,x,1,1\n",
        "line 4: column logit_b: 'x'",
    ),
)
test_bad_lines = refuses_texts(
    read_data,
    "m.jsonl",
    ("", "the file is empty; write one JSON object a line"),
    ('{"score": 0.5, "hit": 1}\n{"score": 0.5,\n', "m.jsonl, line 2: no JSON"),
    ('{"score": 0.5, "hit": 1}\n\n[1, 2]\n', "line 3: no JSON object; write one object a line"),
    ('{"score": 0.5, "hit": 1}\n{"score": 0.5}\n', "line 2: column hit is empty or NaN"),
    ('{"score": 0.5, "hit": 1}\n{"score": "x", "hit": 1}\n', "line 2: column score: 'x' is no"),
    (
        '{"score": [1], "hit": 1}\n{"score": [0], "hit": 1}\n',
        r"line 1: column score holds lists or objects, such as '\[1\]': split",
    ),
    ("[1, 2]", "no list of JSON objects; write one object a line"),
    ('[{"score": 1}, ', "m.jsonl: no JSON"),
    (b'{"score": 0.5, "hit": "\xe9"}', "line 1: not in UTF-8 .*; save the file as UTF-8"),
)
test_bad_gzip = refuses_texts(
    read_data,
    "m.csv.gz",
    (gzip.compress(text().encode())[:-9], "no readable gzip file: .*; compress the table again"),
    (gzip.compress(b""), "the file is empty"),
    (gzip.compress(b"score,hit\n0.5,1\n2,1\n"), "line 3: score 2 is not a probability"),
)


def read_named(tmp_path, content="score,hit,who\n0.5,1,a\n0.6,0,b\n0.7,1,\n", by=(), **names):
    path = tmp_path / "m.csv"
    path.write_text(content)
    read_data(path, by, columns=Columns(**names))


@pytest.mark.parametrize("names", [("risk", "death"), ("score", "churn")])
def test_an_outcome_whose_name_says_nothing_is_a_question(tmp_path, names):
    more = {"age": [50, 60, 70, 80], "site": list("aabb")}
    path = table_file(tmp_path, **dict(zip(names, (SCORES, HITS), strict=True)), **more)
    with pytest.raises(InputError, match=f"--label {names[1]}: {names[0]} is the probability"):
        read_data(path)
    scores, hits, data = rows(path, columns=Columns(label=names[1]))
    assert (scores, hits, data.kind) == (SCORES, HITS, EVENT)


def test_rows_with_gaps_are_left_out_and_counted(tmp_path):
    """Of six rows the second has no score and the fourth no hit; the error names its own line."""
    content = "score,hit,who\n.9,1,a\n,0,b\n.8,0,c\n.6,,d\n.7,1,e\n.5,1,f\n"
    (tmp_path / "m.csv").write_text(content)
    drop = Columns(missing="drop", cluster="who")
    scores, hits, data = rows(tmp_path / "m.csv", columns=drop, by=("who",))
    assert (scores, hits) == ([0.9, 0.8, 0.7, 0.5], [1, 0, 1, 1])
    assert data.by["who"].tolist() == list("acef")
    note = "--missing drop: 2 of 6 rows left out: 1 without score, 1 without hit"
    assert note in data.notes
    (tmp_path / "m.csv").write_text(content.replace(".5,1", "1.5,1"))
    with pytest.raises(InputError, match=r"line 7: score 1\.5 is not a probability"):
        read_data(tmp_path / "m.csv", columns=drop)


test_bad_events = refuses_texts(
    lambda path: read_data(path, columns=Columns(event="churnd")),
    "m.csv",
    ("score,label\n.5,churned\n.6,stayed\n", "column label is never 'churnd': .* churned, stayed"),
    ("score,hit\n.5,1\n.6,0\n", "found score, hit; "),
)
test_what_is_out_of_range = refuses_texts(
    read_data,
    "m.csv",
    ("score,hit\n50,1\n60,0\n", "line 2: score 50 is not .*: --values percent divides"),
    (
        "score,hit\n.5,1\n.6,0\n70,0\n",
        "line 4: score 70 .*: some scores are fractions and some perc",
    ),
    ("score,hit\n-1.5,1\n2.5,0\n", "line 2: score -1.5 .*: --values logits takes"),
    ("score,hit\n.5,1\n.6,0\n-2,0\n3,1\n", "line 4: score -2 .* 2 of 4 .*logits in some rows"),
    ("score,hit\n-.1,1\n-2.5,0\n", "line 2: score -0.1 .* logarithms of probabilities"),
    ("score,hit\n.1,1\ninf,0\n", "line 3: score inf .* not a finite number"),
    ("score,hit\n.1,1\n1.01,0\n", "line 3: score 1.01 .* 1 of 2 .* cut them off at 0 and 1"),
    ("score,label\n1,.7\n0,.3\n", "column score holds 0 and 1 alone .* --score label --label"),
    ("score,hit\n.5,1\n.6,.5\n", "line 3: hit 0.5 .* leave out what is neither, such as a tie"),
    (b"PK\x03\x04more", "an Excel workbook or a ZIP file; save the sheet as CSV"),
)
test_bad_names_of_columns = refuses(
    read_named,
    ({"cluster": ("who",)}, "line 4: column who is empty: every row needs the name of its cluster"),
    ({"cluster": ("hwo",)}, "there is no column 'hwo'. Did you mean who?"),
    ({"score": "scoer"}, "there is no column 'scoer'. Did you mean score?"),
    ({"hit": "who"}, "line 2: column who is 'a': write 1 where the prediction was correct"),
    ({"hit": "score"}, "found score, hit, who"),
    ({"score": "score", "hit": "hit", "label": "hit"}, "--hit stands for --label"),
    ({"score": "score", "label": "who"}, "column who is empty"),
    ({"by": ["nobody"]}, "there is no column 'nobody'"),
)


def test_columns_are_named_in_tables_alone(tmp_path):
    np.savez(tmp_path / "m.npz", scores=SCORES, hits=HITS)
    with pytest.raises(InputError, match=r"naming columns needs a table .*, not "):
        read_data(tmp_path / "m.npz", columns=Columns(cluster=("who",)))


def test_named_rows_of_arrays(tmp_path):
    np.savez(tmp_path / "m.npz", scores=SCORES, hits=[1, -1, 1, 0], site=[*"abbb"], short=[1])
    columns = Columns(rows="site=b", missing="-1")
    assert rows(tmp_path / "m.npz", columns=columns)[:2] == ([0.6, 0.7], [1, 0])
    with pytest.raises(InputError, match="array short has not a value per row"):
        read_data(tmp_path / "m.npz", columns=Columns(rows="short=1"))


@pytest.mark.parametrize("names", [("scores", "labels"), ("y_prob", "y_true")])
def test_npz_of_an_event(tmp_path, names):
    np.savez(tmp_path / "m.npz", **dict(zip(names, (SCORES, HITS), strict=True)))
    scores, hits, data = rows(tmp_path / "m.npz")
    assert (scores, hits, data.kind) == (SCORES, HITS, EVENT)
    np.savez(tmp_path / "m.npz", **dict(zip(names, (SCORES, [0, 1, 2, 1]), strict=True)))
    with pytest.raises(InputError, match=r"row 2 \(counted from 0\): label 2 is neither 0 nor 1"):
        read_data(tmp_path / "m.npz")


N = 20
LOGIT = [0.5 + k / 7 for k in range(N)]
test_columns_that_are_no_class = refuses(
    lambda tmp_path, **columns: read_data(table_file(tmp_path, label=[0, 1] * (N // 2), **columns)),
    ({"a": LOGIT, "b": LOGIT[::-1], "age": [*range(30, 50)]}, "found label, a, b, age"),
    ({"row": [*range(N)], "flag": [0, 1] * 10}, "found label, row, flag"),
    ({"c_0": [3.2, 0.25] * 10, "c_1": [-1.5, 0.75] * 10}, "line 3: this row has probabilities"),
)
test_formats_that_are_not_read = refuses(
    lambda name, tmp_path: [(tmp_path / name).touch(), read_data(tmp_path / name)],
    ("a.pkl", "suffix '.pkl' is not read; a pickle can run code; save the arrays: numpy.savez"),
    ("a.npy", "suffix '.npy' is not read; save scores and hits together: numpy.savez"),
    ("a.pt", r"suffix '.pt' is not read; save it with NumPy: numpy.savez\("),
    ("a.xlsx", "suffix '.xlsx' is not read; save the sheet as CSV"),
)


def test_classes_keep_the_names_of_their_columns(tmp_path):
    generator = np.random.default_rng(0)
    p = generator.dirichlet([1, 1, 1], 60)
    columns = {f"p_{name}": p[:, k] for k, name in enumerate(("cat", "dog", "cow"))}
    label = [("cat", "dog", "cow")[k] for k in p.argmax(axis=1)]
    pd.DataFrame({**columns, "label": label}).to_csv(tmp_path / "m.csv", index=False)
    data = read_data(tmp_path / "m.csv")
    audit = audit_data(data, Options(), class_wise=True)
    assert list(audit.classes.index) == ["p_cat", "p_dog", "p_cow"]
