"""The verdict of rows, as an audit of arrays asks for it."""

from calbias.auditing.verdict import judge as of_scored
from calbias.auditing.verdict.clusters import cluster_codes
from calbias.engine.scores_and_hits import scores_and_hits
from calbias.samples.by_score import Scored


def judge(scores, hits, *, clusters=None, log_scores=None, log1m_scores=None, **options):
    """Return the verdict on scores (n,) with hits (n,); as many clusters as rows are none."""
    scores, hits = scores_and_hits(scores, hits)
    if clusters is not None:
        clusters, number = cluster_codes(clusters, scores.size)
        clusters = None if number == scores.size else clusters
    scored = Scored.of(scores, hits, log_scores, log1m_scores, clusters=clusters)
    return of_scored.judge(scored, **options)
