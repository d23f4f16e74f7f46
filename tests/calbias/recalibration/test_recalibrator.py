"""Recalibration for users: maps against scikit-learn, JSON from outside, pipelines, the command."""

import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from refusals import refuses
from scipy.optimize import minimize
from scipy.special import expit, logit, softmax
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import calbias
from calbias.auditing.inputs import prepared
from calbias.auditing.recalibrations import recalibration_table
from calbias.command import main
from calbias.errors import InputError
from calbias.recalibration.beta import fit_beta
from calbias.recalibration.methods import MOST_KNOTS, OF_LOGITS, OF_SCORES
from calbias.recalibration.spline import fit_binary


def sample(seed=0, n=2000):
    rng = np.random.default_rng(seed)
    scores = rng.beta(2, 4, n)
    return scores, (rng.random(n) < expit(0.3 + 0.6 * logit(scores))).astype(int)


def matrix(seed=0, n=1500):
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 2, (n, 3)).astype(np.float32).astype(float)
    p = softmax(logits / 1.8 + [0, 0, 0.7], axis=1)
    return logits, (rng.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1)


def linear(variables, hits, **options):
    options |= {"C": 1e12, "tol": 1e-12, "max_iter": 1000, "solver": "newton-cholesky"}
    return LogisticRegression(**options).fit(variables, hits).predict_proba(variables)[:, 1]


def through_zero(variables, hits):
    return linear(variables, hits, fit_intercept=False)


def towards_platt(scores, hits):
    """Isotonic regression; each step's share with one row more, of Platt's line; isotonic again."""
    shares = IsotonicRegression().fit(scores, hits).predict(scores)
    line, more, size = (
        linear(logit(scores)[:, None], hits),
        np.empty(len(hits)),
        np.empty(len(hits)),
    )
    for share in np.unique(shares):
        inside = shares == share
        more[inside] = (hits[inside].sum() + line[inside].mean()) / (inside.sum() + 1)
        size[inside] = (inside.sum() + 1) / inside.sum()
    return IsotonicRegression().fit(scores, more, size).predict(scores)


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("platt", lambda s, y: linear(logit(s)[:, None], y)),
        ("beta", lambda s, y: linear(np.stack([np.log(s), np.log1p(-s)], axis=1), y)),
        ("slope", lambda s, y: through_zero(logit(s)[:, None], y)),
        ("isotonic", lambda s, y: towards_platt(s, y)),
    ],
)
def test_maps_of_scores_are_those_of_scikit_learn(method, expected):
    scores, hits = sample()
    found = calbias.Recalibrator(method).fit(pd.Series(scores), pd.Series(hits)).predict(scores)
    assert found == pytest.approx(expected(scores, hits), abs=1e-9)


def test_an_isotonic_map_never_says_0_or_1():
    """Its lowest and highest steps are of misses, or of hits, alone."""
    scores = np.linspace(0, 1, 400)
    found = (
        calbias.Recalibrator("isotonic").fit(scores, scores > 0.4).predict(np.r_[scores, 2**-60])
    )
    assert 0 < found.min() <= found.max() < 1
    assert (np.diff(found[:-1]) >= 0).all()


@pytest.mark.parametrize("is_hit", [True, False])
def test_a_slope_is_finite_where_a_threshold_separates_the_rows(is_hit):
    scores = np.linspace(0.1, 0.9, 60)
    found = calbias.Recalibrator("slope").fit(scores, (scores > 0.5) == is_hit).predict(scores)
    assert 0 < found.min() < found.max() < 1
    assert (found[0] < found[-1]) == is_hit


