"""Set the number of bins that the sweep chooses next to what each number gives (App D, Fig 14)."""

from reproduction.pipeline.script import OUTPUT, option, script
from reproduction.summaries.bias import chosen_bins
from reproduction.tables.files import read_table, write_table


@script(option("--bias", "bias rows of the experiment"), OUTPUT)
def main(options):
    write_table(options.output, "chosen_bins", chosen_bins(read_table(options.bias)))


if __name__ == "__main__":
    main()
