"""Write the numbers that docs/results.md quotes, from the result tables, between its markers."""

from collections import Counter
from pathlib import Path

from calbias.errors import InputError
from calbias.io.command_line import option, script, written_whole
from calbias.io.tables import read_table
from calbias.truth.paper import MODEL_SIZES, MODELS

N_SCORES = len(MODELS) * sum(MODEL_SIZES)  # of a replicate of Figure 4
BEGIN, END = "<!-- numbers: begin", "<!-- numbers: end -->"


@script(
    option("--tables", "folder of result tables", default="results/tables"),
    option("--machine", "machine and date of the benchmark, in words", default=""),
    option("--document", "file to change", default="docs/results.md"),
)
def main(options):
    if not Path(options.document).is_file():
        raise InputError(f"{options.document}: there is no such file")
    text = Path(options.document).read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise InputError(f"{options.document}: put the lines {BEGIN} … --> and {END} into it once")
    start = text.index("\n", text.index(BEGIN)) + 1
    numbers = "\n".join(quoted_numbers(Path(options.tables), options.machine))
    with written_whole(options.document) as temporary:
        temporary.write_text(
            text[:start] + numbers + "\n" + text[text.index(END) :], encoding="utf-8"
        )


def quoted_numbers(tables, machine):
    """Return the lines, Markdown, that the tables in the folder allow."""
    lines = []
    if (tables / "claims.csv").exists():
        verdicts = Counter(read_table(tables / "claims.csv")["verdict"])
        counted = ", ".join(f"{count} {name}" for name, count in verdicts.most_common())
        lines.append(f"- **Claims.** Of the paper's {sum(verdicts.values())}: {counted}.")
    if (tables / "paired_t_test.csv").exists():
        tests = read_table(tables / "paired_t_test.csv")
        pair = (tests["estimator_a"] == "ece_debias_em") & (tests["estimator_b"] == "ece_sweep_em")
        for test in tests[pair].itertuples():
            lines.append(
                f"- **Bias, {test.experiment} calibration.** Mean absolute bias over "
                f"{test.n_pairs} pairs of model and sample size: "
                f"ece_debias_em {test.mean_abs_bias_a_percent:.3f} %, "
                f"ece_sweep_em {test.mean_abs_bias_b_percent:.3f} % "
                f"(paired t = {test.t_statistic:.2f}, p = {test.p_value:.1g})."
            )
    if (tables / "benchmark.csv").exists():
        lines += _speed(read_table(tables / "benchmark.csv"), machine)
    return lines


def _speed(benchmark, machine):
    where = f", {machine}" if machine else ""
    lines = []
    for work, what in (
        ("fig4_grid_six_binned", "bin, debias and sweep, each with equal width and equal mass"),
        ("fig4_grid_seven", "these six and the KDE"),
    ):
        row = benchmark[(benchmark["work"] == work) & (benchmark["baseline"] == "numpy_beta_draw")]
        if row.empty:
            continue
        row = row.iloc[0]
        per_score = row["seconds"] / row["n_scores"]
        hours = per_score * N_SCORES * 100_000 / 3600
        lines.append(
            f"- **Speed.** Sampling and estimating all of Figure 4 with {what}: "
            f"{row['ratio_median']:.1f} times the speed of drawing the scores with NumPy "
            f"({row['ratio_low']:.1f} to {row['ratio_high']:.1f}, one thread{where}), "
            f"{1e9 * per_score:.1f} ns per score. 10⁵ replicates of every point cost "
            f"{60 * hours:.0f} core-minutes."
        )
    return lines


if __name__ == "__main__":
    main()