@pytest.mark.parametrize(("a", "b"), [(-1, 1), (1, -1), (-0.3, 1.5), (1.5, -0.3), (-1, -1)])
def test_beta_is_the_constrained_optimum(a, b):
    """Hits follow a falling power of s, or of 1 - s: the free optimum has a negative parameter."""
    rng = np.random.default_rng(1)
    scores = rng.beta(1, 1, 3000)
    x = np.stack([np.log(scores), -np.log1p(-scores)])
    hits = (rng.random(3000) < expit(np.array([a, b]) @ x)).astype(float)
    found = fit_beta(scores, hits, np.ones(3000))

    def loss(v):
        y = v[0] + v[1:] @ x
        return float(np.sum(np.logaddexp(0, y) - hits * y))

    best = minimize(loss, np.ones(3), bounds=[(None, None), (0, None), (0, None)])
    assert min(found.a, found.b) == 0
    assert loss(np.array([found.intercept, found.a, found.b])) <= best.fun + 1e-6


def test_beta_of_separated_rows_is_finite():
    scores = np.linspace(0.1, 0.9, 60)
    found = calbias.Recalibrator("beta").fit(scores, scores > 0.5).predict(scores)
    assert 0 < found.min() < found.max() < 1


def test_the_knots_of_a_spline_are_thinned_without_harm():
    scores, hits = sample(n=20_000)
    recalibrator = calbias.Recalibrator("spline").fit(scores, hits)
    assert len(json.loads(recalibrator.to_json())["parameters"]["scores"]) <= MOST_KNOTS
    whole = fit_binary(scores, hits).predict(scores)
    assert recalibrator.predict(scores) == pytest.approx(whole, abs=2e-3)


@pytest.mark.parametrize("method", [*OF_SCORES, *OF_LOGITS])
def test_a_map_of_json_is_the_map(method):
    for rows in [sample(), matrix()] if method in OF_SCORES else [matrix()]:
        recalibrator = calbias.Recalibrator(method).fit(*rows)
        again = calbias.Recalibrator.from_json(recalibrator.to_json())
        assert (again.predict(rows[0]) == recalibrator.predict(rows[0])).all()
        assert again.gain_interval_ == recalibrator.gain_interval_
        assert again.to_json() == recalibrator.to_json()


def test_temperature_and_vector_give_probabilities_that_fit_better():
    logits, labels = matrix()
    rows = np.arange(len(labels))
    losses = []
    for method in ("temperature", "vector"):
        p = calbias.Recalibrator(method).fit(logits, labels).predict(logits)
        assert p.sum(axis=1) == pytest.approx(1)
        losses.append(-np.log(p[rows, labels]).mean())
    assert losses[1] < losses[0] - 0.01 < -np.log(softmax(logits, axis=1)[rows, labels]).mean()


def test_the_gain_is_that_of_rows_of_another_fold():
    """Fitted on one fold, judged on the other, with the Brier score and its error by hand."""
    for method, (values, labels), (of_fit, labels_of_fit) in (
        ("beta", sample(0), sample(1)),
        ("spline", sample(0), sample(1)),
        ("vector", matrix(0), matrix(1)),
    ):
        fitted = calbias.Recalibrator(method).fit(of_fit, labels_of_fit)
        after = fitted.predict(values)
        if method == "vector":
            one_hot = np.eye(3)[labels]
            before = softmax(values, axis=1)
            falls = ((before - one_hot) ** 2 - (after - one_hot) ** 2).sum(axis=1)
            datas = [prepared(logits=x, labels=y) for x, y in (matrix(0), matrix(1))]
        else:
            falls = (values - labels) ** 2 - (after - labels) ** 2
            datas = [prepared(x, y) for x, y in (sample(0), sample(1))]
        row = recalibration_table(replace(datas[0], validation=datas[1]), 0, [method]).loc[method]
        assert row["gain"] == pytest.approx(falls.mean(), rel=1e-9)
        assert row["gain_se"] == pytest.approx(falls.std(ddof=1) / np.sqrt(falls.size), rel=1e-6)


