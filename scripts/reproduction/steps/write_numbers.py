"""The findings of a run in sentences, for README, docs/papers/results.md and the front page."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from calbias.errors import InputError
from pipeline.claims.verdicts import Verdict
from pipeline.paper import MODEL_SIZES, MODELS
from pipeline.report import PAPERS, counted, stated_by
from pipeline.tables import read_table
from pipeline.write_results import write_text
from reproduction.verdict_summary import sentences

BEGIN, END = "<!-- numbers: begin", "<!-- numbers: end -->"
MARKED = re.compile(rf"({BEGIN}([\w ]*)[^\n]*\n).*?({END})", re.DOTALL)
OURS = "calbias"
DIFFERENCE = "|debias_em| − |sweep_em| on the "
N_SCORES = len(MODELS) * sum(MODEL_SIZES)  # of a replicate of Figure 4


def write_numbers(
    *,
    tables: Path = Path("results/tables"),
    machine: str = "",
    documents: list[Path],
) -> None:
    """Write the numbers that README.md and docs/papers/results.md quote, from the result tables.

    They stand between markers; the first of a pair names the topics: ``<!-- numbers: begin bias``.
    A part stays as it is where the folder lacks a table of its topics.

    tables: folder of result tables
    machine: machine and date of the benchmark, in words
    documents: files to change
    """
    paths = sorted(tables.glob("*.csv"))
    contents = {path.stem: read_table(path) for path in paths}
    for document in documents:
        if not document.is_file():
            raise InputError(f"{document}: there is no such file")
        text = document.read_text(encoding="utf-8")
        if not MARKED.search(text):
            raise InputError(f"{document}: put the lines {BEGIN} … --> and {END} into it")
        write_text(document, MARKED.sub(partial(_quoted, contents, machine), text))


def _quoted(tables: dict[str, pd.DataFrame], machine: str, marked: re.Match[str]) -> str:
    """Return a marked part of a document with the findings of its topics."""
    begin, topics, end = marked.groups()
    if any(not {*TOPICS[topic][0]} <= {*tables} for topic in topics.split()):
        return marked[0]
    quoted = findings(tables, machine, tuple(topics.split()))
    return begin + "".join(f"- **{title}**{text}\n" for title, text in quoted) + end


class Statement(NamedTuple):
    """A finding: a title and the sentences that follow it, with numbers of the result tables."""

    title: str
    text: str


def findings(
    tables: dict[str, pd.DataFrame], machine: str = "", topics: tuple[str, ...] = ()
) -> list[Statement]:
    """Return the findings of these ``topics``, of all if none, that the tables allow."""
    return [
        finding
        for topic, (names, findings_of) in TOPICS.items()
        if {*names} <= {*tables} and (not topics or topic in topics)
        for finding in findings_of(*(tables[name] for name in names), machine)
    ]


def _claims(claims: pd.DataFrame, measurements: pd.DataFrame, _: str) -> Iterator[Statement]:
    ours = stated_by(claims, PAPERS[0])
    yield Statement(f"The paper's {len(ours)} claims", f": {counted(ours)}.")
    for sentence in sentences(claims, measurements):
        yield Statement(sentence.head, f": {sentence.text}.")


def _networks(claims: pd.DataFrame, _: str) -> Iterator[Statement]:
    for row in claims.astype(object).fillna("").itertuples():
        verdict = (
            "does not carry over"
            if row.verdict == Verdict.NOT_REPRODUCED
            else Verdict(row.verdict).words
        )
        parts = re.findall(r"on those drawn (\w+) (?:it )?(does not carry over|\w+): ", row.note)
        others = ", ".join(f"{drawn}: {other}" for drawn, other in parts if other != verdict)
        verdict += f" ({others})" * bool(others)
        yield Statement(f"{row.id}", f", {verdict}: {row.claim.partition(': ')[2]}.")


def _truth(measurements: pd.DataFrame, _: str) -> Iterator[Statement]:
    rows = measurements[measurements["name"] == f"{DIFFERENCE}truth"]
    for row in rows[rows["case"].str.startswith("drawn at random")].itertuples():
        n = row.case.removeprefix("drawn at random (").removesuffix("):")
        nearer = "debias" if row.value < 0 else "the sweep"
        yield Statement(
            "Debias or sweep: a formula says which is nearer.",
            " Debias loses what its bins do not see. The sweep loses the same and gets the noise "
            "of its bins back, which is too much where labels are noisy. No constant is fitted, "
            "and the sign was right on all 36 new networks and laws where the difference is above "
            "0.05 points, predicted before they were measured "
            "([rule](docs/tool/debias_or_sweep.md)). "
            f"On {n} networks drawn at random {nearer} is nearer by {abs(row.value):.3f} ± "
            f"{row.error:.3f} points ([other statements](networks/docs/trained_networks.md)).",
        )


def _floor(measurements: pd.DataFrame, _: str) -> Iterator[Statement]:
    mean = _measured(measurements, "R01", "mean ECE_bin at TCE 0, n = 200")
    if mean is not None:
        yield Statement(
            "A calibrated model looks miscalibrated.",
            f" Its ECE (ℓ2, 15 equal-width bins) on 200 samples is {mean:.1f} % on average, with "
            "scores like those of a network on CIFAR-10. The true error is 0.",
        )


def _prediction(measurements: pd.DataFrame, _: str) -> Iterator[Statement]:
    share = _measured(measurements, "C01", "share explained", "curve fitted on the subsample")
    answers = "share explained, answers of language models"
    on_answers = _measured(measurements, "C01", answers, "curve fitted on the subsample")
    if share is not None:
        more = "" if on_answers is None else f", {on_answers:.0f} % on answers of language models"
        yield Statement(
            "The bias can be computed from your own scores.",
            f" The computed bias explains {share:.0f} % of the bias that is seen on subsamples of "
            f"genuine score files of networks{more}.",
        )


def _coverage(measurements: pd.DataFrame, _: str) -> Iterator[Statement]:
    judged = "mean coverage, cells that it was not made on"
    names = ("percentile_bootstrap", "basic_bootstrap", "sun2024", OURS)
    values = [_measured(measurements, "C02", "mean coverage", name) for name in names]
    values.append(_measured(measurements, "C02", judged, OURS))
    if None not in values:
        bootstrap, basic, sun, ours, judging = (f"{value:.0f}" for value in values)
        yield Statement(
            "Percentile bootstrap intervals fail.",
            " An interval of 95 % should contain the true error in 95 of 100 data sets. Percentile "
            f"bootstrap: {bootstrap}. Basic bootstrap: {basic}. Sun et al. (2024): {sun}. "
            f"`calbias audit`: {ours}, and {judging} on settings that were not used to design it "
            "([what it assumes, and where it fails](docs/tool/audit.md#the-interval)).",
        )


def _measured(measurements: pd.DataFrame, claim: str, name: str, case: str = "") -> float | None:
    rows = measurements[(measurements["id"] == claim) & (measurements["name"] == name)]
    rows = rows[rows["case"].fillna("") == case]
    return None if rows.empty else float(rows["value"].iloc[0])


def _bias(tests: pd.DataFrame, _: str) -> Iterator[Statement]:
    pair = (tests["estimator_a"] == "ece_debias_em") & (tests["estimator_b"] == "ece_sweep_em")
    for test in tests[pair].itertuples():
        yield Statement(
            f"Bias, {test.experiment} calibration.",
            f" Mean absolute bias over {test.n_pairs} pairs of model and sample size: "
            f"ece_debias_em {test.mean_abs_bias_a_percent:.3f} %, "
            f"ece_sweep_em {test.mean_abs_bias_b_percent:.3f} % "
            f"(paired t = {test.t_statistic:.2f}, p = {test.p_value:.1g}).",
        )


def _speed(benchmark: pd.DataFrame, machine: str) -> Iterator[Statement]:
    where = f", {machine}" if machine else ""
    drawn = benchmark[benchmark["baseline"] == "numpy_beta_draw"].set_index("work")
    for work, what in (
        ("fig4_grid_six_binned", "bin, debias and sweep, each with equal width and equal mass"),
        ("fig4_grid_seven", "these six and the KDE"),
    ):
        if work not in drawn.index:
            continue
        row, narrow = drawn.loc[work], drawn["ratio_median"].get(f"{work}_avx2")
        avx2 = "" if narrow is None else f"; compiled for AVX2 {narrow:.1f}"
        per_score = row["seconds"] / row["n_scores"]
        yield Statement(
            "Speed.",
            f" Sampling and estimating all of Figure 4 with {what}: "
            f"{row['ratio_median']:.1f} times the speed of drawing the scores with NumPy "
            f"({row['ratio_low']:.1f} to {row['ratio_high']:.1f}, one thread{where}{avx2}), "
            f"{1e9 * per_score:.1f} ns per score. 10⁵ replicates of every point cost "
            f"{per_score * N_SCORES * 100_000 / 60:.0f} core-minutes.",
        )


TOPICS: dict[
    str, tuple[tuple[str, ...], Callable[..., Iterator[Statement]]]
] = {  # name: (tables, their findings)
    "floor": (("measurements",), _floor),
    "claims": (("claims", "measurements"), _claims),
    "networks": (("network_claims",), _networks),
    "truth": (("network_measurements",), _truth),
    "prediction": (("own_measurements",), _prediction),
    "coverage": (("own_measurements",), _coverage),
    "bias": (("paired_t_test",), _bias),
    "speed": (("benchmark",), _speed),
}
