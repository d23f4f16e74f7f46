"""Rank the measures of the league, and by other rules."""

from evidence.studies.ranking import league_ranking, league_sensitivity
from pipeline.script import option, script
from pipeline.tables.files import read_table, write_table


@script(
    option("--league", "table league (CSV)"),
    option("--output-ranking", "table league_ranking to write"),
    option("--output-sensitivity", "table league_sensitivity to write"),
)
def main(options):
    table = read_table(options.league)
    write_table(options.output_ranking, "league_ranking", league_ranking(table))
    write_table(options.output_sensitivity, "league_sensitivity", league_sensitivity(table))


if __name__ == "__main__":
    main()
