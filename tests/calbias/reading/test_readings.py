"""A table has one reading, or several, which are a question whose every line gives its reading."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest

from calbias.auditing.data import EVENT, TOP_LABEL
from calbias.auditing.inputs import read_data
from calbias.command import _columns
from calbias.errors import InputError, Question
from calbias.parser import parser
from calbias.reading.columns import Columns

N = 120
G = np.random.default_rng(67)
RISK = np.round(G.beta(1.2, 1.5, N), 4)
HAPPENED = (G.random(N) < RISK).astype(int)
P = np.round(G.dirichlet([1, 1, 1], N), 4)
P[:, 0] = np.round(1 - P[:, 1] - P[:, 2], 4)
CLASS = (P.cumsum(axis=1) > G.random((N, 1))).argmax(axis=1)
CLASS[:3] = range(3)
LOGITS = np.round(np.log(P + 1e-3) + G.normal(size=(N, 1)), 4)
SURE, SAID = np.maximum(RISK, 1 - RISK), (RISK >= 0.5).astype(int)
WORD, BOTH = np.array(["cat", "dog", "owl"])[CLASS], np.array(["no", "yes"])


def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


EVENTS = EVENT, RISK.mean(), HAPPENED.mean()
HITS = TOP_LABEL, SURE.mean(), (SAID == HAPPENED).mean()
TOPS = TOP_LABEL, P.max(axis=1).mean(), (P.argmax(axis=1) == CLASS).mean()
OF_LOGITS = TOP_LABEL, softmax(LOGITS).max(axis=1).mean(), TOPS[2]


def classes(stem, values=P, names="012", end=""):
    return {f"{stem}{name}{end}": values[:, k] for k, name in enumerate(names)}


def of_two(no, yes):
    return {yes: RISK, no: np.round(1 - RISK, 4)}


READ = {
    "sklearn": ({"y_true": HAPPENED, "y_pred": SAID, "y_prob": RISK, "fold_id": SAID}, EVENTS),
    "pycaret 3": ({"Age": CLASS, "Buys": np.array(["CH", "MM"])[HAPPENED],
                   "prediction_label": np.array(["CH", "MM"])[SAID],
                   "prediction_score": SURE}, HITS),
    "weka": ({"inst#": range(N), "actual": BOTH[HAPPENED], "predicted": BOTH[SAID],
              "prediction": SURE}, HITS),
    "ml.net": ({"Label": HAPPENED, "Score": np.log(RISK) + 2, "Probability": RISK}, EVENTS),
    "true first": ({**of_two("p_False", "p_True"), "y": HAPPENED.astype(bool)}, EVENTS),
    "yes first": ({**of_two("prob.no", "prob.yes"), "truth": BOTH[HAPPENED]}, EVENTS),
    "named by label": ({"diagnosis": np.array(["B", "M"])[HAPPENED], "prob_M": RISK}, EVENTS),
    "minus 1": ({"target": 2 * HAPPENED - 1, "risk": RISK}, EVENTS),
    "correct": ({"confidence": SURE,
                 "outcome": np.where(SAID == HAPPENED, "right", "wrong")}, HITS),
    "index": ({"": range(N), **classes("p_"), "label": CLASS}, TOPS),
    "numbered beside others": ({**classes("logit_", LOGITS), "loss": LOGITS[:, 0], "n": SAID,
                                "logit_max": LOGITS.max(axis=1), "label": CLASS}, OF_LOGITS),
    "named beside others": ({**classes("p_", names=["cat", "dog", "owl"]), "p_max": P.max(axis=1),
                             "label": WORD}, TOPS),
    "from 1": ({**classes("class", names="123"), "label": CLASS + 1}, TOPS),
    "named by numbers": ({**classes("p_", names="379"), "label": np.array([3, 7, 9])[CLASS]}, TOPS),
    "one-hot": ({**classes("p_"), **classes("label_", np.eye(3)[CLASS].astype(int))}, TOPS),
    "own scores": ({"score": 100 * RISK, "label": HAPPENED, "calbias_score": RISK}, EVENTS),
    "own score of classes": ({**classes("logit_", LOGITS), "label": CLASS,
                              "calbias_score": P.max(axis=1)}, (TOP_LABEL, TOPS[1], OF_LOGITS[2])),
    "own risk of two": ({**of_two("p_no", "p_yes"), "label": HAPPENED,
                         "calbias_score": RISK**2}, (EVENT, (RISK**2).mean(), EVENTS[2])),
    "64 bits": ({"gold": 2**62 + CLASS, "predicted": 2**62 + P.argmax(axis=1),
                 "score": P.max(axis=1)}, TOPS),
    "evaluate": ({"references": HAPPENED, "predictions": SAID, "probabilities": RISK}, EVENTS),
    "named by no": ({"truth": BOTH[1 - HAPPENED], "prob_no": RISK}, EVENTS),
    "answers": ({"model_answer": np.array(["cat", "dog", "owl"])[P.argmax(axis=1)],
                 "correct_answer": WORD, "confidence": P.max(axis=1)}, TOPS),
    "spreadsheet": ({"label": np.array(["FALSCH", "WAHR"])[HAPPENED], "risk": RISK}, EVENTS),
    "spreadsheet hits": ({"correct": np.array(["FAUX", "VRAI"])[(SAID == HAPPENED).astype(int)],
                          "confidence": SURE}, HITS),
    "top 1": ({"label": WORD, "top1_class": np.array(["cat", "dog", "owl"])[P.argmax(axis=1)],
               "top1_prob": P.max(axis=1)}, TOPS),
    "a predicted label and its truth": ({"label": np.array(["cat", "dog", "owl"])[P.argmax(axis=1)],
                                         "prob": P.max(axis=1), "gt": WORD}, TOPS),
    "labels with spaces": ({**classes("p_", names=["very_low", "mid", "very_high"]),
                            "label": np.array(["very low", "mid", "very high"])[CLASS]}, TOPS),
    "labels with signs": ({**classes("", names=["non.small", "small.cell", "other"]),
                           "label": np.array(["non-small", "small-cell", "other"])[CLASS]}, TOPS),
    "camel case": ({**classes("p", names=["Home", "Draw", "Away"]),
                    "result": np.array(["Home", "Draw", "Away"])[CLASS]}, TOPS),
    "named by its prediction": ({"species": WORD, "confidence": P.max(axis=1), "species_pred":
                                 np.array(["cat", "dog", "owl"])[P.argmax(axis=1)]}, TOPS),
    "rapidminer": ({"Play": BOTH[HAPPENED], **of_two("confidence(no)", "confidence(yes)"),
                    "prediction(Play)": BOTH[SAID]}, EVENTS),
    "jmp": ({"Species": WORD, **classes("Prob[", names=["cat", "dog", "owl"], end="]"),
             "Most Likely Species": np.array(["cat", "dog", "owl"])[P.argmax(axis=1)]}, TOPS),
    "forecasts": ({"forecast_probability": RISK, "observed": HAPPENED}, EVENTS),
    "one-hot by another name": ({**classes("true_", np.eye(3)[CLASS].astype(int), ["a", "b", "c"]),
                                 **classes("pred_", names=["a", "b", "c"])}, TOPS),
    "one-hot in another order": ({"label_owl": (CLASS == 2) * 1, "label_cat": (CLASS == 0) * 1,
                                  "label_dog": (CLASS == 1) * 1,
                                  **classes("p_", names=["cat", "dog", "owl"])}, TOPS),
    "one-hot numbers in another order": ({"label_1": HAPPENED, "label_0": 1 - HAPPENED,
                                          **of_two("p_0", "p_1")}, EVENTS),
    "a medical test": ({"test": np.array(["neg", "pos"])[SAID], "risk": RISK, "label": HAPPENED},
                       EVENTS),
    "true and 1": ({"label": HAPPENED.astype(bool), "prediction": SAID, "score": SURE}, HITS),
}  # fmt: skip


def saved(path, columns):
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def found(path, options=""):
    given = parser().parse_args(["audit", str(path), *shlex.split(options)])
    data = read_data(path, columns=_columns(given), top_label=given.top_label)
    return data.kind, data.single.score.mean(), data.single.hit.mean(), data.single.score.size


@pytest.mark.parametrize("kind", READ)
def test_what_names_and_types_say_is_read(tmp_path, kind):
    columns, expected = READ[kind]
    kind, mean, share, n = found(saved(tmp_path / "m.csv", columns))
    assert (kind, n) == (expected[0], N)
    assert (mean, share) == pytest.approx(expected[1:], abs=1e-6)


ASKED = {
    "pycaret 2": ({"sex": SAID[::-1], "Survived": HAPPENED, "Label": SAID, "Score": SURE}, HITS, 3),
    "pipeline": ({"label": BOTH[SAID], "score": SURE}, None, 1),
    "no truth": ({"prob_no": 1 - RISK, "prob_yes": RISK, "smoker": BOTH[SAID]}, None, 2),
    "a chance and a prediction": ({"actual": BOTH[HAPPENED], "predicted": BOTH[SAID],
                                   "probability": SURE}, HITS, 2),
    "which event": ({"score": RISK, "label": np.array(["ja", "nein"])[HAPPENED]}, EVENTS, 2),
    "dashes": ({"score": RISK, "label": np.array([" - 50000.", "50000+."])[HAPPENED]}, EVENTS, 2),
    "two words": ({**of_two("benign", "malignant"),
                   "diagnosis": np.array(["benign", "malignant"])[HAPPENED]}, EVENTS, 3),
    "silent name": ({"sex": SAID, "risk": RISK, "died_30d": HAPPENED}, EVENTS, 2),
    "counts": ({**classes("n_", np.round(50 * P) + 1), "label": CLASS}, None, 2),
    "votes": ({**classes("votes_", np.round(50 * P) + 1), "label": CLASS}, None, 2),
    "no 0 and no K": ({**classes("p_", P[CLASS > 0], "123"), "label": CLASS[CLASS > 0]}, None, 2),
    "plain beside others": ({**classes("", LOGITS, ["cat", "dog", "owl"]), "speed": RISK + 1,
                             "label": WORD}, OF_LOGITS, 2),
    "features": ({**classes("x", LOGITS), "label": CLASS}, None, 1),
    "two sets": ({**classes("p_"), **classes("cal_p_", P[::-1]), "label": CLASS}, TOPS, 2),
    "small percentages": ({"Risk (%)": RISK, "outcome": HAPPENED}, EVENTS, 2),
    "no event": ({"prob_no_event": RISK, "event": HAPPENED}, EVENTS, 1),
    "an error": ({"error_probability": 1 - SURE, "correct": SAID == HAPPENED}, None, 1),
    "a risk and hits": ({"risk_score": 1 - SURE, "correct": SAID == HAPPENED}, None, 1),
    "azure": ({"Buys": BOTH[HAPPENED], "Scored Labels": BOTH[SAID],
               "Scored Probabilities": RISK}, EVENTS, 1),
    "free texts": ({"gold": WORD, "response": np.char.add("a ", WORD),
                    "confidence": P.max(axis=1)}, None, 1),
    "two scores": ({"prob_a": RISK, "prob_b": RISK**2, "label": HAPPENED}, EVENTS, 2),
    "initials": ({**classes("p_", names=["cow", "dog", "emu"]),
                  "result": np.array(["C", "D", "E"])[CLASS]}, TOPS, 1),
    "initials of whole names": ({**classes("", names=["below", "normal", "above"]),
                                 "observed": np.array(["B", "N", "A"])[CLASS]}, TOPS, 1),
    "code": ({**classes("p_"), "label": np.where(np.arange(N) % 9, CLASS, 255)}, None, 1),
    "letters": ({"answer": np.array([*"ABC"])[P.argmax(axis=1)],
                 "correct": np.array([*"ABC"])[CLASS], "confidence": P.max(axis=1)}, TOPS, 4),
    "a word of no label": ({"prob_ham": RISK, "label": 1 - HAPPENED},
                           (EVENT, RISK.mean(), HAPPENED.mean()), 2),
    "written otherwise": ({"target": np.array(["00", "01"])[HAPPENED], "prediction": SAID,
                           "confidence": SURE}, None, 1),
    "words and codes": ({"actual": WORD, "predicted": P.argmax(axis=1),
                         "confidence": P.max(axis=1)}, None, 1),
    "words and 0 and 1": ({"actual": BOTH[HAPPENED], "predicted": SAID, "confidence": SURE},
                          None, 1),
    "capitals": ({"label": WORD, "prediction": np.array(["cat", "dog", "Owl"])[P.argmax(axis=1)],
                  "confidence": P.max(axis=1)}, None, 1),
    "two words and 0 and 1": ({**of_two("p_legit", "p_fraud"), "label": HAPPENED}, EVENTS, 2),
    "columns 1 and 2": ({**of_two("p2", "p1"), "y": HAPPENED}, EVENTS, 2),
    "a predicted group": ({"male": SAID == 1, "male_pred": HAPPENED == 1, "risk": RISK,
                           "died_30d": HAPPENED}, EVENTS, 2),
    "the opposite": ({"risk": RISK, "alive": 1 - HAPPENED}, EVENTS, 2),
    "wrong": ({"confidence": SURE, "is_wrong": (SAID != HAPPENED).astype(int)},
              (EVENT, *HITS[1:]), 2),
    "a class of a school": ({"class": CLASS + 1, "prob": RISK, "passed": HAPPENED}, EVENTS, 1),
    "names of events": ({"event": np.array(["goal", "card"])[SAID], "prob": RISK,
                         "happened": HAPPENED}, EVENTS, 3),
    "first guess": ({"label": WORD, "confidence": P.max(axis=1), "guess": np.array(
                     ["cat", "dog", "owl"])[P.argmax(axis=1)]}, TOPS, 4),
    "number of a result": ({"result": range(N), "score": SURE, "won": HAPPENED}, None, 2),
    "percentages next to fractions": ({"risk": 100 * RISK, "market_prob": RISK**2,
                                      "outcome": HAPPENED}, EVENTS, 2),
    "one class of three named": ({**classes("p_", names=["low_1", "mid", "high_3"]), "label":
                                  np.array(["low", "mid", "high"])[CLASS]}, None, 1),
    "of 0": ({"p0": RISK, "y": 1 - HAPPENED}, EVENTS, 1),
    "one-hot words": ({"label_spam": HAPPENED, "label_ham": 1 - HAPPENED,
                       **of_two("p_ham", "p_spam")}, EVENTS, 3),
    "words out of order and codes": ({"p_owl": P[:, 2], "p_cat": P[:, 0], "p_dog": P[:, 1],
                                      "label": CLASS}, TOPS, 2),
    "numbered columns and words": ({**classes("p_"), "label": WORD}, TOPS, 1),
    "of the true class": ({"label": WORD, "prediction": np.array(["cat", "dog", "owl"])[
                           P.argmax(axis=1)], "prob_label": P.max(axis=1)}, TOPS, 1),
    "column test": ({"test": CLASS % 2, "score": SURE, "hit": HAPPENED}, None, 2),
    "flag of a fold": ({"is_test": CLASS % 2, "score": SURE, "hit": HAPPENED}, None, 2),
    "fold of other words": ({"Usage": np.array(["Public", "Private"])[CLASS % 2], "risk": RISK,
                             "label": HAPPENED}, None, 2),
    "fold of another name": ({"dataset": np.array(["train", "test"])[CLASS % 2], "risk": RISK,
                              "label": HAPPENED}, None, 2),
    "folds and a gap": ({"split": np.array(["train", "test", None])[CLASS], "risk": RISK,
                         "label": HAPPENED}, None, 2),
    "folds and parts": ({"partition": np.array(["1", "2", "Holdout"])[CLASS], "risk": RISK,
                         "label": HAPPENED}, None, 3),
    "follow-up": ({"time_months": RISK * 60, "status": HAPPENED, "risk_5y": RISK}, EVENTS, 1),
}  # fmt: skip
_FACTS = re.compile(r"; (\d+) rows, mean score ([\d.]+) %, ([\d.]+) % (events|hits)$")


@pytest.mark.parametrize("kind", ASKED)
def test_every_line_of_a_question_gives_exactly_its_reading(tmp_path, kind):
    columns, right, n_lines = ASKED[kind]
    path = saved(tmp_path / "m.csv", columns)
    with pytest.raises(Question) as asked:
        read_data(path)
    lines = asked.value.lines
    assert len(lines) == n_lines, str(asked.value)
    read = []
    for line in lines:
        options, facts = line.partition(": ")[0], _FACTS.search(line)
        kind, mean, share, n = found(path, options)
        told = int(facts[1]), float(facts[2]) / 100, float(facts[3]) / 100
        assert (n, mean, share) == pytest.approx(told, abs=6e-4), line
        assert (kind == EVENT) == (facts[4] == "events")
        read.append((kind, mean, share))
    assert right is None or any(each == (right[0], *map(pytest.approx, right[1:])) for each in read)


def test_a_question_names_the_follow_up_until_the_outcome_is_chosen(tmp_path):
    path = saved(tmp_path / "m.csv", ASKED["follow-up"][0])
    with pytest.raises(Question, match=r"add --time time_months --status status --horizon H \("):
        read_data(path)
    assert read_data(path, columns=Columns(label="status")).single.score.size == RISK.size


def test_a_score_that_cannot_be_read_is_named_with_the_others(tmp_path):
    columns = {"score": np.round(850 - 500 * RISK), "pd": RISK, "defaulted": HAPPENED}
    with pytest.raises(Question) as asked:
        read_data(saved(tmp_path / "m.csv", columns))
    scores = [line.split()[1] for line in asked.value.lines if "cannot be read" not in line]
    assert scores == ["pd", "pd"]  # of an event, or hits
    columns["score"] = np.where(SAID == 1, "high", "low")
    with pytest.raises(InputError, match=r"column score: '.*' is not a number") as refused:
        read_data(saved(tmp_path / "m.csv", columns))
    assert refused.type is InputError  # and no question


def test_rows_must_fit_every_option_and_a_file_counts_once(tmp_path):
    columns = {"score": SURE, "hit": HAPPENED, "a": CLASS, "b": SAID}
    path = saved(tmp_path / "m.csv", columns)
    data = read_data(path, columns=Columns(rows=("a=1", "b=0")))
    assert data.single.score.size == np.sum((CLASS == 1) & (SAID == 0))
    (tmp_path / "copy.csv").write_bytes(path.read_bytes())
    with pytest.raises(InputError, match=r"the same as .*: give each file once"):
        read_data([path, tmp_path / "copy.csv"])


def test_the_format_changes_no_reading(tmp_path):
    for kind, (columns, _) in READ.items():
        if kind != "index":  # Parquet has no column without a name
            path = saved(tmp_path / "m.csv", columns)
            pd.DataFrame(columns).to_parquet(tmp_path / "m.parquet")
            pd.DataFrame(columns).to_json(tmp_path / "m.jsonl", orient="records", lines=True)
            expected = found(path)
            assert found(tmp_path / "m.parquet") == pytest.approx(expected, abs=1e-9), kind
            if kind != "64 bits":  # JSON of pandas rounds them
                assert found(tmp_path / "m.jsonl") == pytest.approx(expected, abs=1e-6), kind


def test_texts_are_equal_as_they_are(tmp_path):
    text = "score,label,prediction\n.9,02,2\n.8,02,02\n.7,1e3,1000\n.6,2,2\n"
    (tmp_path / "m.csv").write_text(text)
    assert read_data(tmp_path / "m.csv").single.hit.tolist() == [0, 1, 0, 1]


def test_an_event_of_several_classes_is_judged_by_its_column(tmp_path):
    path = saved(tmp_path / "m.csv", {**classes("p_"), "label": CLASS})
    kind, mean, share, _ = found(path, "--event 2")
    assert (kind, mean, share) == (EVENT, pytest.approx(P[:, 2].mean()), (CLASS == 2).mean())


def test_a_row_per_sample_and_class_is_no_sample(tmp_path):
    columns = {"id": np.repeat(np.arange(N), 3), "class": np.tile(["cat", "dog", "owl"], N),
               "prob": P.ravel(), "label": np.repeat(WORD, 3)}  # fmt: skip
    with pytest.raises(InputError, match="long form"):
        read_data(saved(tmp_path / "m.csv", columns))
    columns["label"] = WORD[np.arange(3 * N) % N]  # rows that depend on each other, with a group
    read_data(saved(tmp_path / "m.csv", columns), columns=Columns(event="cat"))
