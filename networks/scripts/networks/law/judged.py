"""The rule of ``networks/law/README.md``, and the table and picture of that page.

In ``networks``, with PYTHONPATH=../scripts:scripts, ``python -m networks.law.judged law`` prints
the table and draws ``resources/readme/debias_or_sweep.png``.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from matplotlib.figure import Figure
from scipy.stats import spearmanr, ttest_1samp

NETWORKS = Path(__file__).parents[3]
PICTURE = NETWORKS.parent / "resources/readme/debias_or_sweep.png"
LEAST, LARGE, LARGE_AT_ONE_N = 4.0, 0.05, 0.1  # percent of true error; points of d
KEYS = ["kind", "name", "n_samples"]
FACTORS = ["sharpness", "n_train", "width"]
LOOKS = {
    "network": ("tab:blue", "o", "networks known before"),
    "printed fit": ("tab:red", "s", "the paper's printed fits"),
    "genuine scores": ("black", "*", "the paper's networks, own scores"),
    "new law": ("0.55", "^", "new laws, predicted first"),
    "picture network": ("tab:orange", "D", "picture networks, predicted first"),
}


def biases(folder: Path) -> pd.DataFrame:
    """Return predicted and measured biases, a row a population and n; d is |debias| − |sweep|."""
    predicted = pd.read_csv(folder / "predicted.csv")
    measured = pd.concat([pd.read_csv(folder / "measured.csv"), _known()])
    both = predicted.merge(measured, on=KEYS, suffixes=("", "_measured"))
    for suffix in ("", "_measured"):
        both[f"d{suffix}"] = both[f"debias_percent{suffix}"].abs()
        both[f"d{suffix}"] -= both[f"sweep_percent{suffix}"].abs()
    return both


def _known() -> pd.DataFrame:
    """Return the biases of the kept networks that the record has."""
    rows = pd.read_parquet(NETWORKS / "record/tables/bias.parquet")
    rows = rows[rows["law"] == "population"].assign(kind="network")
    wide = rows.pivot_table("bias_percent", KEYS, "estimator", observed=True).reset_index()
    columns = {"ece_debias_em": "debias_percent", "ece_sweep_em": "sweep_percent"}
    return wide[[*KEYS, *columns]].rename(columns=columns)


def differences(both: pd.DataFrame) -> pd.DataFrame:
    """Return d and its measured value, means over n, by population."""
    columns = ["truth_percent", "d", "d_measured", "unseen_percent"]
    both = both.assign(se=both["difference_se_percent"] ** 2)
    means = both.groupby(KEYS[:2])[columns].mean()
    counts = both.groupby(KEYS[:2]).size()
    means["d_se"] = both.groupby(KEYS[:2])["se"].sum(min_count=1) ** 0.5 / counts
    return means.reset_index()


def judge(both: pd.DataFrame) -> pd.DataFrame:
    """Return a row a kind: the numbers of statements 1 to 4, of errors above LEAST."""
    both = both[both["truth_percent"] > LEAST]
    rows = {}
    for kind, part in both.groupby("kind"):
        d = differences(part)
        large = d[d["d_measured"].abs() > LARGE]
        single = part[part["d_measured"].abs() > LARGE_AT_ONE_N]
        expected = np.concatenate([part["debias_percent"], part["sweep_percent"]])
        seen = np.concatenate([part["debias_percent_measured"], part["sweep_percent_measured"]])
        rows[kind] = {
            "populations": len(d),
            "d": d["d_measured"].mean(),
            "d by the law": d["d"].mean(),
            "Spearman": spearmanr(d["d"], d["d_measured"]).statistic,
            "sign right where large": f"{_agree(large)} of {len(large)}",
            "rms error of d": np.sqrt(np.mean((d["d"] - d["d_measured"]) ** 2)),
            "sign right at one n": f"{_agree(single)} of {len(single)}",
            "correlation of biases": np.corrcoef(expected, seen)[0, 1],
            "slope": np.polyfit(expected, seen, 1)[0],
        }
    return pd.DataFrame(rows).T


def _agree(rows: pd.DataFrame) -> int:
    return int((np.sign(rows["d"]) == np.sign(rows["d_measured"])).sum())


def saturation(d: pd.DataFrame, configurations: pd.DataFrame) -> dict[str, float]:
    """Return statement 5: mean changes of d, of the law and of the rest with more saturation."""
    table = d[d["kind"] == "picture network"].merge(configurations, on="name")
    table = table[table["share_above_99"] > 0].sort_values("share_above_99")
    pairs = table.groupby(FACTORS)[["d_measured", "d"]].agg(lambda x: x.iloc[1] - x.iloc[0])
    beyond = pairs["d_measured"] - pairs["d"]
    return {
        "pairs": len(pairs),
        **{f"change of {x}": float(pairs[x].mean()) for x in pairs},
        "rest": float(beyond.mean()),
        "its standard error": float(beyond.sem()),
        "p": float(ttest_1samp(beyond, 0).pvalue),
    }


def draw(d: pd.DataFrame) -> Figure:
    """Return measured d against the law's, a point a population."""
    figure = Figure(figsize=(6.3, 5.4), layout="constrained")
    axes = figure.subplots()
    ends = -0.65, 0.65
    axes.plot(ends, ends, color="0.6", linewidth=0.8)
    axes.axhline(0, color="0.8", linewidth=0.8)
    axes.axvline(0, color="0.8", linewidth=0.8)
    for kind, (colour, marker, label) in LOOKS.items():
        part = d[d["kind"] == kind]
        size = 70 if marker == "*" else 22
        label = f"{label} ({len(part)})"
        axes.scatter(part["d"], part["d_measured"], size, colour, marker=marker, label=label)
    axes.set(xlim=ends, ylim=ends, ylabel="the same, measured")
    axes.set_xlabel("|bias| of debias less |bias| of the sweep, by the law (points)")
    axes.text(0.62, 0.04, "sweep nearer", ha="right", color="0.4")
    axes.text(-0.62, -0.08, "debias nearer", color="0.4")
    axes.legend(loc="upper left", fontsize=8)
    return figure


def main(argv: list[str] | None = None) -> int:
    """Judge; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="of the tables")
    options = parser.parse_args(argv)
    both = biases(options.folder)
    d = differences(both)
    files = sorted((options.folder / "configs").glob("*.yaml"))
    configurations = [{"name": x.stem, **yaml.safe_load(x.read_text())} for x in files]
    print(judge(both).to_string(float_format="{:.3f}".format))
    print(saturation(d, pd.DataFrame(configurations)))
    print(d[d["truth_percent"] <= LEAST].to_string(index=False, float_format="{:.3f}".format))
    draw(d[d["truth_percent"] > LEAST]).savefig(PICTURE, dpi=120)
    return 0


if __name__ == "__main__":
    sys.exit(main())
