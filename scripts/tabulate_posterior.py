"""Tabulate how near the averaged posterior comes to the truth, its interval, and the limit."""

from pathlib import Path

import pandas as pd

from evidence.scenarios.sets import SATURATED_ROUNDED, SPREAD
from evidence.studies import averaged_posterior, information_limit
from evidence.studies.posterior_scenarios import DESIGN, JUDGING, of_half, random_world
from pipeline.script import option, script
from pipeline.tables.files import write_table

WORLD = "world"
CERTIFIED = {"spread": SPREAD, "saturated": SATURATED_ROUNDED}
CERTIFIED_SIZES = (1000, 4000)
PARTS = ("rmse", "coverage", "limit", "certificate")


def _certificates(sizes, data_sets):
    run = information_limit.averaged_posterior_l1
    for law, shapes in CERTIFIED.items():
        for n in sizes:
            found = information_limit.certificate(*shapes, n, run, data_sets)
            yield {
                "law": law,
                "n_samples": n,
                "target": "l1",
                "n_curves": found.prior.size,
                "ratio": found.ratio,
                "ratio_se": found.ratio_se,
                "n_data_sets": data_sets,
            }


@script(
    option("--part", "table to make", choices=PARTS),
    option("--half", "scenarios", choices=(DESIGN, JUDGING, WORLD), default=JUDGING),
    option("--data-sets", "data sets of each cell", int, least=2, default=100),
    option("--sizes", "sample sizes", int, least=1, many=True, default=[]),
    option("--output", "table", Path),
)
def main(options):
    half = options.half
    scenarios = [random_world(k) for k in range(30)] if half == WORLD else of_half(half)
    sizes = options.sizes or averaged_posterior.SIZES
    if options.part == "limit":
        norms = averaged_posterior.NORMS
        limits = [(s, n, p) for s in scenarios for n in sizes for p in norms]
        table = pd.DataFrame(information_limit.limit_row(*each) for each in limits)
    elif options.part == "certificate":
        sizes = options.sizes or CERTIFIED_SIZES
        table = pd.DataFrame(_certificates(sizes, options.data_sets))
    else:
        rows_of = getattr(averaged_posterior, f"{options.part}_rows")
        cells = [(s, n, options.data_sets) for s in scenarios for n in sizes]
        table = pd.DataFrame(row for cell in cells for row in rows_of(*cell))
    write_table(options.output, list(table), table)


if __name__ == "__main__":
    main()
