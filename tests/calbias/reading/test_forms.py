"""What the columns of classes hold, which rows are judged, and what counts as an outcome."""

import numpy as np
import pandas as pd
import pytest
from refusals import refuses

import calbias
from calbias import InputError
from calbias.auditing.inputs import read_data
from calbias.reading.columns import Columns

N = 300


def model(n_classes, n=N, seed=0):
    """Return probabilities (n, K) and labels drawn from them."""
    generator = np.random.default_rng(seed)
    p = generator.dirichlet(np.full(n_classes, 0.7), n)
    labels = (p.cumsum(axis=1) > generator.random((n, 1))).argmax(axis=1)
    return p, labels


def saved(path, values, labels, name="probabilities"):
    columns = {f"c_{k}": values[:, k] for k in range(values.shape[1])}
    if path.suffix == ".npz":
        np.savez(path, **{name: values}, labels=labels)
    else:
        pd.DataFrame(columns | {"label": labels}).to_csv(path, index=False)
    return path


def whole_percent(p):
    return np.round(100 * p)


def with_margin(p):
    return np.round(100 * p * np.linspace(1.03, 1.07, len(p))[:, None], 1)


def votes(p):
    return np.round(p * np.random.default_rng(1).integers(5, 60, len(p))[:, None]) + (p > 0.4)


FORMS = {
    "probabilities": [lambda p: p, lambda p: np.round(p, 2), lambda p: p * 1.05],
    "percentages": [whole_percent, with_margin, lambda p: np.round(100 * p, 1)],
    "counts": [lambda p: np.round(500 * p), lambda p: np.round(7 * p) + 1, votes],
}


@pytest.mark.parametrize("n_classes", [3, 4, 10])
@pytest.mark.parametrize(
    ("form", "number"), [(form, k) for form, each in FORMS.items() for k in range(len(each))]
)
def test_shares_of_any_form_are_divided_by_their_sum(tmp_path, form, number, n_classes):
    p, labels = model(n_classes)
    values = FORMS[form][number](p)
    labels[values.sum(axis=1) == 0] = 0
    values[values.sum(axis=1) == 0] = 1
    path, option = saved(tmp_path / "m.csv", values, labels), None
    if form == "counts":  # or logits
        with pytest.raises(InputError, match=r"(?s)which of 2\).*--values counts.*--values logits"):
            read_data(path)
        option = form
    data = read_data(path, columns=Columns(values=option))
    expected = np.sort((values / values.sum(axis=1, keepdims=True)).max(axis=1))
    assert np.repeat(data.scored.scores, data.scored.rows.astype(int)) == pytest.approx(
        expected, abs=1e-6
    )
    assert any(f"are read as {form}: rows sum to" in note for note in data.notes)


def test_decimal_odds_are_inverted(tmp_path):
    values = np.array([[1.8, 3.6, 4.5], [2.5, 3.2, 2.8], [1.3, 5.5, 9.0], [3.1, 3.3, 2.3]] * 9)
    path = saved(tmp_path / "m.csv", values, [0, 1, 2, 0] * 9)
    with pytest.raises(InputError, match=r"(?s)which of 2\).*--values odds.*--values logits"):
        read_data(path)
    data = read_data(path, columns=Columns(values="odds"))
    inverse = 1 / values
    expected = (inverse / inverse.sum(axis=1, keepdims=True)).max(axis=1)
    assert data.scored.mean(data.scored.scores) == pytest.approx(expected.mean(), abs=1e-7)


def logits_of_a_network(seed=0, shift=0.0):
    generator = np.random.default_rng(seed)
    return generator.normal(size=(N, 5)) * 3 + shift + generator.normal(size=(N, 1)) * 2


@pytest.mark.parametrize("shift", [0, 8, 20])
def test_logits_stay_logits_also_where_none_is_negative(tmp_path, shift):
    """Those around 20 sum to about 100, as of an image against five texts."""
    z = np.maximum(logits_of_a_network(shift=shift), 0.01)
    z = z if shift else logits_of_a_network()
    data = read_data(saved(tmp_path / "m.csv", z, np.arange(N) % 5))
    e = np.exp(z.astype(np.float32).astype(float))
    expected = (e / e.sum(axis=1, keepdims=True)).max(axis=1).mean()
    assert data.scored.mean(data.scored.scores) == pytest.approx(expected, abs=1e-6)
    assert "the columns of classes are read as logits" in data.notes


