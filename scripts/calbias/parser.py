"""The options of ``calbias``. One that several commands have means the same in each."""

import argparse
import contextlib
import sys
from functools import partial
from typing import Any, NoReturn

from calbias.defaults import CONFIDENCE_LEVEL, FORMS, N_BINS
from calbias.errors import printable
from calbias.outcome_options import add_outcomes


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Exit with one line, as for every other mistake in the input."""
        self.exit(2, f"error: {printable(message)}; see {self.prog} --help\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write the help; argparse would hide that the stream is full."""
        (file or sys.stderr).write(message)


def parser() -> argparse.ArgumentParser:
    """Return the parser, which puts the name of the command into ``command``."""
    import calbias

    result = _Parser(
        prog="calbias",
        description="How miscalibrated is a model, how sure is that, and how many labels does it "
        "take to know?",
        epilog="Exit status: 0 if all went well, 2 for a mistake in the input, 1 for any other "
        "failure, such as a lack of memory, room or access. --within has 0 for yes, 3 for no and 4 "
        "for undecided; watch has 3 after an alarm.",
    )
    result.add_argument("--version", action="version", version=f"calbias {calbias.__version__}")
    commands = result.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    _add_audit(commands)
    _add_recalibrate(commands)
    _add_plan(commands)
    _add_compare(commands)
    _add_watch(commands)
    _add_check(commands)
    commands.add_parser(
        "example",
        help="print a file to try the others on: calbias example > example.csv",
        description="Print the predictions of a classifier of snacks: score, label, prediction.",
    )
    return result


def _add_audit(commands: Any) -> None:
    audit = commands.add_parser(
        "audit",
        help="judge the calibration of a file of predictions",
        description="Print one line and write a page (.html) and the same numbers (.json): whether "
        "the model is miscalibrated and how, its calibration error with an interval, what to do.",
        epilog="FILE has the columns score and hit (1 where the prediction was correct); or score, "
        "label and prediction; or label and a column per class, logits or probabilities. With two "
        "classes the probability of class 1, an event, is judged. NPZ files have arrays of these "
        "names. A Parquet file or folder of more than 500 000 rows of scores is read in parts. "
        "Where a file may mean several things, each is a line with its options.",
    )
    audit.add_argument("file", metavar="FILE", nargs="+",
                       help="CSV, JSON lines, Parquet or NPZ; - for stdin; or several "
                       "tables")  # fmt: skip
    _add_columns(audit)
    add_outcomes(audit)
    _add_by(audit, "look for subgroups that are miscalibrated")
    audit.add_argument("--map", metavar="MAP",
                       help="audit the scores after this map of calbias recalibrate")  # fmt: skip
    audit.add_argument("--class-wise", action="store_true", help="audit each class too")
    _add_within(audit, "PERCENT", "is the error at most so many percent?")
    audit.add_argument("--norm", type=float, default=1.0, help="p of the ℓp error, 1 or 2 (1)")
    audit.add_argument("--n-bins", type=int, default=N_BINS, help="number of bins of the ECE (15)")
    _add_level(audit)
    audit.add_argument("--estimators", nargs="+", metavar="NAME", default=[],
                       help="show the bias of these estimators on these scores")  # fmt: skip
    audit.add_argument("--all", action="store_true", help="show the bias of all estimators")
    audit.add_argument("--replicates", type=int, default=200,
                       help="data sets that show a bias (200)")  # fmt: skip
    _add_results(audit, "STEM.html and STEM.json (FILE without its suffix)")


def _add_recalibrate(commands: Any) -> None:
    recalibrate = commands.add_parser(
        "recalibrate",
        help="correct scores: fit a map, say what it gains, apply it to other files",
        description="Fit the recalibration that an audit advises, or another one, say what it "
        "gains on rows that it was not fitted on, and write the map as JSON. With --apply make "
        "recalibrated scores of a file that may have no outcomes.",
        epilog="With --apply the table is written as CSV with columns whose names start with "
        "calbias_: calbias_score, or calbias_p_0, calbias_p_1, …, the probabilities of the classes "
        "after temperature and vector.",
    )
    recalibrate.add_argument("file", metavar="FILE", help="a file as for audit; - for stdin")
    recalibrate.add_argument("--method", metavar="METHOD",
                             help="shift, slope, platt, beta, isotonic, spline; of logits and "
                             "class probabilities also temperature or vector (what an audit "
                             "advises)")  # fmt: skip
    recalibrate.add_argument("--apply", metavar="MAP", help="apply this map instead of a fit")
    _add_columns(recalibrate)
    add_outcomes(recalibrate)
    _add_by(recalibrate, "a map of each subgroup that differs, and one of the other rows")
    _add_results(recalibrate, "the map as STEM.json (FILE_map), or with --apply the table as "
                 "STEM.csv (stdout)")  # fmt: skip