def test_the_advised_method_is_that_of_the_audit():
    scores, hits = sample()
    table = calbias.audit(scores, hits).recalibration
    recalibrator = calbias.Recalibrator().fit(scores, hits)
    row = table.loc[recalibrator.method_]
    assert recalibrator.method_ == table[table["helps"]].index[0]
    low, high = recalibrator.gain_interval_
    assert (low + high) / 2 == pytest.approx(recalibrator.gain_) == pytest.approx(row["gain"])
    assert high - low == pytest.approx(2 * 1.96 * row["gain_se"], rel=1e-4)


def test_calibrated_and_reversed_scores_are_left_as_they_are():
    rng = np.random.default_rng(2)
    scores = rng.random(1000)
    for rate in (scores, 1 - scores):
        recalibrator = calbias.Recalibrator().fit(scores, rng.random(1000) < rate)
        assert recalibrator.method_ == "none"
        again = calbias.Recalibrator.from_json(recalibrator.to_json())
        assert (again.predict(scores) == scores).all()


def test_it_is_an_estimator_of_scikit_learn():
    scores, hits = sample()
    column = scores[:, None]
    copy = clone(calbias.Recalibrator("beta", seed=3))
    defaults = calbias.Recalibrator().get_params()
    assert copy.get_params() == defaults | {"method": "beta", "seed": 3}
    pipeline = make_pipeline(FunctionTransformer(), copy).set_params(recalibrator__method="platt")
    expected = calbias.Recalibrator("platt").fit(scores, hits).predict(scores)
    assert (pipeline.fit(column, hits).predict(column) == expected).all()
    methods = {"method": ["shift", "platt"]}
    search = GridSearchCV(calbias.Recalibrator(), methods, scoring="neg_mean_squared_error")
    assert search.fit(column, hits).best_params_ == {"method": "platt"}
    with pytest.raises(InputError, match=r"unknown parameter 'metod'\. Did you mean method"):
        copy.set_params(metod="platt")


@pytest.mark.parametrize("scoring", ["neg_brier_score", "neg_log_loss", None])
def test_a_grid_search_has_scikit_learns_own_scorers(scoring):
    """Shift and Platt differ: a fault of the slope. The scores are those by hand, fold by fold."""
    scores, hits = sample()
    methods = {"method": ["shift", "platt"]}
    search = GridSearchCV(calbias.Recalibrator(), methods, scoring=scoring, cv=3)
    assert search.fit(scores, hits).best_params_ == {"method": "platt"}
    found = search.cv_results_["mean_test_score"]
    for k, method in enumerate(methods["method"]):
        losses = []
        for fit, test in StratifiedKFold(3).split(scores, hits):
            p = calbias.Recalibrator(method).fit(scores[fit], hits[fit]).predict(scores[test])
            y = hits[test]
            brier, log_loss = (p - y) ** 2, -np.log(np.where(y, p, 1 - p))
            losses.append(np.mean(log_loss if scoring == "neg_log_loss" else brier))
        assert found[k] == pytest.approx(-np.mean(losses))
    proba = cross_val_predict(calbias.Recalibrator("platt"), scores, hits, method="predict_proba")
    assert proba.shape == (scores.size, 2)
    assert proba.sum(axis=1) == pytest.approx(1)


def test_probabilities_of_all_classes_where_they_have_a_meaning():
    logits, labels = matrix()
    vector = calbias.Recalibrator("vector").fit(logits, labels)
    assert (vector.predict_proba(logits) == vector.predict(logits)).all()
    assert vector.classes_.tolist() == [0, 1, 2]
    hits = np.arange(3) == labels[:, None]
    loss = np.mean(np.sum((vector.predict(logits) - hits) ** 2, axis=1))
    assert vector.score(logits, labels) == pytest.approx(-loss)
    top = calbias.Recalibrator("platt").fit(logits, labels)
    with pytest.raises(InputError, match="confidence of the predicted class alone"):
        top.predict_proba(logits)
    two = calbias.Recalibrator("platt").fit(logits[:, :2], labels % 2)
    assert (two.predict_proba(logits[:, :2])[:, 1] == two.predict(logits[:, :2])).all()