def test_the_option_says_what_values_are(tmp_path):
    p, labels = model(3)
    whole = saved(tmp_path / "m.csv", whole_percent(p), labels)
    e = np.exp(whole_percent(p) - whole_percent(p).max(axis=1, keepdims=True))
    data = read_data(whole, columns=Columns(values="logits"))
    expected = (e / e.sum(axis=1, keepdims=True)).max(axis=1).mean()
    assert data.scored.mean(data.scored.scores) == pytest.approx(expected, abs=1e-6)
    np.savez(tmp_path / "m.npz", logits=1.3 * p, labels=labels)
    with pytest.raises(InputError, match=r"rows sum to 1.3: --values counts divides"):
        read_data(tmp_path / "m.npz")
    data = read_data(tmp_path / "m.npz", columns=Columns(values="counts"))
    assert data.scored.mean(data.scored.scores) == pytest.approx(p.max(axis=1).mean(), abs=1e-6)


@pytest.mark.parametrize(
    ("cells", "values", "expected"),
    [
        (["80", "35"], "percent", [0.8, 0.35]),
        (["80 %", "35 %"], None, [0.8, 0.35]),
        (["0,8%", "0,35%"], "percent", [0.008, 0.0035]),
        (["0", "-1.5"], "logits", [0.5, 1 / (1 + np.exp(1.5))]),
        (["4", "1.25"], "odds", [0.25, 0.8]),
    ],
)
def test_scores_of_other_forms(tmp_path, cells, values, expected):
    (tmp_path / "m.csv").write_text("score;hit\n" + "".join(f"{c};1\n" for c in cells))
    data = read_data(tmp_path / "m.csv", columns=Columns(values=values))
    assert data.rows.score == pytest.approx(expected)


test_values_of_no_form = refuses(
    lambda text, values, tmp_path: [
        (tmp_path / "m.csv").write_text(text),
        read_data(tmp_path / "m.csv", columns=Columns(values=values)),
    ],
    ("p_0,p_1,label\n" + "63,37,0\n10,90,1\n" * 6 + "63,370,0\n", "percent",
     "sum to 433, not to about 100"),
    ("p_0,p_1,label\n" + "2,3,0\n0,0,1\n4,3,1\n" * 6, "counts",
     "counts cannot be 0; say by --values"),
    ("p_0,p_1,label\n" + ".5,.5,0\n.4,.6,1\n" * 6 + ".4,.9,1\n", None,
     "sum to 1.3, not 1; normalise"),
    ("score,hit\n80 %,1\n60,0\n", None, "differ in the percent sign"),
    ("score,hit\n80,1\n0.5,0\n", "percent", "a fraction beside whole percentages"),
    ("score,hit\n7,1\n0,0\n10,1\n", None, "0 to 10 is a scale: give the probability"),
    ("score,hit\n.8,1\n80,0\n", None, "some scores are fractions and some percentages"),
)  # fmt: skip


def test_classes_are_the_columns_that_the_labels_name(tmp_path):
    """Not the calibrated ones, an age, or a fold number beside them."""
    p, q = model(2)[0], model(2, seed=1)[0]
    label = np.where(np.arange(N) % 3 == 0, "no", "yes")
    table = {"predict": label, "no": p[:, 0], "yes": p[:, 1], "cal_no": q[:, 0], "cal_yes": q[:, 1]}
    table |= {"age": np.arange(N) % 60, "fold": np.arange(N) % 5, "label": label}
    pd.DataFrame(table).to_csv(tmp_path / "h2o.csv", index=False)
    with pytest.raises(InputError, match=r"(?s)--classes no yes: .*--classes cal_no cal_yes: "):
        read_data(tmp_path / "h2o.csv")
    data = read_data(tmp_path / "h2o.csv", columns=Columns(classes=("no", "yes")))
    assert data.scored.mean(data.scored.scores) == pytest.approx(p[:, 1].mean(), abs=1e-6)
    names = {"no": "Forest (no)", "yes": "Forest (yes)", "label": "churn"}
    renamed = pd.DataFrame(table).rename(columns=names)
    renamed.to_csv(tmp_path / "orange.csv", index=False)
    with pytest.raises(InputError, match=r"(?s)--classes .*cal_no.*--classes .*Forest \(no\)"):
        read_data(tmp_path / "orange.csv", columns=Columns(label="churn"))
    renamed.drop(columns=["cal_no", "cal_yes"]).to_csv(tmp_path / "orange.csv", index=False)
    data = read_data(tmp_path / "orange.csv", columns=Columns(label="churn"))
    assert data.scored.mean(data.scored.scores) == pytest.approx(p[:, 1].mean(), abs=1e-6)


