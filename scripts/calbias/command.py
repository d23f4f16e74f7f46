"""The command line ``calbias``: audit, recalibrate, plan, compare, watch, check an estimator."""

import argparse
import math
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from calbias.io.command_line import command, say
from calbias.parser import parser


@command
def main(argv: Sequence[str] | None = None) -> None:
    """Run one subcommand; without one, print the help."""
    # Before NumPy: an audit's matrices are small, and threads would wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    options = parser().parse_args(argv)
    for name, value in vars(options).items():
        if value == "" or (isinstance(value, list) and "" in value):
            from calbias.errors import InputError

            raise InputError(f"{name.replace('_', '-')}: an empty text; name one, or leave it out")
    if options.command is None:
        parser().print_help()
        return
    _COMMANDS[options.command](options)


def _audit(options: Any) -> None:
    from calbias.file_audit import audit_file
    from calbias.outcome_options import outcome_columns

    names = ("output", "by", "codes", "class_wise", "n_bins", "norm", "confidence_level", "seed",
             "replicates", "top_label", "force", "within", "map")  # fmt: skip
    audit = audit_file(
        options.file,
        estimators="all" if options.all else options.estimators,
        columns=_columns(options),
        outcomes=outcome_columns(options),
        progress=_progress(options),
        **_given(options, names),
    )
    _tell(options, audit)
    if audit.classes_sentence:
        say(audit.classes_sentence)
    _exit_with_answer(audit)


def _tell(options: Any, result: Any) -> None:
    """Print the notes of a result, its sentence, what its subgroups add, and its warnings."""
    for note in result.notes:
        _notes(options)(note)
    say(result.sentence)
    if result.subgroups:
        say(result.subgroups.details)
    for warning in result.warnings:
        say(f"warning: {warning}", sys.stderr)


def _exit_with_answer(result: Any) -> None:
    """Exit with the status of the answer to ``--within``, if that was asked."""
    from calbias.auditing.error.within import EXIT_STATUS

    if result.asked:
        sys.exit(EXIT_STATUS[result.asked.answer])


def _recalibrate(options: Any) -> None:
    from calbias.errors import InputError
    from calbias.outcome_options import outcome_columns
    from calbias.recalibrate_file import apply_file, recalibrate_file

    columns = _columns(options)
    if options.apply is None:
        lines = recalibrate_file(
            options.file, options.method or "advised", columns, options.top_label, options.seed,
            options.output, options.force, _notes(options), _progress(options), options.by,
            options.codes, outcome_columns(options),
        )  # fmt: skip
        for line in lines:
            say(line)
        return
    used = ("score", "values", "missing")
    others = (options.method, options.top_label, options.by, options.codes)
    named = _columns(options, *used), outcome_columns(options)
    if any(others) or any(x != type(x)() for x in named):
        raise InputError("--apply goes with --score, --values, --missing and --output alone")
    apply_file(
        options.file, options.apply, columns, options.output, options.force, sys.stdout.write,
        _progress(options),
    )  # fmt: skip


def _example(options: Any) -> None:
    from calbias.reading.example import FILE

    sys.stdout.write(FILE.read_text("utf-8"))


def _plan(options: Any) -> None:
    from calbias.auditing.planning.plan import plan, plan_file, plan_json
    from calbias.errors import InputError
    from calbias.outcome_options import outcome_columns

    files = _output_paths(options, (".csv", ".json"), options.scores)
    if not options.scores and _columns(options) != _columns(argparse.Namespace()):
        source = "--beta" if options.beta else "--normal"
        raise InputError(f"{source} goes without the options that name columns of a file")
    names = ("detect", "power", "slope_width", "gap_width", "seed", "beta", "normal", "oe_width",
             "c_width", "prevalence", "c_statistic")  # fmt: skip
    goals = {name: value for name, value in _given(options, names).items() if value is not None}
    notes = list[str]()
    if options.scores:
        table = plan_file(
            options.scores, _columns(options), options.top_label, notes.append,
            outcome_columns(options), **goals,
        )  # fmt: skip
    else:
        table = plan(**goals)
    whole_numbers = ("labels", "clusters", "events")
    counts = {name: "{:.0f}".format for name in table if name.startswith(whole_numbers)}
    print(table.to_string(float_format="{:.3f}".format, formatters=counts, na_rep=""))
    if {"slope", "shift"} <= {*table} and table[["slope", "shift"]].notna().all(axis=1).any():
        notes.append("an error has a row as a slope and a row as a shift: plan for the larger one")
    if (table["labels"] == math.inf).any():
        notes.append(
            "inf: no number of labels up to ten million reaches this goal with such scores"
        )
    for note in notes:
        _notes(options)(note)
    if files:
        marked = table.assign(generator="calbias plan").to_csv()
        _write(options, files, marked, plan_json(table, goals, notes) + "\n")