STATES = {
    method: json.loads(calbias.Recalibrator(method).fit(*rows).to_json())
    for method, rows in (("platt", sample()), ("isotonic", sample()), ("vector", matrix()))
}


def read_changed(method="platt", changes=(), parameters=(), text=None):
    state = STATES[method] | dict(changes)
    if parameters:
        state["parameters"] = state["parameters"] | dict(parameters)
    return calbias.Recalibrator.from_json(json.dumps(state) if text is None else text)


test_maps_that_no_fit_has_are_refused = refuses(
    read_changed,
    ({"text": "score,hit\n1,1\n"}, "no readable recalibration map"),
    ({"text": "[" * 100_000}, "no readable recalibration map"),
    ({"text": "[1]"}, "no recalibration map"),
    ({"text": '{"calbias_monitor": 1}'}, "no recalibration map"),
    ({"changes": {"calbias_map": 2}}, "has version 2"),
    ({"changes": {"code": "import os"}}, "the keys of a recalibration map"),
    ({"changes": {"method": "pickle"}}, "unknown method 'pickle'"),
    ({"changes": {"method": ["platt"]}}, "method is not a text"),
    ({"changes": {"method": "beta"}}, "the parameters of beta are"),
    ({"changes": {"parameters": None}}, "the parameters of platt are"),
    ({"parameters": {"slope": float("nan")}}, "NaN, which is not a finite"),
    ({"parameters": {"slope": 10**400}}, "slope holds what is not a finite"),
    ({"parameters": {"slope": "1"}}, "slope holds what is not a finite"),
    ({"parameters": {"slope": True}}, "slope holds what is not a finite"),
    ({"parameters": {"least": 0.9, "greatest": 0.1}}, "not those of a map"),
    ({"method": "isotonic", "parameters": {"knots": [0.5]}}, "not those of a map"),
    ({"method": "isotonic", "parameters": {"knots": [], "values": []}}, "knots is not a list"),
    ({"method": "isotonic", "parameters": {"knots": [0.5, 0.4], "values": [0.1] * 2}}, "not th"),
    ({"method": "isotonic", "parameters": {"knots": [0.5, 0.6], "values": [0.1, 2]}}, "are not th"),
    ({"method": "vector", "parameters": {"weights": [1.0, 2.0]}}, "numbers are not those"),
    ({"method": "vector", "changes": {"n_classes": 4}}, "damaged: 3 weights for 4 classes"),
    ({"method": "vector", "changes": {"n_classes": None}}, "damaged: vector without classes"),
    ({"changes": {"n_classes": 2, "classes": ["a", "a"]}}, "damaged: classes"),
    ({"changes": {"values": "odds"}}, "damaged: values"),
    ({"changes": {"n": 1.5}}, "damaged: n;"),
    ({"changes": {"gain_low": 1.0}}, "damaged: gain"),
    ({"changes": {"gain": 9.0, "gain_low": 8.0, "gain_high": 9.5}}, "damaged: gain"),
    ({"changes": {"gain_high": 10**400}}, "damaged: gain"),
    ({"changes": {"generator": "another"}}, "damaged: generator"),
    ({"changes": {"calbias_map": 1.0}}, "has version 1.0"),
    ({"changes": {"method": "shift"}}, "not those of a map of shift"),
    ({"method": "vector", "parameters": {"weights": [1e299] * 3}}, "not a finite number"),
)


def fit_and_predict(method="platt", rows=None, new=None, **options):
    recalibrator = calbias.Recalibrator(method, **options)
    if new is None or rows is not None:
        recalibrator.fit(*(rows or sample()))
    recalibrator.predict([0.5] if new is None else new)


