"""What ``calbias watch`` saw: numbers, sentences, and the page that has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calbias.auditing.audit_result import plain
from calbias.auditing.page.page import parts_of, rendered
from calbias.auditing.results import Audit
from calbias.io.outputs import GENERATOR
from calbias.monitoring.evidence_chart import Mark, evidence_chart
from calbias.monitoring.kept import Kept

ALL = "all rows"


@dataclass(frozen=True)
class Watched:
    """What was seen in a file, after those before it.

    ``first`` is the number of its first row, ``audit`` of the ``audited`` rows, a phrase, or None
    where they are too few; ``options`` are those of the command.
    """

    name: str
    kept: Kept
    first: int
    audit: Audit | None
    audited: str
    options: Mapping[str, Any]
    notes: tuple[str, ...] = ()

    @property
    def streams(self) -> Iterator[tuple[str, Kept]]:
        """All rows, and each subgroup."""
        yield ALL, self.kept
        yield from self.kept.groups.items()

    @property
    def has_alarm(self) -> bool:
        """Whether any of them has an alarm."""
        return any(kept.monitor.alarm is not None for _, kept in self.streams)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What limits the audit."""
        return self.audit.warnings if self.audit else ()

    @property
    def sentence(self) -> str:
        """Whether there was an alarm, when the change began, and what is wrong, in one line."""
        monitor = self.kept.monitor
        if monitor.since is None:
            rows = f"{monitor.n} row{'s' * (monitor.n != 1)}"
            text = (
                f"no alarm in {rows}: evidence {monitor.evidence:.2g}, alarm at "
                f"{1 / monitor.level:g}"
            )
        else:
            row, low, high = monitor.since
            text = (
                f"alarm at row {monitor.alarm} ({self.kept.alarm}) of {monitor.n}: miscalibrated "
                f"since about row {row} ({self.kept.since}; 95 %: {low} to {high})"
            )
        ringing = [name for name, kept in self.streams if kept.monitor.alarm and name != ALL]
        if self.kept.groups:
            none = ", and in none" if monitor.alarm else ", nor in any"
            where = f", and in {', '.join(ringing[:3])}" if ringing else none
            more = f" and {len(ringing) - 3} more" if len(ringing) > 3 else ""
            text += f"{where}{more} of {len(self.kept.groups)} subgroups"
        return f"{text}; {self.audited}: {self.audit.verdict.sentence}" if self.audit else text

    def to_dict(self) -> dict[str, Any]:
        """Return what the JSON file holds."""
        return {
            "generator": GENERATOR.format("watch"),
            "sentence": self.sentence,
            **_numbers(self.kept),
            "first_row_of_file": self.first,
            "n_of_file": self.kept.monitor.n - self.first + 1,
            "audit": self._audit_numbers(),
            "series": [*_series(self.kept)],
            "subgroups": [{"segment": name} | _numbers(kept) for name, kept in
                          self.kept.groups.items()],
            "options": dict(self.options),
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }  # fmt: skip

    def _audit_numbers(self) -> dict[str, Any] | None:
        if self.audit is None:
            return None
        audit = self.audit
        names = ("n", "verdict", "p_value", "miscalibrated", "gap", "error", "low", "high")
        gap = audit.description["mean_gap"]
        verdict = audit.verdict.sentence, audit.p_value, audit.miscalibrated
        values = (audit.n, *verdict, gap, audit.error, *audit.interval)
        return {"rows": self.audited} | dict(zip(names, plain(values), strict=True))

    def to_html(self, json_name: str) -> str:
        """Return the page: what was seen, the chart of the evidence, and the audit as a part."""
        parts = parts_of(self.audit) if self.audit else {"audit": None}
        monitor = self.kept.monitor
        highest = float(monitor.track()[:, 1].max())
        return rendered(
            "watch.html.j2",
            "watch",
            f"Watch of {self.name}",
            **parts,
            is_part=True,
            watched=self,
            monitor=monitor,
            chart=evidence_chart(monitor, (*self.kept.marks, Mark(monitor.n, self.kept.last))),
            in_words=_evidence_in_words,
            is_cut=np.log10(monitor.evidence) > highest + 1e-9,
            json_name=json_name,
        )


def _evidence_in_words(evidence: float) -> str:
    """Return evidence with three digits, in full up to a million."""
    if not 1e3 <= evidence < 1e6:
        return f"{evidence:.3g}"
    return f"{float(f'{evidence:.3g}'):,.0f}".replace(",", "\u202f")


def _numbers(kept: Kept) -> dict[str, Any]:
    """Return the numbers of one monitor."""
    monitor = kept.monitor
    return {
        "n": monitor.n,
        "level": monitor.level,
        "evidence": monitor.evidence,
        "alarm": monitor.alarm,
        "alarm_time": kept.alarm or None,
        "since": monitor.since and dict(monitor.since._asdict()),
        "since_time": kept.since or None,
        "last_time": kept.last or None,
    }


def _series(kept: Kept) -> Iterator[dict[str, Any]]:
    """Yield the evidence after some rows, with their times."""
    for row, height in kept.monitor.track():
        time = kept.time_of(int(row)) or None
        yield {"row": int(row), "time": time, "log10_evidence": round(float(height), 4)}
