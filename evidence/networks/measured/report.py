"""RESULTS.md, with the numbers of the tables: ``python -m measured.report``."""

import argparse
import sys
from pathlib import Path

import jinja2
import pandas as pd

from measured.shipped import FOLDER

HERE = Path(__file__).parents[1]
ALL = "l2 above 4"


class Numbers:
    """Lookups in the tables, as text in percentage points."""

    def __init__(self, tables: Path) -> None:
        self.summary = pd.read_csv(tables / "summary.csv").set_index(
            ["what", "set", "law", "estimator"]
        )
        self.summary = self.summary.sort_index()
        self.networks = pd.read_csv(FOLDER / "networks.csv").set_index("name")
        self.genuine = pd.read_csv(tables / "genuine.csv")
        self.audits = pd.read_csv(tables / "audits.csv")
        self.truths = pd.read_csv(FOLDER / "recalibrated.csv")
        self.second = pd.read_csv(tables / "second_program.csv")
        self.laws = pd.read_csv(tables / "laws.csv").set_index(["use", "rows", "what", "law"])

    def row(self, what: str, group: str, law: str | float, estimator: str) -> pd.Series:
        """Return a row of the summary."""
        names = self.summary.index
        wanted = (names.get_level_values(0) == what) & (names.get_level_values(1) == group)
        laws = names.get_level_values(2)
        wanted &= laws.isna() if law == "" else laws == law
        wanted &= names.get_level_values(3) == estimator
        [row] = self.summary[wanted].itertuples()
        return pd.Series(row._asdict())

    def difference(self, law: str, group: str = ALL, what: str = "difference") -> str:
        """Return debias less sweep: mean ± standard error (networks above 0 of all)."""
        row = self.row(what, group, law, "debias_em - sweep_em")
        counts = f"({row.n_above_0:.0f} of {row.n_networks:.0f})"
        return f"{row.value:+.3f} ± {row.se:.3f} {counts}".replace("-", "−")

    def mean(self, what: str, group: str, law: str, estimator: str, digits: int = 2) -> str:
        """Return mean ± standard error."""
        row = self.row(what, group, law, estimator)
        return f"{row.value:.{digits}f} ± {row.se:.{digits}f}".replace("-", "−")

    def value(self, what: str, group: str, law: str, estimator: str, digits: int = 3) -> str:
        """Return a single number."""
        return f"{self.row(what, group, law, estimator).value:.{digits}f}".replace("-", "−")

    def network(self, name: str, column: str, digits: int = 1) -> str:
        """Return a number of networks.csv."""
        return f"{self.networks.loc[name, column]:+.{digits}f}".replace("-", "−")

    def chances(self) -> tuple[int, str, str]:
        """Return how many networks have known chances, largest and root mean square z of l2."""
        rows = self.networks[self.networks.l2_by_chances_percent > 0.01]
        z = (rows.l2_percent - rows.l2_by_chances_percent) / rows.l2_se_percent
        return len(rows), f"{z.abs().max():.1f}", f"{(z**2).mean() ** 0.5:.1f}"

    def genuine_difference(self, law: str) -> str:
        """Return the mean difference over the paper's five networks."""
        rows = self.genuine.assign(size=self.genuine.bias_percent.abs())
        wide = rows[rows.law == law].pivot_table("size", "name", "estimator")
        values = wide.ece_debias_em - wide.ece_sweep_em
        return f"{values.mean():+.3f} ± {values.sem():.3f}".replace("-", "−")

    def law(self, use: str, rows: int, what: str, law: str, group: str = "judging") -> str:
        """Return a law's error, or a difference of two: mean ± standard error over networks."""
        results = self.laws[self.laws["set"] == group].loc[(use, rows, what, law)]
        sign = "+" if "−" in law + what else ""
        return f"{results.value:{sign}.2f} ± {results.se:.2f}".replace("-", "−")

    def second_z(self) -> tuple[int, str]:
        """Return the number of cells of the second program, and the root mean square z."""
        z = self.second.z
        return len(z), f"{(z**2).mean() ** 0.5:.2f}"


def main(argv: list[str] | None = None) -> int:
    """Write RESULTS.md; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=Path, default=HERE / "tables")
    options = parser.parse_args(argv)
    template = jinja2.Template(
        (HERE / "RESULTS.md.j2").read_text(), undefined=jinja2.StrictUndefined
    )
    text = template.render(n=Numbers(options.tables), ALL=ALL)
    (HERE / "RESULTS.md").write_text(text.rstrip() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
