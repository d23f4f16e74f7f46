"""G08 to G12, S08 to S12: sentences of Guo et al. and Gupta et al. that their tables decide.

G02, G04, G05 and S02 are decided so too; they are with the other claims of their papers.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from pipeline.claims.claim import claim
from pipeline.claims.run_tables import RunTables
from pipeline.claims.verdicts import (
    FEW,
    POINTS,
    RARE,
    Measurement,
    NotJudged,
    Ruling,
    Verdict,
    by_case,
)

SOURCE = "published_fits"
BY_PRINT = "The printed table decides: the sentence is about it."
IN_ROWS = f"reproduced if in all but {RARE:.0%} of the rows, approximate if in more than half"
GUO_TABLE, GUPTA_TABLE = "Guo et al. 2017, Table 1", "Gupta et al. 2021, Table 1"
ROUNDING = "rounding of the printed digits"
BINNING = ["histogram_binning", "isotonic_regression", "bbq"]
TEMPERATURE, SPLINE = "temperature_scaling", "spline"
NLP = ["dan3_20news", "dan3_reuters", "treelstm_sst2", "treelstm_sst5"]
TYPICAL_PERCENT = (4.0, 10.0)  # "ECE typically between 4 to 10 %"
LOW_PERCENT = 1.0
MARGINAL_POINTS = 0.3  # "the gap is marginal (< 0.3 %)"
ROUNDING_POINTS = 1e-9  # of sums of printed decimals
COMPARABLE = (
    f"Comparable is: at most {MARGINAL_POINTS:g} points, which Gupta et al. call marginal, above "
    "the median of the other methods of the row"
)
LENET, DEEP, OTHER_LENET = "lenet5_c100", "resnet110_c100", "lenet5_c10"


def printed(run: RunTables, source: str, measure: str, row: str = "printed") -> pd.DataFrame:
    """Return a printed table, models × methods in percent, from table ``printed_tables``.

    With ``row`` "computed" what this run computes in its place.
    """
    table = run.table("printed_tables")
    is_here = (table["published_source"] == source) & (table["measure"] == measure)
    rows = table[is_here & (table["row"] == row)].set_index("model")
    columns = [name for name in rows if name.endswith("_percent")]
    values = rows[columns].astype(float).rename(columns=lambda name: name.removesuffix("_percent"))
    if values.empty:
        raise NotJudged(f"table printed_tables lacks {measure} of {source}")
    return values.dropna(axis=1, how="all")


def guo(run: RunTables) -> pd.DataFrame:
    """Return Table 1 of Guo et al."""
    return printed(run, GUO_TABLE, "ece")


def own_runs(
    run: RunTables, source: str, measure: str, holds: Callable[[pd.DataFrame], pd.Series]
) -> list[Measurement]:
    """Return for how many rows that this run computes a condition holds; they do not count."""
    try:
        table = printed(run, source, measure, "computed")
    except NotJudged:
        return []
    table = table.reindex(columns=printed(run, source, measure).columns)
    table = table.dropna(subset=[TEMPERATURE])
    if table.empty:
        return []
    held = holds(table)
    return [Measurement("computed in this run, does not count", held.sum(), f"of {len(held)} rows")]


def consistently(holds: pd.Series) -> Verdict:
    """Return the verdict on 'consistently' of printed rows, as IN_ROWS words it."""
    return Verdict.of(holds.mean() >= 1 - RARE, holds.mean() > 0.5)


def ruling(verdict: Verdict, measurements: Sequence[Measurement], reason: str) -> Ruling:
    """Return the Ruling of printed numbers."""
    return Ruling(verdict, measurements, SOURCE, reason=reason)


def count(name: str, holds: pd.Series) -> Measurement:
    """Return the Measurement of how many printed rows fulfil a condition."""
    return Measurement(name, holds.sum(), f"of {len(holds)} rows")


def comparable(table: pd.DataFrame, method: str) -> tuple[pd.Series, list[Measurement]]:
    """Return for which rows a method is comparable, as COMPARABLE words it, and the counts."""
    others = table.drop(columns=["uncalibrated", method])
    excess = table[method] - others.median(axis=1)
    holds = excess <= MARGINAL_POINTS + ROUNDING_POINTS
    return holds, [count("comparable", holds), count("not above the median", excess <= 0)]


@claim("G08", "Guo §1, Fig 1", "printed_tables")
def lenet_is_calibrated(run: RunTables) -> Ruling:
    """A five-layer LeNet is well calibrated where a deep network is not (CIFAR-100).

    published: ECE of 4.85 % (LeNet-5) and 16.53 % (ResNet-110)
    rule: Table 1 of Guo et al., before recalibration. Two conditions: the ECE of LeNet-5 on
    CIFAR-100 is below {TYPICAL_PERCENT[0]:g} %, the least that §5 calls typical of miscalibrated
    networks; it is below that of ResNet-110. Reproduced if both hold, approximate if one does. The
    LeNet-5 of Gupta et al. and the one that ships are other networks and shown beside.
    errors: {ROUNDING}
    """
    ece = guo(run)["uncalibrated"]
    ks = printed(run, GUPTA_TABLE, "ks_top1")["uncalibrated"]
    measurements = by_case("printed ECE", dict(ece[[LENET, DEEP]]), "percent")
    measurements.append(Measurement("KS that Gupta et al. print", ks[LENET], "percent", LENET))
    table = run.tables.get("replication")
    if table is not None:
        is_uncalibrated = (table["measure"] == "ece") & (table["method"] == "uncalibrated")
        rows = table[is_uncalibrated & (table["model"] == OTHER_LENET)]
        name = "ECE of a network that ships"
        measurements += by_case(name, dict(zip(rows["model"], rows["value_percent"], strict=True)),
                                "percent")  # fmt: skip
    conditions = [ece[LENET] < TYPICAL_PERCENT[0], ece[LENET] < ece[DEEP]]
    reason = (
        f"the printed ECE of LeNet-5 is {ece[LENET]:g} %, inside the {TYPICAL_PERCENT[0]:g} to "
        f"{TYPICAL_PERCENT[1]:g} % called miscalibrated"
    )
    return ruling(Verdict.all_or_some(conditions), measurements, reason)


@claim("G09", "Guo §5, Table 1", "printed_tables")
def ece_is_typically_4_to_10(run: RunTables) -> Ruling:
    """Networks have an ECE of 4 to 10 % typically; two data sets have less than 1 %.

    published: 19 networks
    rule: Table 1 of Guo et al., before recalibration. Two conditions: more than half of the rows
    are between {TYPICAL_PERCENT[0]:g} and {TYPICAL_PERCENT[1]:g} %; exactly two are below
    {LOW_PERCENT:g} %, SVHN and Reuters. Reproduced if both hold, approximate if one does.
    errors: {ROUNDING}
    """
    ece = guo(run)["uncalibrated"]
    inside, low = ece.between(*TYPICAL_PERCENT), ece < LOW_PERCENT
    measurements = [
        count("between 4 and 10 %", inside),
        count("above 10 %", ece > TYPICAL_PERCENT[1]),
        count("below 1 %", low),
    ]
    two = {name.rpartition("_")[2] for name in ece.index[low]} == {"svhn", "reuters"}
    reason = f"{inside.sum()} of {len(ece)} rows are between 4 and 10 %, {low.sum()} below 1 %"
    return ruling(Verdict.all_or_some([inside.mean() > 0.5, two]), measurements, reason)


@claim("G10", "Guo §5, Table 1", "printed_tables")
def temperature_is_comparable(run: RunTables) -> Ruling:
    """On the NLP data sets temperature scaling performs comparably to other methods.

    published: four rows
    rule: Table 1 of Guo et al., 20 News, Reuters and both of SST. {COMPARABLE}. Reproduced if so in
    all four rows, approximate if in most.
    errors: {ROUNDING}
    """
    table = guo(run).loc[NLP]
    holds, counts = comparable(table, TEMPERATURE)
    excess = table[TEMPERATURE] - table.drop(columns=["uncalibrated", TEMPERATURE]).min(axis=1)
    measurements = [
        *counts,
        *by_case("ECE above the lowest of the others", dict(excess), POINTS),
    ]
    reason = f"comparable in {holds.sum()} of {len(holds)} rows"
    return ruling(Verdict.of(holds.all(), holds.mean() > 0.5), measurements, reason)


@claim("G11", "Guo §5, Table 1", "printed_tables")
def one_method_improves_reuters(run: RunTables) -> Ruling:
    """Temperature scaling fails to calibrate on Reuters alone, where one method improves.

    published: 0.85 % before, 0.91 % after temperature scaling, 0.66 % after vector scaling
    rule: Table 1 of Guo et al. Two conditions: Reuters is the one row whose ECE is not lower after
    temperature scaling; exactly one method lowers it there. Reproduced if both hold, approximate if
    one does.
    errors: {ROUNDING}
    """
    table = guo(run)
    worse = table.index[table[TEMPERATURE] >= table["uncalibrated"]]
    row = table.loc["dan3_reuters"]
    better = (row.drop("uncalibrated") < row["uncalibrated"]).sum()
    measurements = [
        Measurement("rows that temperature scaling does not improve", len(worse)),
        Measurement("methods that improve Reuters", better),
    ]
    reason = f"{len(worse)} rows do not improve, and {better} methods improve Reuters"
    conditions = [[*worse] == ["dan3_reuters"], better == 1]
    return ruling(Verdict.all_or_some(conditions), measurements, reason)


@claim("G12", "Guo §5, Table 1", "printed_tables")
def binning_does_not_outperform(run: RunTables) -> Ruling:
    """Binning methods improve the calibration on most data sets but do not outperform temperature
    scaling.

    published: Table 1: 19 rows, three binning methods
    rule: Table 1 of Guo et al.: most of the 57 cells of histogram binning, isotonic regression and
    BBQ are below the uncalibrated ECE, and each method is below temperature scaling in at most
    {RARE:.0%} of the 19 rows. Approximate if most of the methods are in at most {FEW:.0%}. The best
    of three methods chosen by row is shown: it wins more often than a method does.
    errors: {ROUNDING}
    """
    table = guo(run)
    improves = table[BINNING].lt(table["uncalibrated"], axis=0)
    beats = table[BINNING].lt(table[TEMPERATURE], axis=0)
    shares = beats.mean()
    measurements = [
        Measurement("cells that improve", improves.sum().sum(), f"of {improves.size}"),
        *by_case("rows of 19 in which it is below temperature scaling", dict(beats.sum())),
        count("the best of the three is below temperature scaling", beats.any(axis=1)),
        *by_case("mean ECE", dict(table[[*BINNING, TEMPERATURE]].mean()), "percent"),
    ]
    most = improves.mean(axis=None) > 0.5
    words = [f"{name} {n}" for name, n in beats.sum().items()]
    reason = f"rows of {len(beats)} below temperature scaling: {', '.join(words)}"
    verdict = Verdict.of(most and (shares <= RARE).all(), most and (shares <= FEW).mean() > 0.5)
    return ruling(verdict, measurements, reason)


@claim("S08", "Gupta abstract, Table 6", "printed_tables")
def spline_has_the_lowest_ece(run: RunTables) -> Ruling:
    """The spline outperforms existing methods on the ECE too.

    published: Table 6, ECE of 25 bins, 13 rows
    rule: {BY_PRINT} Table 6: rows in which the spline's ECE is the lowest of all methods:
    {IN_ROWS}.
    errors: {ROUNDING}
    """
    table = printed(run, "Gupta et al. 2021, Table 6", "ece25")
    lowest = table[SPLINE] <= table.min(axis=1)
    behind = table[SPLINE] > table[TEMPERATURE]
    measurements = [count("lowest", lowest), count("behind temperature scaling", behind)]
    reason = (
        f"lowest in {lowest.sum()} of {len(lowest)} printed rows, behind temperature scaling in "
        f"{behind.sum()}"
    )
    return ruling(consistently(lowest), measurements, reason)


@claim("S09", "Gupta Table 7", "printed_tables")
def spline_has_the_lowest_of_other_measures(run: RunTables) -> Ruling:
    """On ImageNet the spline outperforms all baselines on KDE-ECE, MCE and Brier score.

    published: consistently; six rows
    rule: Table 7, three measures of two networks: reproduced if the spline has the lowest value in
    all six rows, approximate if in most.
    errors: {ROUNDING}
    """
    source = "Gupta et al. 2021, Table 7"
    tables = {name: printed(run, source, name) for name in ("kde_ece", "mce25", "brier_top_label")}
    lowest = pd.concat({name: x[SPLINE] <= x.min(axis=1) for name, x in tables.items()})
    failing = [" of ".join(key) for key in lowest.index[~lowest]]
    reason = f"not lowest: {', '.join(failing) or 'none'}"
    verdict = Verdict.of(lowest.all(), lowest.mean() > 0.5)
    return ruling(verdict, [count("lowest", lowest)], reason)


@claim("S10", "Gupta §6, Table 1", "printed_tables")
def spline_beats_the_regularised_matrices(run: RunTables) -> Ruling:
    """The spline has a lower KS error than MS-ODIR and Dir-ODIR in all experiments.

    published: in all the experiments; 13 rows
    rule: Table 1: reproduced if the spline is below both in all rows, approximate if below both in
    most.
    errors: {ROUNDING}
    """
    table = printed(run, GUPTA_TABLE, "ks_top1")
    below = table[SPLINE] < table[["ms_odir", "dir_odir"]].min(axis=1)
    some = ", ".join(below.index[~below][:2])
    reason = f"below both in {below.sum()} of {len(below)} printed rows, not for {some}"
    verdict = Verdict.of(below.all(), below.mean() > 0.5)
    return ruling(verdict, [count("below both", below)], reason)


@claim("S11", "Gupta §6, Table 1", "printed_tables")
def spline_is_second(run: RunTables) -> Ruling:
    """Where temperature scaling has the lower KS error the gap is below 0.3 points and the spline
    is second.

    published: marginal gap, second best; 4 of 13 rows
    rule: Table 1, the rows in which temperature scaling is below the spline. Two conditions: the
    gap is below {MARGINAL_POINTS:g} points in all of them; the spline is second of the methods in
    all. Reproduced if both hold, approximate if one does.
    errors: {ROUNDING}
    """
    table = printed(run, GUPTA_TABLE, "ks_top1")
    rows = table[table[TEMPERATURE] < table[SPLINE]]
    gap = rows[SPLINE] - rows[TEMPERATURE]
    ranks = rows.drop(columns="uncalibrated").rank(axis=1)[SPLINE]
    measurements = [
        *by_case("place of the spline", dict(ranks), "of 5"),
        *by_case("gap to temperature scaling", dict(gap), POINTS),
    ]
    second = (ranks == 2).all()
    reason = (
        f"the gap is at most {gap.max():.2f} points, and the spline second in "
        f"{(ranks == 2).sum()} of {len(ranks)} rows"
    )
    conditions = [bool((gap < MARGINAL_POINTS).all()), bool(second)]
    return ruling(Verdict.all_or_some(conditions), measurements, reason)


@claim("S12", "Gupta supplement, Table 4", "printed_tables")
def spline_is_comparable_within_two(run: RunTables) -> Ruling:
    """For the two best labels together the spline is comparable or better.

    published: 13 rows
    rule: Table 4, KS error within the top two. {COMPARABLE}. Reproduced if so in all rows,
    approximate if in most.
    errors: {ROUNDING}
    """
    table = printed(run, "Gupta et al. 2021, Table 4", "ks_within_top2")
    holds, counts = comparable(table, SPLINE)
    ranks = table.drop(columns="uncalibrated").rank(axis=1)[SPLINE]
    measurements = [
        *counts,
        count("lowest of five", ranks == 1),
        count("highest of five", ranks == np.sum(table.columns != "uncalibrated")),
    ]
    reason = f"comparable or better in {holds.sum()} of {len(holds)} printed rows"
    return ruling(Verdict.of(holds.all(), holds.mean() > 0.5), measurements, reason)
