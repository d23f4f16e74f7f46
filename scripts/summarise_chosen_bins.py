"""Set the number of bins that the sweep chooses next to what each number gives (App D, Fig 14)."""

from pipeline.script import OUTPUT, option, script
from pipeline.tables.files import read_table, write_table
from reproduction.summaries.bias import chosen_bins


@script(option("--bias", "bias rows of the experiment"), OUTPUT)
def main(options):
    write_table(options.output, "chosen_bins", chosen_bins(read_table(options.bias)))


if __name__ == "__main__":
    main()
