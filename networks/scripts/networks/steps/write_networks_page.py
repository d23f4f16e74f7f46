from pathlib import Path

import pandas as pd

from pipeline.claims.verdicts import Verdict
from pipeline.report import Paper, badge, measurement_groups, papers_with_claims, template
from pipeline.tables import read_table
from pipeline.write_results import write_text

STATEMENTS = Paper("N", "Trained networks", "Statements of Roelofs et al. (N) and Guo et al. (NG)")


def networks_page(claims: pd.DataFrame, measurements: pd.DataFrame) -> str:
    """Return the HTML text of the page, whose links are relative to ``results/``.

    ``claims`` and ``measurements`` are the tables network_claims and network_measurements.
    """
    claims = claims.astype(object).fillna("")
    (group,) = papers_with_claims(claims, (STATEMENTS,))
    rows = [
        {
            **row,
            "badge": badge(Verdict(row["verdict"])),
            "notes": row["note"].split("; "),
            "groups": measurement_groups(measurements[measurements["id"] == row["id"]]),
        }
        for row in claims.to_dict("records")
    ]
    return template("networks.html.j2").render(group=group, claims=rows)


def write_networks_page(*, claims: Path, measurements: Path, output: Path) -> None:
    """Write the page of the papers' statements on networks of known truth.

    claims: table network_claims
    measurements: table network_measurements
    output: page to write (HTML)
    """
    write_text(output, networks_page(read_table(claims), read_table(measurements)))