def test_lines_of_types_and_roles_are_skipped(tmp_path):
    lines = ["age\tTree (no)\tTree (yes)\tchurn", "continuous\tcontinuous\tcontinuous\tno yes"]
    lines += ["\tmeta\tmeta\tclass", *["20\t0.75\t0.25\tno", "21\t0.125\t0.875\tyes"] * 6]
    (tmp_path / "m.tab").write_text("\n".join(lines) + "\n")
    data = read_data(tmp_path / "m.tab", columns=Columns(label="churn"))
    assert data.rows.score == pytest.approx([0.25, 0.875] * 6)
    assert data.rows.hit.tolist() == [0, 1] * 6
    (tmp_path / "m.tab").write_text("\n".join([*lines, "22\t0.5\t0.9\tyes"]) + "\n")
    with pytest.raises(InputError, match=r"m\.tab, line 16: probabilities sum to 1\.4"):
        read_data(tmp_path / "m.tab", columns=Columns(label="churn"))


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]])
@pytest.mark.parametrize("form", ["csv", "npz", "array"])
def test_the_numbering_of_tied_classes_changes_nothing(tmp_path, order, form):
    generator = np.random.default_rng(0)
    z = np.round(generator.normal(size=(400, 4)) * 2) / 2  # a quarter of the rows has ties
    labels = generator.integers(0, 4, 400)
    is_top = z == z.max(axis=1, keepdims=True)
    expected = (is_top[np.arange(400), labels] / is_top.sum(axis=1)).sum()
    renumbered, of_class = z[:, order], np.argsort(order)[labels]
    if form == "array":
        audit = calbias.audit(logits=renumbered, labels=of_class)
        hits, notes = audit.description["accuracy"] * 400, audit.notes
    else:
        path = saved(tmp_path / f"m.{form}", renumbered, of_class, "logits")
        data = read_data(path, columns=Columns(values="logits"))
        hits, notes = data.scored.hits.sum(), data.notes
    assert abs(hits - expected) <= 0.5
    assert any("classes tie for the largest value in" in note for note in notes)


OUTCOMES = "score,label\n.9,1\n.2,0\n.4,{}\n.7,1\n.3,0\n"


@pytest.mark.parametrize("code", ["9", "-1", "-100", "255", "lost", "None", "?"])
def test_codes_for_a_missing_outcome_are_left_out_and_counted(tmp_path, code):
    path = tmp_path / "m.csv"
    path.write_text(OUTCOMES.format(code))
    with pytest.raises(InputError, match="--missing"):
        read_data(path)
    data = read_data(path, columns=Columns(missing=code))
    assert data.rows.score.tolist() == [0.9, 0.2, 0.7, 0.3]
    assert any("1 of 5 rows left out" in note for note in data.notes)
    assert data.place.named(2).endswith("line 5")
    columns = Columns(event="1")
    if code in ("None", "?"):
        with pytest.raises(InputError, match="--missing drop"):
            read_data(path, columns=columns)
        columns = Columns(event="1", missing="drop")
        assert read_data(path, columns=columns).rows.hit.tolist() == [1, 0, 1, 0]
    else:
        data = read_data(path, columns=columns)
        assert data.rows.hit.tolist() == [1, 0, 0, 1, 0]
        assert any(n.startswith("no event happened in rows of ") and code in n for n in data.notes)


@pytest.mark.parametrize("form", ["csv", "npz"])
@pytest.mark.parametrize("code", [-100, 255])
def test_labels_to_ignore_are_left_out(tmp_path, form, code):
    p, labels = model(4, 50)
    labels[::10] = code
    path = saved(tmp_path / f"m.{form}", p, labels)
    with pytest.raises(InputError, match=f"--missing {code}"):
        read_data(path)
    data = read_data(path, columns=Columns(missing=str(code)))
    assert data.scored.n == 45
    hits = (p.argmax(axis=1) == labels)[labels != code]
    assert data.scored.hits.sum() == hits.sum()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("form", ["csv", "npz"])