def _add_plan(commands: Any) -> None:
    plan = commands.add_parser(
        "plan",
        help="how many labels a study needs",
        description="Labels needed, by closed form, with the power simulated at that number.",
    )
    source = plan.add_mutually_exclusive_group(required=True)
    source.add_argument("--scores", metavar="FILE", help="a file as for audit")
    source.add_argument("--beta", nargs=2, type=float, metavar=("A", "B"), help="Beta(A, B) scores")
    source.add_argument("--normal", nargs=2, type=float, metavar=("MEAN", "SD"),
                        help="normal log odds of the scores")  # fmt: skip
    plan.add_argument(
        "--detect", nargs="*", type=_fraction, default=[0.01, 0.02, 0.05], metavar="POINTS",
        help="true errors to detect, in points (1 2 5); without a number none",
    )  # fmt: skip
    plan.add_argument("--power", type=_fraction, default=0.8, metavar="PERCENT",
                      help="with this probability, in percent (80)")  # fmt: skip
    _add_columns(plan)
    add_outcomes(plan)
    plan.add_argument("--slope-width", type=float, default=0.1, metavar="X",
                      help="slope to ± this number (0.1)")  # fmt: skip
    plan.add_argument("--gap-width", type=_fraction, default=0.01, metavar="POINTS",
                      help="mean gap to ± points (1)")  # fmt: skip
    event = plan.add_argument_group("a risk model, by the criteria of Riley et al. (2021)")
    event.add_argument("--prevalence", type=_fraction, metavar="PERCENT",
                       help="of the event, in percent (the mean score)")  # fmt: skip
    for name, text in (
        ("--oe-width", "observed/expected, a ratio, to ± this, half its interval's width"),
        ("--c-width", "c statistic, a number from 0.5 to 1, to ± this"),
        ("--c-statistic", "expected c statistic (of calibrated scores)"),
    ):
        event.add_argument(name, type=float, metavar="X", help=text)
    _add_results(plan, "the table as STEM.csv, and all as STEM.json (not written)")


def _add_compare(commands: Any) -> None:
    compare = commands.add_parser(
        "compare",
        help="which of two models or more is better calibrated, on the same rows",
        description="Difference of the calibration errors (ℓ1) with an interval and a p-value, and "
        "of the Brier scores. More than two models make a board: all pairs at one level, and how "
        "many rows would tell them from each other.",
    )
    compare.add_argument("first", metavar="FIRST", help="a file as for audit")
    compare.add_argument("second", metavar="SECOND", nargs="*",
                         help="the same rows of other models, or columns of FIRST")  # fmt: skip
    _add_columns(compare, action="append", default=[])
    add_outcomes(compare, is_shown=False)
    compare.add_argument("--id", metavar="COLUMN", help="join the rows of the files by this column")
    _add_by(compare, "in which subgroups do they differ")
    _add_within(compare, "POINTS", "is FIRST no worse than SECOND by more than so many points?")
    _add_level(compare)
    _add_results(compare, "STEM.html and STEM.json, and of a board STEM.csv (not written)")


def _add_watch(commands: Any) -> None:
    watch = commands.add_parser(
        "watch",
        help="since when is a model miscalibrated? An alarm that may be read every day",
        description="Print one line and write a page: the evidence over time, the alarm, when the "
        "change began, what is wrong. A calibrated model has an alarm with a probability of at "
        "most the level, however many rows are watched.",
        epilog="Exit status: 0 without an alarm, 3 after one, 2 for a mistake in the input, 1 for "
        "any other failure. After an alarm STATE keeps it: start with a new file once the model is "
        "corrected. To repeat a run give it the STATE of the run before, of which you keep a copy.",
    )
    watch.add_argument("file", metavar="FILE", help="a table as for audit, in the order of time")
    watch.add_argument("--time", metavar="COLUMN", required=True, help="dates, times or numbers")
    _add_columns(watch)
    help = "watch each value of these columns too, at one level for all"
    watch.add_argument("--by", metavar="COLUMN", nargs="+", action="extend", default=[], help=help)
    watch.add_argument("--level", type=partial(_fraction, least=1e-98), default=0.05,
                       metavar="PERCENT", help="rate of false alarms, in percent (5)")  # fmt: skip
    watch.add_argument("--state", metavar="STATE",
                       help="continue the state in this file, if it exists, and write it: each "
                       "month's file is then watched once")  # fmt: skip
    _add_results(watch, "STEM.html and STEM.json (FILE-watch)")


