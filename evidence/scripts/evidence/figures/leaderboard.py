"""What a leaderboard's number is worth: the ECE of a few questions against the ECE of all."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.figures import panels, selection, style

TABLES = ("leaderboard",)
TITLE = "What a calibration error on a few hundred questions is worth"
NAMES = {
    "arc": "ARC", "hellaswag": "HellaSwag", "mmlu": "MMLU", "truthfulqa": "TruthfulQA",
    "winogrande": "WinoGrande", "gpt_3_5_turbo": "GPT-3.5 Turbo", "gpt_4_turbo": "GPT-4 Turbo",
    "llama3_70b": "Llama 3 70B", "llama_70b": "Llama 70B", "falcon_7b": "Falcon 7B",
    "mixtral": "Mixtral", "yi_34b": "Yi 34B",
}  # fmt: skip
SHIFT = 0.18


def draw(tables: dict[str, pd.DataFrame]) -> Figure:
    """Return a panel for each benchmark: models down, ECE across, a range for each n."""
    table = selection.rows(tables, "leaderboard")
    sizes, benchmarks = sorted(table["n_samples"].unique()), selection.in_order(table["dataset"])
    means = table.groupby("model")["value_percent"].mean()
    models = sorted(means.index, key=means.get)
    figure = style.figure(style.PAGE, 1.5 + 0.3 * len(models))
    row = figure.subplots(1, len(benchmarks), sharey=True, squeeze=False)[0]
    for axes, name in zip(row, benchmarks, strict=True):
        rows = table[table["dataset"] == name]
        for k, n in enumerate(sizes):
            part = rows[rows["n_samples"] == n]
            y = [models.index(model) + SHIFT * (2 * k - len(sizes) + 1) for model in part["model"]]
            look = {"color": style.group_colour(k), "marker": style.SIZE_MARKERS[k]}
            axes.hlines(y, part["low_percent"], part["high_percent"], color=look["color"])
            axes.plot(part["mean_estimate_percent"], y, linestyle="", **look)
        exact = rows.drop_duplicates("model")
        y = [models.index(model) for model in exact["model"]]
        axes.plot(exact["value_percent"], y, linestyle="", marker="|", markersize=11, color="0")
        axes.set(title=NAMES.get(name, name), xlabel="ECE (%)")
        axes.set_xlim(left=0)
    row[0].set_yticks(range(len(models)), [NAMES.get(name, name) for name in models])
    row[0].set_ylim(len(models) - 0.4, -0.6)
    handles = [panels.handle("all questions", linestyle="", marker="|", markersize=11, color="0")]
    for k, n in enumerate(sizes):
        look = {"color": style.group_colour(k), "marker": style.SIZE_MARKERS[k]}
        handles.append(panels.handle(f"{n} questions: mean and 90 % of draws", **look))
    panels.legend_below(figure, handles, len(handles))
    questions = table["n_questions"]
    panels.note(
        figure,
        f"15 bins of equal width, one prompt; {questions.min()} to {questions.max()} questions",
        "a calibrated model's number is above 0 too",
    )
    return figure