test_mistakes_are_refused_in_a_line = refuses(
    fit_and_predict,
    ({"method": "plat"}, "unknown method 'plat'. Did you mean platt"),
    ({"values": "odds"}, "unknown values 'odds'"),
    ({"seed": -1}, "seed must be a whole number"),
    ({"method": "temperature"}, "temperature needs logits"),
    ({"rows": (np.full(49, 0.5), np.arange(49) % 2)}, "takes 50 rows of both outcomes"),
    ({"rows": (np.full(90, 0.5), np.ones(90))}, "takes 50 rows of both outcomes"),
    ({"new": [0.5]}, "call fit first"),
    ({"rows": sample(), "new": [1.5]}, "not a probability|not percentages|score 1.5"),
    ({"rows": sample(), "new": [[1.0, 2.0]]}, "the map is of scores, and 2 classes are given"),
    ({"rows": matrix(), "new": [0.5]}, "the map is of 3 classes, and scores are given"),
    ({"rows": sample(), "new": []}, "at least one row"),
    ({"method": "beta", "rows": (sample()[0] * 1e-12, sample()[1])}, "no map of beta fits: its b"),
)


def run(capsys, *words):
    """Run the command and return its status, stdout and stderr."""
    status = 0
    try:
        main([*map(str, words)])
    except SystemExit as stop:
        status = stop.code
    return status, *capsys.readouterr()


def test_a_file_gives_a_map_and_the_map_scores_a_stream(tmp_path, capsys, monkeypatch):
    scores, hits = sample()
    file, new, better = (tmp_path / name for name in ("model.csv", "new.csv", "better.csv"))
    pd.DataFrame({"y_prob": scores, "label": hits}).to_csv(file, index=False)
    new.write_text("id;y_prob;text\n007;0,10;a\n008;;b\n009;0,5;\n")
    status, out, err = run(capsys, "recalibrate", file, "--method", "beta")
    assert status == 0
    assert "lowers the Brier score" in out
    assert "model_map.json" in err
    expected = calbias.Recalibrator("beta").fit(scores, hits).predict([0.1, 0.5])
    apply = ["--apply", tmp_path / "model_map.json"]
    status, _, err = run(capsys, "recalibrate", new, *apply)
    assert (status, err.count("\n")) == (2, 1)
    assert "line 3: column y_prob is empty" in err
    apply += ["--missing", "drop"]
    status, out, _ = run(capsys, "recalibrate", new, *apply)
    lines = out.splitlines()
    assert lines[0] == "id;y_prob;text;calbias_score"
    assert lines[2] == "008;;b;"
    assert [line.rsplit(";", 1)[0] for line in lines[1::2]] == ["007;0,10;a", "009;0,5;"]
    assert [float(line.rsplit(";", 1)[1]) for line in lines[1::2]] == pytest.approx(expected)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(new.read_bytes())))
    assert run(capsys, "recalibrate", "-", *apply)[1] == out
    for _ in range(2):  # a table of calbias is replaced
        assert run(capsys, "recalibrate", new, *apply, "--output", better)[0] == 0
    assert better.read_text() == out
    assert run(capsys, "recalibrate", better, *apply)[0] == 2  # has the column already
    for arguments, message in (
        ([new, "--apply", file], "model.csv: no readable recalibration map"),
        ([new, *apply, "--method", "platt"], "--apply goes with"),
        ([new, *apply, "--score", "y_prb"], "Did you mean y_prob"),
        ([new, *apply, "--output", new], "is a file that is read"),
        ([file, "--method", "plat"], "unknown method"),
        ([file, "--method", "logistic"], "here it is called platt"),
    ):
        status, _, err = run(capsys, "recalibrate", *arguments)
        assert (status, err.count("\n")) == (2, 1)
        assert message in err


