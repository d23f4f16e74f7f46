"""Judge the recommending rule of an audit on scenarios that it was not made on."""

from calbias.auditing.recommendation import recommendation_table
from calbias.io.command_line import OUTPUT, SEED, option, script
from calbias.io.tables import write_table


@script(option("--data-sets", "data sets of each cell", int, least=2), SEED, OUTPUT)
def main(options):
    table = recommendation_table(options.data_sets, options.seed)
    write_table(options.output, "recommendation", table)


if __name__ == "__main__":
    main()
