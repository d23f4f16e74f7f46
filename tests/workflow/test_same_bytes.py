"""Earlier replicates change no byte of a result; cores, shards and place: test_elsewhere.py."""

from reproduction.replicates.store import read_replicates

FILE = "results/replicates/realistic/kde/0-of-1.parquet"
MODELS = ["resnet110_c10", "resnet110_c100"]
TABLE = "results/bias/realistic.parquet"


def test_raised_replicates_extend_the_existing_ones(finished, fresh):
    before, _, _ = read_replicates(finished / FILE)
    more = ("--config", "replicates=12", "estimators=[kde]", "--", TABLE)
    said = finished.run(*more)
    assert "n = 100: 4 replicates" in said
    assert "12 replicates" not in said
    after, _, _ = read_replicates(finished / FILE)
    for cell, estimates in before.items():
        assert after[cell].first(8).estimate.tolist() == estimates.estimate.tolist()
    fresh.run(*more)
    for name in (FILE, TABLE):
        assert (fresh / name).read_bytes() == (finished / name).read_bytes()


def test_lowered_replicates_are_the_first_ones_and_a_new_cell_keeps_the_others(finished):
    before, _, _ = read_replicates(finished / FILE)
    experiments = {"realistic": {"models": MODELS, "n_samples": [100, 150, 200]}}
    config = finished.changed(replicates=5, experiments=experiments)
    said = finished.run("--", FILE, config=config)
    assert "n = 150: 5 replicates" in said
    assert said.count("replicates in") == 2  # one a model: no other was drawn
    after, _, _ = read_replicates(finished / FILE)
    for cell, estimates in before.items():
        assert after[cell].estimate.tolist() == estimates.first(5).estimate.tolist()
