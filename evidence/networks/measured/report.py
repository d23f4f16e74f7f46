"""RESULTS.md and OBJECTIONS.md, with the tables' numbers: ``python -m measured.report``."""

import argparse
import sys
from pathlib import Path

import jinja2
import pandas as pd

from measured.comparisons import load
from measured.judged import Statement, statements
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
        self.cause = pd.read_csv(tables / "cause.csv")
        self.lowest = pd.read_csv(tables / "lowest.csv")
        self.held_out = pd.read_csv(tables / "held_out.csv")
        self.posteriors = pd.read_csv(tables / "posterior.csv")
        self.bias = load(tables / "bias.parquet")

    def row(self, what: str, group: str, law: str | float, estimator: str) -> pd.Series:
        """Return a row of the summary."""
        names = self.summary.index
        wanted = (names.get_level_values(0) == what) & (names.get_level_values(1) == group)
        laws = names.get_level_values(2)
        wanted &= laws.isna() if law == "" else laws == law
        wanted &= names.get_level_values(3) == estimator
        [row] = self.summary[wanted].itertuples()
        return pd.Series(row._asdict())

    def statements(self) -> list[Statement]:
        """Return the statements on the second judging set, judged."""
        return statements(self.row)

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

    def pair(self, name: str, law: str) -> str:
        """Return debias less sweep on a synthetic law."""
        rows = self.cause[(self.cause.name == name) & (self.cause.law == law)]
        size = rows.assign(size=rows.bias_percent.abs()).groupby("estimator")["size"].mean()
        return _signed(size.ece_debias_em - size.ece_sweep_em)

    def bins(self, name: str, law: str, n: int) -> str:
        """Return the sweep's mean number of bins on a synthetic law."""
        rows = self.cause[(self.cause.name == name) & (self.cause.law == law)]
        rows = rows[(rows.n_samples == n) & (rows.estimator == "ece_sweep_em")]
        return f"{rows.mean_n_bins.item():.1f}"

    def by_steps(self, law: str, steps: str) -> str:
        """Return by how much the other smoother moves debias less sweep, and the most."""
        rows = self.cause[self.cause.law.isin((law, steps))]
        rows = rows[rows.name.isin(rows.name[rows.law == steps])]
        rows = rows.assign(size=rows.bias_percent.abs())
        wide = rows.pivot_table("size", ["name", "law"], "estimator")
        difference = (wide.ece_debias_em - wide.ece_sweep_em).unstack("law")
        moved = difference[steps] - difference[law]
        return f"{_signed(moved.mean())} ± {moved.sem():.3f} (most {moved.abs().max():.3f})"

    def spread(self, law: str, genuine: bool = False) -> str:
        """Return the median spread of the gap in the lowest fifteenth, in points."""
        rows = self.lowest[self.lowest.law == law]
        rows = rows[rows.name.isin(self.genuine.name) == genuine]
        return f"{rows.gap_sd_percent.median():.1f}"

    def held_out_z(self, law: str, column: str = "percent", names: tuple[str, ...] = ()) -> str:
        """Return the root mean square z of held-out rows against a law's prediction."""
        rows = self.held_out[self.held_out.law == law]
        rows = rows[rows.name.isin(names)] if names else rows
        z = rows[f"observed_{column}"] - rows[f"predicted_{column}"]
        z /= rows[f"observed_se_{column}"]
        return f"{(z**2).mean() ** 0.5:.1f}"

    def held_out_bins(self, name: str, n: int, column: str, law: str = "scores_spline") -> str:
        """Return the sweep's mean bins on held-out rows of a network, or as a law predicts them."""
        rows = self.held_out[(self.held_out.name == name) & (self.held_out.n_samples == n)]
        return f"{rows[rows.law == law][f'{column}_n_bins'].mean():.1f}"

    def posterior(self, law: str, n: int) -> str:
        """Return mean |bias| of averaged_posterior and of debias on the same networks."""
        rows = self.posteriors[self.posteriors.law == law]
        rows = rows[rows.n_samples == n].set_index("name")
        debias = self.bias[(self.bias.law == law) & (self.bias.estimator == "ece_debias_em")]
        debias = debias[debias.n_samples == n].set_index("name").bias_percent[rows.index]
        values = (debias + rows.shift_percent).abs(), debias.abs()
        return " and ".join(f"{x.mean():.2f} ± {x.sem():.2f}" for x in values)

    def beyond(
        self, least: float, most: float = 1.0, first_n: int = 200, by: str = "l2_percent"
    ) -> str:
        """Return debias less sweep over networks with a column above a limit, from an n on."""
        rows = self.bias[(self.bias.law == "population") & (self.bias.role != "control")]
        rows = rows[(rows[by] > least) & (rows.n_samples >= first_n) & (rows.gap_percent > 0)]
        wide = rows.assign(size=rows.bias_percent.abs()).pivot_table("size", "name", "estimator")
        values = wide.ece_debias_em - wide.ece_sweep_em
        return f"{_signed(values.mean())} ± {values.sem():.3f} ({len(values)} networks)"

    def audit(self, law: str, n: int, column: str = "covered", least: float = 0.0) -> str:
        """Return a share of the audits of networks with a true l1 above a limit, and its range."""
        rows = self.audits[(self.audits.law == law) & (self.audits.n_samples == n)]
        rows = rows[rows.true_l1_percent >= least]
        total = 100 * rows[column].sum() / rows.n_data_sets.sum()
        share = 100 * rows[column] / rows.n_data_sets
        return f"{total:.1f} % ({share.min():.1f} to {share.max():.1f} by network)"

    def second_z(self) -> tuple[int, str]:
        """Return the number of cells of the second program, and the root mean square z."""
        z = self.second.z
        return len(z), f"{(z**2).mean() ** 0.5:.2f}"


def main(argv: list[str] | None = None) -> int:
    """Write RESULTS.md; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=Path, default=HERE / "tables")
    options = parser.parse_args(argv)
    numbers = Numbers(options.tables)
    for page in ("RESULTS.md", "OBJECTIONS.md"):
        template = jinja2.Template(
            (HERE / f"{page}.j2").read_text(), undefined=jinja2.StrictUndefined
        )
        (HERE / page).write_text(template.render(n=numbers, ALL=ALL).rstrip() + "\n")
    return 0


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


if __name__ == "__main__":
    sys.exit(main())
