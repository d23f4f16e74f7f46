"""The options of outcomes that are right on average: follow-up, weights, a judge."""

from __future__ import annotations

import argparse
from dataclasses import fields
from typing import Any

from calbias.errors import InputError


def add_outcomes(parser: argparse.ArgumentParser, is_shown: bool = True) -> None:
    """Add the options that name columns of outcomes beside hits and labels.

    Where they are not shown, the command refuses them with its reason.
    """
    group = parser.add_argument_group(
        "follow-up, weights, a judge (docs/tool/follow_up.md)" if is_shown else None
    )

    def add(name: str, metavar: str, help: str, kind: Any = str) -> None:
        shown = help if is_shown else argparse.SUPPRESS
        group.add_argument(f"--{name}", metavar=metavar, help=shown, type=kind)

    add("time", "COLUMN", "until when a row was followed (time, months, …)")
    add("status", "COLUMN", "what ended it: 0 censored, 1 or --event the event, others compete")
    add("horizon", "TIME", "the risks are of an event by this time", float)
    add("censored", "VALUE", "the status of no event (0, or the other one of two texts)")
    add("censoring", "COLUMN", "censoring depends on this column too; or marginal, on nothing "
        "(by-risk: on the risk)")  # fmt: skip
    add("weight", "COLUMN", "weights of the rows")
    add("judge", "COLUMN", "labels by a judge; --hit or --label are then human ones, where given")
    add("labelled", "COLUMN", "chance that a human labelled the row, or a number (by the risk)")


def outcome_columns(options: Any) -> Any:
    """Return the OutcomeColumns that the options name."""
    from calbias.auditing.outcome_columns import OutcomeColumns

    given = {each.name: getattr(options, each.name, None) for each in fields(OutcomeColumns)}
    named = {name: value for name, value in given.items() if value is not None}
    if "horizon" in named and not named["horizon"] > 0:
        raise InputError(f"--horizon must be above 0, not {named['horizon']:g}")
    return OutcomeColumns(**named)