def _add_check(commands: Any) -> None:
    check = commands.add_parser(
        "check",
        help="does an estimator of your own do what every estimator must",
        description="Try the estimators of a file on small data: one row, ties, all hits, scores "
        "of exactly 0 and 1, the same rows twice, weights. A failure is one line with the "
        "smallest data that show it.",
    )
    check.add_argument("file", metavar="FILE", help="a Python file that defines estimate")
    check.add_argument("--limit", type=float, default=120.0, metavar="SECONDS",
                       help="time that all checks may take (120)")  # fmt: skip
    check.add_argument("--seconds", type=float, default=1.0,
                       help="time that an estimate of 10 000 rows may take (1)")  # fmt: skip


def _add_columns(parser: argparse.ArgumentParser, **score_options: Any) -> None:
    """Add what says how a file is read: the same in all commands that read one."""
    again = "; again for the second model" * bool(score_options)
    help = f"the column of the scores{again}"
    parser.add_argument("--score", metavar="COLUMN", help=help, **score_options)
    for name, what in {
        "hit": "hits: 1 or correct, 0 or wrong",
        "label": "true classes, numbers or names",
        "prediction": "predicted classes",
    }.items():
        parser.add_argument(f"--{name}", metavar="COLUMN", help=f"the column of the {what}")
    parser.add_argument("--event", metavar="LABEL",
                        help="the label whose probability is judged (1, yes or true)")  # fmt: skip
    parser.add_argument("--classes", metavar="COLUMN", nargs="+", action="extend", default=[],
                        help="the columns of the classes, each as COLUMN, LABEL=COLUMN or a "
                        "pattern such as 'p_*'")  # fmt: skip
    parser.add_argument("--count-from", type=int, metavar="N",
                        help="labels that are numbers count the classes from N (0)")  # fmt: skip
    parser.add_argument("--missing", metavar="VALUE", action="append", default=[],
                        help="leave out rows with this outcome, such as -100 or None; drop stands "
                        "for an empty score or outcome; again for further ones")  # fmt: skip
    parser.add_argument("--values", choices=FORMS,
                        help="what scores, or columns of classes, are (detected)")  # fmt: skip
    parser.add_argument("--rows", metavar="COLUMN=VALUE", action="append", default=[],
                        help="judge these rows alone, such as split=test; again for rows of which "
                        "both hold")  # fmt: skip
    parser.add_argument("--cluster", metavar="COLUMN", action="append", default=[],
                        help="ids of patients, questions, games or users whose rows depend on "
                        "each other; again for a pair of columns")  # fmt: skip
    parser.add_argument("--top-label", action="store_true",
                        help="with two classes judge the predicted one, not class 1")  # fmt: skip


def _add_by(parser: argparse.ArgumentParser, purpose: str) -> None:
    several: dict[str, Any] = {"metavar": "COLUMN", "nargs": "+", "action": "extend", "default": []}
    parser.add_argument("--by", help=f"{purpose}: values of these columns, and pairs", **several)
    parser.add_argument("--codes", help="columns of --by whose numbers are codes", **several)


def _add_results(parser: argparse.ArgumentParser, files: str) -> None:
    """Add what says which files are written, what is shown on the way, and the seed."""
    parser.add_argument("--output", metavar="STEM", help=f"write {files}")
    parser.add_argument("--force", action="store_true", help="replace files of other programs")
    parser.add_argument("--seed", type=int, default=0, help="seed of all random numbers (0)")
    parser.add_argument("--quiet", action="store_true", help="no progress and notes on stderr")


def _add_within(parser: argparse.ArgumentParser, metavar: str, question: str) -> None:
    answers = "yes (exit status 0), no (3) or undecided (4)"
    parser.add_argument("--within", type=_fraction, metavar=metavar, help=f"{question} {answers}")


def _fraction(text: str, least: float = 0.0) -> float:
    """Return the fraction of a percentage; between 0 and 1 it may be meant as a fraction."""
    number = text.removesuffix("%")
    with contextlib.suppress(ValueError):
        percent = float(number)
        if 0.0 < percent < 1.0 and number == text:
            other = f"{100 * percent:.12g}"
            raise argparse.ArgumentTypeError(
                f"{text} could be {other} % or {text} %: write {other} or {text}%"
            )
        if least <= percent < 100.0:
            return percent / 100
    example = 95 if least > 5.0 else 5
    raise argparse.ArgumentTypeError(
        f"must be a percentage from {least:g} to below 100, such as {example}, not {text}"
    )


_LEVEL = partial(_fraction, least=50.0)


def _add_level(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--confidence-level", type=_LEVEL, default=CONFIDENCE_LEVEL,
                        metavar="PERCENT", help="of the interval, in percent (95)")  # fmt: skip