def _compare(options: Any) -> None:
    from calbias.auditing.compare_files import compare_files
    from calbias.auditing.comparison.board import Board
    from calbias.errors import InputError
    from calbias.outcome_options import outcome_columns

    if outcome_columns(options) != type(outcome_columns(options))():
        raise InputError(
            "compare takes hits of 0 and 1 alone: with follow-up, weights or a judge audit each "
            "model by itself"
        )
    is_board = max(1 + len(options.second), len(options.score)) > 2
    suffixes = (".html", ".json", ".csv") if is_board else (".html", ".json")
    files = _output_paths(options, suffixes, options.first, *options.second)
    names = ("id", "by", "codes", "top_label", "confidence_level", "seed", "within")
    comparison = compare_files(
        options.first,
        *options.second,
        score=options.score,
        columns=_columns(options, "score"),
        progress=_progress(options),
        **_given(options, names),
    )
    if isinstance(comparison, Board):
        from calbias.auditing.page.page import board_page

        _tell_board(options, comparison)
        if files:
            page = board_page(comparison, files[1].name)
            _write(options, files, page, comparison.to_json() + "\n", comparison.to_csv())
        return
    _tell(options, comparison)
    if files:
        page = comparison.to_html(json_name=files[1].name)
        _write(options, files, page, comparison.to_json() + "\n")
    _exit_with_answer(comparison)


def _tell_board(options: Any, board: Any) -> None:
    """Print the notes of a board, its sentence, a line for each pair, and its warnings."""
    for note in board.notes:
        _notes(options)(note)
    for line in (board.sentence, *board.lines):
        say(line)
    for warning in board.warnings:
        say(f"warning: {warning}", sys.stderr)


def _check(options: Any) -> None:
    from calbias.errors import InputError
    from calbias.estimation.check_in_process import failures_apart
    from calbias.estimation.registry import estimator_names

    path = Path(options.file)
    if path.suffix != ".py" or not path.is_file():
        raise InputError(f"{path}: there is no such Python file; correct the path")
    note = lambda text: say(f"note: {text}", sys.stderr)  # noqa: E731
    lines = failures_apart(path, options.seconds, options.limit, note)
    if lines:
        for line in lines:
            say(line)
        raise InputError(f"{path}: failed checks: {len(lines)}")
    say(f"{path}: {', '.join(estimator_names(path))}: all checks passed")


def _columns(options: Any, *without: str) -> Any:
    """Return the Columns that the options name."""
    from dataclasses import fields

    from calbias.reading.columns import Columns

    names = [each.name for each in fields(Columns) if each.name not in without]
    return Columns(**_given(options, [name for name in names if hasattr(options, name)]))


def _given(options: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the values of these options by name."""
    return {name: getattr(options, name) for name in names}


def _notes(options: Any) -> Callable[[str], None]:
    """Return what prints a note on stderr, or with ``--quiet`` nothing."""
    return lambda text: None if options.quiet else say(f"note: {text}", sys.stderr)


def _progress(options: Any) -> Callable[[str], None]:
    """Return what prints a step on stderr, or with ``--quiet`` nothing."""
    return lambda text: None if options.quiet else say(f"{text} …", sys.stderr)


def _output_paths(options: Any, suffixes: Sequence[str], *inputs: str | None) -> tuple[Path, ...]:
    """Return the files of ``--output``, none without it, before anything is computed."""
    from calbias.io.outputs import output_paths

    if options.output is None:
        return ()
    read = [name for name in inputs if name] or ["-"]
    return output_paths(read, options.output, options.force, suffixes)


def _write(options: Any, files: Sequence[Path], *texts: str) -> None:
    from calbias.io.outputs import write_texts

    write_texts(dict(zip(files, texts, strict=True)), _progress(options))


def _watch(options: Any) -> None:
    from calbias.auditing.error.within import EXIT_STATUS
    from calbias.monitoring.watch import watch_file

    names = ("time", "top_label", "level", "seed", "state", "output", "force", "by")
    watched = watch_file(
        options.file,
        columns=_columns(options),
        progress=_progress(options),
        **_given(options, names),
    )
    for note in watched.notes:
        _notes(options)(note)
    say(watched.sentence)
    if watched.has_alarm:
        sys.exit(EXIT_STATUS["no"])


_COMMANDS: dict[str, Callable[[Any], None]] = {
    "audit": _audit,
    "recalibrate": _recalibrate,
    "plan": _plan,
    "compare": _compare,
    "watch": _watch,
    "check": _check,
    "example": _example,
}


if __name__ == "__main__":
    main()
