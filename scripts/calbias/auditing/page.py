"""One self-contained HTML page of an audit."""

import math
from dataclasses import dataclass

from calbias.auditing.audit import RULE
from calbias.auditing.plots import bins_of, figures_svg

_KINDS = {
    "scores": "scores and hits",
    "binary": "probabilities of class 1 and labels",
    "probabilities": "class probabilities and labels, reduced to the top label",
    "logits": "logits and labels, reduced to the top label",
}
_GOALS = {
    "detect_1_points": "detect a true error of 1 point",
    "detect_2_points": "detect a true error of 2 points",
    "detect_5_points": "detect a true error of 5 points",
    "slope_to_0.1": "know the calibration slope to ± 0.1",
    "mean_gap_to_1_point": "know mean score − accuracy to ± 1 point",
    "halve_the_interval": "halve the interval of the verdict",
}


@dataclass
class Column:
    """A column of a table of the page: how it is headed and how a cell reads."""

    key: str
    title: str
    form: str = "text"

    @property
    def number(self):
        """Whether its cells are numbers."""
        return self.form != "text"

    def text(self, row):
        """Return the cell of a row, a dict."""
        value = row.get(self.key)
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return ""
        if self.form == "points":
            return "∞" if math.isinf(value) else f"{100 * value:.2f}"
        if self.form == "fine":
            return f"{100 * value:.3f}"
        if self.form == "p":
            return f"{value:.2g}" if value >= 1e-4 else "< 0.0001"
        if self.form == "share":
            return f"{100 * value:.0f} %"
        if self.form == "count":
            return "∞" if math.isinf(value) else f"{value:,.0f}".replace(",", " ")
        if self.form == "number":
            return f"{value:.3g}"
        return {True: "yes", False: "no"}.get(value, str(value))


COLUMNS = {
    "estimates": [
        Column("estimator", "Estimator"),
        Column("target", "Target"),
        Column("value", "Value", "points"),
        Column("noise_floor", "Noise floor", "points"),
        Column("bias", "Bias here", "points"),
        Column("rmse", "RMS error", "points"),
        Column("corrected", "Corrected", "points"),
        Column("low", "Low", "points"),
        Column("high", "High", "points"),
        Column("p_value", "p", "p"),
    ],
    "intervals": [
        Column("method", "Method"),
        Column("target", "Target"),
        Column("low", "Low", "points"),
        Column("high", "High", "points"),
        Column("note", "Note"),
    ],
    "tests": [
        Column("test", "Test"),
        Column("statistic", "Statistic", "number"),
        Column("p_value", "p", "p"),
        Column("analytic_p_value", "p, analytic", "p"),
        Column("power_1", "Power at 1", "share"),
        Column("power_2", "at 2", "share"),
        Column("power_5", "at 5 points", "share"),
        Column("blind_to", "Blind to"),
    ],
    "labels": [
        Column("goal", "To"),
        Column("n", "Labels", "count"),
        Column("simulated_power", "Simulated power there", "share"),
    ],
    "recalibration": [
        Column("method", "Method"),
        Column("brier_before", "Brier before", "fine"),
        Column("brier_after", "after", "fine"),
        Column("gain", "Fall", "fine"),
        Column("gain_se", "Standard error", "fine"),
        Column("p_value", "p", "p"),
        Column("accuracy_change", "Change of accuracy", "points"),
        Column("helps", "Helps"),
    ],
    "groups": [
        Column("group", "Group"),
        Column("n", "Rows", "count"),
        Column("accuracy", "Accuracy", "points"),
        Column("mean_score", "Mean score", "points"),
        Column("ece", "ECE", "points"),
        Column("noise_floor", "Noise floor", "points"),
        Column("low", "Low", "points"),
        Column("high", "High", "points"),
        Column("corrected_p_value", "p, Holm", "p"),
        Column("finding", "Finding"),
    ],
}
COLUMNS["classes"] = [Column("group", "Class"), *COLUMNS["groups"][1:]]


def page(audit, title, json_name="", by=None):
    """Return the page of an Audit as a text."""
    import jinja2

    import calbias

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("calbias.auditing", "."), autoescape=True
    )
    reliability, cumulative = figures_svg(audit.sample, audit.options["n_bins"])
    bins = bins_of(audit.sample, audit.options["n_bins"])
    tables = audit.to_dict()
    for row in tables["labels"]:
        row["goal"] = _GOALS[row["goal"]]
    return environment.get_template("page.html.j2").render(
        audit=audit,
        title=title,
        facts=facts(audit.description),
        options=audit.options,
        reliability=reliability,
        cumulative=cumulative,
        n_shown=len(bins),
        n_outside=sum(not row["band_low"] <= row["hit_rate"] <= row["band_high"] for row in bins),
        columns=COLUMNS,
        estimates=tables["estimates"],
        intervals=[_open_ended(row) for row in tables["intervals"]],
        tests=tables["tests"],
        labels=tables["labels"],
        recalibration=tables["recalibration"],
        groups=tables.get("groups"),
        classes=tables.get("classes"),
        advice=_advice(audit.recalibration),
        n_null=4 * audit.options["replicates"],
        rule=RULE,
        by=by,
        version=calbias.__version__,
        json_name=json_name,
    )


def facts(description):
    """Return [(name, text)] of what was read."""
    gap, error = description["mean_gap"], description["mean_gap_se"]
    found = [
        ("Rows", f"{description['n']}, {_KINDS.get(description['kind'], description['kind'])}"),
        ("Classes", description["n_classes"]),
        ("Accuracy", f"{100 * description['accuracy']:.2f} %"),
        ("Mean score", f"{100 * description['mean_score']:.2f} %"),
        (
            "Mean score − accuracy",
            f"{100 * gap:+.2f} ± {196 * error:.2f} points: "
            f"{'over' if gap > 0 else 'under'}confident on average",
        ),
        ("Brier score", f"{description['brier']:.4f}"),
        (
            "Distinct scores",
            f"{description['n_distinct_scores']}; the commonest holds "
            f"{100 * description['largest_atom']:.2f} % of the rows",
        ),
        ("Scores of exactly 1", f"{100 * description['scores_of_one']:.2f} %"),
        ("Error of the fitted curve", f"{100 * description['fitted_error']:.2f} points"),
    ]
    return [(name, value) for name, value in found if value is not None]


def _open_ended(row):
    return {**row, "high": math.inf if row["high"] is None else row["high"]}


def _advice(recalibration):
    if recalibration.empty:
        return ""
    best = recalibration[recalibration["helps"]]
    if best.empty:
        return "No method lowers the Brier score by more than chance would: leave the scores alone."
    first = best.iloc[0]
    text = f"{best.index[0].capitalize()} scaling" if best.index[0] != "isotonic" else "Isotonic"
    return (
        f"{text} lowers the Brier score most, by {100 * first['gain']:.3f} ± "
        f"{196 * first['gain_se']:.3f} points of a hundred; the accuracy stays."
    )
