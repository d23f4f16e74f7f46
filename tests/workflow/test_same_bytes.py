"""Shards and earlier replicates change no byte of a result; cores and place: test_elsewhere.py."""

import pytest

from calbias.simulation.replicates import read_replicates

TABLE = "results/bias/realistic.parquet"
ONE_ESTIMATOR = ("estimators=[ece_sweep_em]", "replicates=50")


def run(checkout, *config, cores=2):
    checkout.run("--cores", str(cores), "--config", *config, "--", TABLE)
    return (checkout / TABLE).read_bytes()


@pytest.fixture(scope="module")
def one_shard(pristine, tmp_path_factory):
    checkout = pristine.copy(tmp_path_factory.mktemp("one") / "checkout")
    return run(checkout, *ONE_ESTIMATOR, "shards=1", cores=1)


@pytest.mark.parametrize("shards", [7, 50])
def test_shards(fresh, one_shard, shards):
    assert run(fresh, *ONE_ESTIMATOR, f"shards={shards}") == one_shard
    made = (fresh / "results/replicates/realistic/ece_sweep_em").glob("[0-9]*.parquet")
    assert len(list(made)) == shards


def test_raised_replicates_extend_the_existing_ones(finished, fresh):
    file = "results/replicates/realistic/kde/0-of-1.parquet"
    before, _, _ = read_replicates(finished / file)
    said = finished.run("--config", "replicates=12", "--", file, TABLE)
    assert "n = 100: 4 replicates" in said
    assert "12 replicates" not in said
    after, _, _ = read_replicates(finished / file)
    for cell, estimates in before.items():
        assert after[cell].first(8).estimate.tolist() == estimates.estimate.tolist()
    fresh.run("--config", "replicates=12", "--", file, TABLE)
    for name in (file, TABLE):
        assert (fresh / name).read_bytes() == (finished / name).read_bytes()


def test_lowered_replicates_are_the_first_ones(finished, fresh):
    file = "results/replicates/realistic/kde/0-of-1.parquet"
    said = finished.run("--config", "replicates=5", "--", file)
    assert "replicates in" not in said  # none was drawn
    fresh.run("--config", "replicates=5", "--", file)
    assert (fresh / file).read_bytes() == (finished / file).read_bytes()


def test_a_new_cell_keeps_the_others(finished):
    finished.edit("tests/workflow/tiny.yaml", "[100, 200]", "[100, 150, 200]")
    said = finished.run("--", "results/replicates/realistic/kde/0-of-1.parquet")
    assert "n = 150: 8 replicates" in said
    assert "n = 100" not in said
