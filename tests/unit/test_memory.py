"""How many estimates an experiment makes, and the memory that its jobs ask for."""

from calbias.pipeline import job_memory as memory

CELLS = {"n_samples": [100, 200], "n_bins": [15], "replicates": 1000, "estimators": ["a", "b"]}


def test_estimates_of_models_and_of_scores():
    assert memory.estimates({**CELLS, "models": ["x", "y", "z"]}) == 3 * 2 * 1000
    scores = {
        "scores": [[1, 1], [2, 1]],
        "curves": ["identity"],
        "powers": [2],
        "glms": [["logit", 0, 1]],
    }
    assert memory.estimates({**CELLS, **scores, "n_bins": [2, 4]}) == 2 * 3 * 2 * 2 * 1000


def test_estimates_of_all_estimators():
    experiment = {**CELLS, "models": ["x"]}
    assert memory.estimates_of_all(experiment, experiment) == 2 * 2 * 2 * 1000
