"""The words of docs/tool/input_files.md: names of columns, values of labels, folds and gaps."""

import re

CONFIDENCE = (
    *("score", "scores", "confidence", "conf", "prediction_score", "pred_score", "max_prob"),
    *("confidence_score", "top1_prob", "predicted_score"),
)  # fmt: skip
CHANCE = (
    *("y_prob", "y_score", "y_proba", "y_pred_proba", "y_pred_prob", "prob", "probs", "proba"),
    *("probability", "risk", "chance", "predicted_probability", "predicted_prob", "pred_prob"),
    *("pred_proba", "predicted_risk", "predicted_proba", "p_event", "phat", "p_hat"),
    *("scored_probabilities", "probabilities"),
)  # fmt: skip
"""Names of scores: of the confidence in a prediction, and of the probability of an event."""
OF_EVENT = {
    *("y_prob", "y_score", "y_proba", "y_pred_proba", "y_pred_prob", "p_event"),
    *("scored_probabilities", "probabilities"),
}  # fmt: skip
"""Names of chances that are an event's, whatever prediction stands beside; so are risks."""
CONFIDENCE_WORDS = {"confidence", "conf"}
CHANCE_WORDS = {"prob", "proba", "probability", "risk", "chance"}
"""Words that make a column of fractions a score, wherever its name has them, without these:"""
NO_SCORE = {
    *("sd", "std", "se", "var", "variance", "lower", "upper", "low", "high", "ci", "lcl", "ucl"),
    *("diff", "difference", "baseline", "threshold", "cutoff", "entropy", "margin", "loss"),
    *("weight", "weights", "group", "level", "rank", "min", "mean", "second"),
    *("climatology", "value", "percentile", "quantile", "decile"),
}  # fmt: skip
AGAINST = {
    *("not", "no", "non", "without", "neg", "negative", "error", "wrong", "incorrect"),
    *("uncertainty", "survival", "surviving", "survived", "alive", "healthy", "normal"),
}  # fmt: skip
"""Words of the chance that the event does not happen, or that the prediction is wrong."""
PLAIN_WORDS = {
    *("y", "pred", "predicted", "prediction", "predict", "model", "score", "event", "outcome"),
    *("target", "label", "class", "true", "yes", "pos", "positive", "hat", "top", "max", "test"),
    *("raw", "cal", "calibrated", "uncalibrated", "mean", "avg", "final", "estimated", "clf"),
    *("default", "churn", "fraud", "disease", "spam", "click", "conversion", "rain", "win"),
    *("forecast", "estimate"),
    *("death", "mortality", "relapse", "readmission", "failure", "dropout", "bad"),
}  # fmt: skip
"""Words next to prob that name no class, or that mean the event."""
PERCENT_WORDS = {"percent", "percents", "percentage", "pct", "perc"}
HIT = ("hit", "hits", "correct", "is_correct", "was_correct", "is_hit")
LABEL = (
    *("label", "labels", "y_true", "true_label", "target", "outcome", "truth", "actual", "gold"),
    *("gold_label", "ground_truth", "true_class", "actual_class", "actual_label", "observed"),
    *("obs", "y_test", "true_labels", "gt", "y", "correct_answer"),
)  # fmt: skip
LESS_OFTEN_LABEL = ("class", "result", "resolution", "answer", "event", "references")
"""Names of labels, and those that are labels where no other name is."""
MAY_BE_PREDICTED = {"label", "labels", "class", "result", "answer"}
PREDICTION = (
    *("prediction", "predictions", "predicted", "y_pred", "predicted_label", "predicted_class"),
    *("pred", "preds", "response", "pred_class", "pred_label", "prediction_label", "predict"),
    *("y_hat", "yhat", "predicted_labels", "forecast", "fitted_values", "scored_labels"),
    *("model_answer", "predicted_answer", "top1_class", "top1_label", "top_class", "top_label"),
)  # fmt: skip
"""Names of predicted classes; of scores where their cells are fractions."""
PREDICTION_WORDS = {"pred", "predicted", "prediction", "predictions", "predict"}
"""Words of a prediction in a longer name."""
TRUTH_WORDS = {"true", "truth", "gold"}
"""Words of the true class in the name of a probability."""
CLASS = {
    *("p", "prob", "probs", "proba", "probability", "probabilities", "logit", "logits", "class"),
    *("c", "score", "scores", "out", "output", "outputs", "pred", "prediction", "softmax", "y", ""),
    *("cls", "odds", "votes", "count", "counts"),
}  # fmt: skip
"""Words before a number or a label in the name of a column of a class."""
FOLD = ("fold", "split", "set", "subset", "partition", "data_split")
PARTS = {"public", "private", "seen", "unseen", "ood"}
"""Parts of a test, or of new data: which are judged is a question."""
RESULTS = {"neg", "pos", "negative", "positive"}
"""Values of a medical test, which is not a fold."""
FOLLOW_UP = {
    *("time", "times", "followup", "fu", "futime", "tte", "days", "months", "years", "weeks"),
    *("duration", "survtime", "ostime", "rfstime", "dtime", "tstop", "survival"),
}  # fmt: skip
STATUS = {
    *("status", "event", "cause", "died", "death", "dead", "deceased", "fustat", "censored"),
    *("censor", "cens", "relapse", "recurrence", "recur", "progression", "delta", "failure"),
    "vital",
}  # fmt: skip
"""Words of a time of follow-up, and of what ended it."""
_OF_SPREADSHEETS = (
    *(("falsch", "wahr"), ("faux", "vrai"), ("falso", "verdadero"), ("falso", "verdadeiro")),
    *(("falso", "vero"), ("falskt", "sant"), ("onwaar", "waar"), ("falsk", "sand")),
)  # fmt: skip
"""Words for false and true in the spreadsheets of other languages."""
PAIRS = (
    *(("0", "1"), ("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t"), ("neg", "pos")),
    *(("negative", "positive"), ("-1", "1"), ("absent", "present"), *_OF_SPREADSHEETS),
)  # fmt: skip
"""Values of a label that say which is the event: the second."""
GRADES = {
    **{"1": 1, "true": 1, "yes": 1, "correct": 1, "right": 1, "pass": 1, "passed": 1},
    **{"0": 0, "false": 0, "no": 0, "incorrect": 0, "wrong": 0, "fail": 0, "failed": 0},
    **{word: k for pair in _OF_SPREADSHEETS for k, word in enumerate(pair)},
}
"""What says whether a prediction was correct."""
SAID = GRADES.keys() - {word for pair in PAIRS for word in pair}
NOTHING = {"none", "nan", "na", "n/a", "null", "?", "."}
"""Words for no outcome, where an outcome is not the name of a class."""


def plain(name: str) -> str:
    """Return a name in small letters, with _ for all that is neither letter nor digit.

    >>> plain(" SampleId"), plain(".pred_yes"), plain("chance of rain")
    ('sample_id', 'pred_yes', 'chance_of_rain')
    """
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return re.sub(r"[\W_]+", "_", split).strip("_").casefold()


def words_of(name: str) -> set[str]:
    """Return the words of a name, in its own letters and where capitals start a word."""
    return {*plain(name).split("_"), *re.split(r"[\W_]+", name.casefold())}


def positive(values: set[str]) -> str | None:
    """Return which of the values of a label, in small letters, is the event, if they say so."""
    return next((pair[1] for pair in PAIRS if values and values <= {*pair}), None)
