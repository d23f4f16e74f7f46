"""Judge the recommending rule of an audit on scenarios that it was not made on."""

from evidence.studies.recommendation import recommendation_table
from pipeline.script import OUTPUT, SEED, option, script
from pipeline.tables.files import write_table


@script(option("--data-sets", "data sets of each cell", int, least=2), SEED, OUTPUT)
def main(options):
    table = recommendation_table(options.data_sets, options.seed)
    write_table(options.output, "recommendation", table)


if __name__ == "__main__":
    main()
