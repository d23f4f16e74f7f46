"""Put noise floors next to Kull et al. (2019), Table 3, and say which methods are told apart."""

import pandas as pd

from evidence.studies.printed_classwise import printed_rows
from pipeline.script import OUTPUT, option, script
from pipeline.tables.files import write_table


@script(
    option("--printed", "the printed table (CSV)"),
    option("--floors", "table noise_floors"),
    option("--differences", "table method_differences"),
    OUTPUT,
)
def main(options):
    tables = (pd.read_csv(path) for path in (options.printed, options.floors, options.differences))
    write_table(options.output, "kull2019_table3", printed_rows(*tables))


if __name__ == "__main__":
    main()
