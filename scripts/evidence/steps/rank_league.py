from pathlib import Path

from evidence.studies.ranking import league_ranking, league_sensitivity
from pipeline.tables import read_table, write_table


def rank_league(
    *,
    league: Path,
    output_ranking: Path,
    output_sensitivity: Path,
) -> None:
    """Rank the measures of the league, and by other rules.

    league: table league (CSV)
    output_ranking: table league_ranking to write
    output_sensitivity: table league_sensitivity to write
    """
    table = read_table(league)
    write_table(output_ranking, "league_ranking", league_ranking(table))
    write_table(output_sensitivity, "league_sensitivity", league_sensitivity(table))