def test_one_class_alone_is_a_fact(tmp_path, form, n_classes):
    p = model(n_classes, 30)[0]
    path = saved(tmp_path / f"m.{form}", p, np.zeros(30, int))
    data = read_data(path, top_label=True)
    assert data.scored.hits.sum() == (p.argmax(axis=1) == 0).sum()


def test_certain_probabilities_are_scores_of_0_and_1(tmp_path):
    p = np.eye(3)[np.arange(40) % 3]
    np.savez(tmp_path / "m.npz", probabilities=p, labels=np.where(np.arange(40) < 34, 0, 1))
    assert (read_data(tmp_path / "m.npz").scored.scores == 1).all()
    half = np.concatenate([p[:, :2], np.full((40, 2), 0.5)])[::2]
    half[half.sum(axis=1) == 0, 0] = 1
    saved(tmp_path / "m.csv", half, np.arange(40) % 2)
    assert {*read_data(tmp_path / "m.csv").scored.scores} == {0, 0.5, 1}


FOLDS = {
    "words": (["Train", "VALID", "test"], 100, "100 rows of training are left out"),
    "numbers": ([0, 1, 2], 300, "no words for folds: all rows are judged; --rows"),
    "other": (["oof", "train", "x"], 300, "no words for folds"),
    "no test": (["train", "VALIDATE", "dev"], 200, "rows of fold validation are judged"),
    "training": (["train", "training", "Train"], 300, "no words for folds"),
}


@pytest.mark.parametrize("name", ["fold", "split", "Set"])
@pytest.mark.parametrize("kind", FOLDS)
def test_a_fold_needs_words_for_folds(tmp_path, name, kind):
    words, n, note = FOLDS[kind]
    table = {"score": np.linspace(0.1, 0.9, N), "hit": np.arange(N) % 2, name: words * (N // 3)}
    pd.DataFrame(table).to_csv(tmp_path / "m.csv", index=False)
    data = read_data(tmp_path / "m.csv")
    assert data.scored.n == n
    assert any(note in text for text in data.notes)
    chosen = read_data(tmp_path / "m.csv", columns=Columns(rows=f"{name}={words[1]}"))
    assert chosen.scored.n == 100
    assert chosen.rows.score.tolist() == pytest.approx(table["score"][1::3])


def test_several_files_are_one_sample(tmp_path):
    paths = [tmp_path / "a.csv", tmp_path / "b.jsonl"]
    paths[0].write_text("score,hit\n0.2,0\n0.1,1\n")
    paths[1].write_text('{"score": 0.7, "hit": 0}\n{"score": 0.35, "hit": 1}\n')
    data = read_data(paths, ["file"])
    assert data.rows.score.tolist() == [0.2, 0.1, 0.7, 0.35]
    assert data.by["file"].tolist() == [str(path) for path in paths for _ in range(2)]
    paths[1].write_text('{"score": 0.5, "hit": 1}\n{"score": 7, "hit": 1}\n')
    with pytest.raises(InputError, match=r"b\.jsonl, line 2: score 7"):
        read_data(paths)
    paths[1].write_text('{"score": 0.5, "hit": 1, "x": 1}\n')
    with pytest.raises(InputError, match=r"b\.jsonl: the columns differ from .*a\.csv: x is in"):
        read_data(paths)


def test_python_names_the_argument_that_the_user_gave():
    with pytest.raises(InputError, match=r"labels must be numbers.*labels == 'Yes'"):
        calbias.audit(probabilities=[0.2, 0.7], labels=["Yes", "No"])
    with pytest.raises(InputError, match=r"label -1 is neither 0 nor 1; .* as by labels == 1"):
        calbias.audit(probabilities=[0.2, 0.7], labels=[1, -1])
    with pytest.raises(InputError, match=r"63.0 is not a probability.*divide percentages by 100"):
        calbias.audit(probabilities=[[63, 37.0], [20, 80]], labels=[0, 1])
