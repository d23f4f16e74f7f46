"""C05 to C08: numbers of simulations come out as other papers print them."""

from functools import partial

import numpy as np
import pandas as pd

from pipeline.claims.claim import Claim, claim
from pipeline.claims.run_tables import RunTables
from pipeline.claims.verdicts import Measurement, NotJudged, Ruling, Verdict, by_case

LARGEST, USUAL, NEARLY_ALL, MOST = 4.5, 3.0, 0.99, 0.9
RATIO = 10  # of our error to the printed one, at most
RULE = (
    "Table printed_simulations, the paper's rows with a printed number. z is the difference over "
    "the Monte Carlo errors of both, the rounding of the printed one and, where that rests on a "
    "critical value of 1000 null data sets, the change of the rate by one standard error of its "
    f"level. Reproduced if no |z| exceeds {LARGEST:g} and {NEARLY_ALL:.0%} are up to {USUAL:g}, "
    f"approximate if {MOST:.0%} are."
)


def agrees(run: RunTables, paper: str) -> Ruling:
    """Return the Ruling on the printed numbers of a paper."""
    table = run.table("printed_simulations").query("paper == @paper and z == z")
    if (table["error"] / table["printed_error"]).median() > RATIO or table.empty:
        raise NotJudged(f"the rule wants errors of at most {RATIO} times the printed ones")
    size = table["z"].abs()
    share = (size <= USUAL).mean()
    kinds = table["quantity"].str.replace(r" level=.*", "", regex=True)
    rms = np.sqrt((table["z"] ** 2).groupby(kinds, sort=False).mean())
    measurements = [
        Measurement("numbers compared", len(table)),
        Measurement(f"|z| up to {USUAL:g}", 100 * share, "percent"),
        Measurement("largest |z|", size.max(), case=_words(table.loc[size.idxmax()])),
        *by_case("root mean square of z", rms),
        Measurement("largest error of a printed number", table["printed_error"].max()),
    ]
    far = "; ".join(_words(row) for _, row in table[size > USUAL].iterrows())
    notes = [f"|z| above {USUAL:g}: {far}"] if far else []
    verdict = Verdict.of(size.max() <= LARGEST and share >= NEARLY_ALL, share >= MOST)
    reason = f"{(size > USUAL).sum()} of {len(table)} numbers differ by more than {USUAL:g} errors"
    return Ruling(verdict, measurements, "simulation", notes, reason=reason)


def _words(row: pd.Series) -> str:
    return f"{row['quantity']}, {row['cell']}"


def _claim(id: str, paper: str, where: str, says: str, published: str) -> Claim:
    make = claim(id, where, "printed_simulations", paper, says=says, published=published,
                 rule=RULE, errors="see the rule")  # fmt: skip
    return make(partial(agrees, paper=paper))


C05 = _claim(
    "C05", "widmann2019", "Widmann et al. 2019",
    "Errors of all classes and the errors of tests by consistency resampling, which rejects every "
    "calibrated model of ten classes, come out as printed",
    "640 means, 1435 rates; SKCE and dynamic cells up to 10 classes and tests of ECE_uniform are "
    "compared",
)  # fmt: skip
C06 = _claim("C06", "arrieta2022", "Arrieta-Ibarra et al. 2022",
             "MAD and R of the data set by its formula come out to every printed digit",
             "0.01243, 5.512, 0.02291, 10.16")  # fmt: skip
C07 = _claim("C07", "tcal2023", "Lee et al. 2023",
             "Type II errors of T-Cal, the ECE and a logistic line on waves come out as printed",
             "80 rates, one critical value for all waves of a size")  # fmt: skip
C08 = _claim("C08", "henzi2023", "Henzi et al. 2023",
             "Rejections of Hosmer and Lemeshow's test come out as printed, with 9 degrees of "
             "freedom where 10 are right", "102 rates; .093 and .074 at nominal .05")  # fmt: skip