def test_a_map_remembers_the_column_and_what_it_holds(tmp_path, capsys):
    scores, hits = sample()
    file, new = tmp_path / "model.csv", tmp_path / "new.csv"
    forms = {"percent": 100 * scores, "logits": np.log(scores / (1 - scores)), "odds": 1 / scores}
    for form, values in forms.items():
        pd.DataFrame({"score_lr": values, "other": scores, "y": hits}).to_csv(file, index=False)
        words = [file, "--score", "score_lr", "--label", "y", "--values", form, "--method", "platt"]
        assert run(capsys, "recalibrate", *words)[0] == 0
        apply = ["--apply", tmp_path / "model_map.json"]
        table = pd.DataFrame({"other": scores, "SCORE_LR": values})[:12]
        table.to_csv(new, index=False)
        out = run(capsys, "recalibrate", new, *apply)[1]
        expected = calbias.Recalibrator("platt").fit(scores, hits).predict(scores[:12])
        assert pd.read_csv(io.StringIO(out))["calbias_score"].to_numpy() == pytest.approx(expected)
        for columns, message in (
            (["other"], "there is no column score_lr, which the map was made from; name"),
            ({"SCORE_LR": scores[:12]}, f"read as {form} in the fit, and all of it is between"),
        ):
            frame = table[columns] if isinstance(columns, list) else pd.DataFrame(columns)
            frame.to_csv(new, index=False)
            status, _, err = run(capsys, "recalibrate", new, *apply)
            assert (status, err.count("\n")) == (2, 1)
            assert message in err
        words = ["--values", "probabilities", *apply]
        assert run(capsys, "recalibrate", new, *words)[1].splitlines()[1:]
    state = json.loads((tmp_path / "model_map.json").read_text())
    del state["score"], state["read_as"]  # an older map
    assert calbias.Recalibrator.from_json(json.dumps(state)).score_ is None


def test_columns_of_classes_get_probabilities(tmp_path, capsys):
    logits, labels = matrix()
    names = ["cat", "dog", "hen"]
    for values, form in ((logits, "logits"), (softmax(logits, axis=1), "probabilities")):
        file = tmp_path / f"{form}.csv"
        table = pd.DataFrame(values, columns=names)
        table.assign(label=np.array(names)[labels]).to_csv(file, index=False)
        method = "vector" if form == "logits" else "temperature"
        assert run(capsys, "recalibrate", file, "--method", method, "--quiet")[2] == ""
        new = tmp_path / "new.jsonl"
        scale = 1 if form == "logits" else 100  # probabilities as percentages
        (scale * table[names[::-1]].head(5)).to_json(new, orient="records", lines=True)
        out = run(capsys, "recalibrate", new, "--apply", tmp_path / f"{form}_map.json")[1]
        found = pd.read_csv(io.StringIO(out))[[f"calbias_p_{name}" for name in names]].to_numpy()
        expected = calbias.Recalibrator(method).fit(logits, labels).predict(logits[:5])
        assert found == pytest.approx(expected, abs=1e-4)
        audits = []
        for order in (names, names[::-1]):
            table[order].assign(label=np.array(names)[labels]).to_csv(file, index=False)
            mapped = ["--map", tmp_path / f"{form}_map.json", "--output", tmp_path / "x"]
            audits.append(run(capsys, "audit", file, *mapped, "--quiet"))
        assert audits[0] == audits[1]
        new.write_text('{"cat": 0.5, "score": 0.5}\n')
        err = run(capsys, "recalibrate", new, "--apply", tmp_path / f"{form}_map.json")[2]
        assert "no column dog, which the map was made from; give the columns cat, dog, hen" in err
    file = tmp_path / "logits.csv"
    said = {
        "probabilities": "is of probabilities, and logits are",
        "logits": "the classes cat, dog",
    }
    for kind, words in said.items():
        assert words in run(capsys, "audit", file, "--map", tmp_path / f"{kind}_map.json")[2]
        table.set_axis(["cat", "dog", "cow"], axis=1).assign(
            label=np.array(["cat", "dog", "cow"])[labels]
        ).to_csv(file, index=False)
