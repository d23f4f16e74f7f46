"""Replicate files: what was written is read, and damage is refused in one line."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from calbias.errors import InputError
from pipeline.write_results import record_of, written_whole
from reproduction.replicates import (
    NOTHING,
    Estimates,
    ReplicateCell,
    gather_shards,
    keep,
    kept,
    read_replicates,
    write_replicates,
)

A, B = ReplicateCell("one", 100, 15), ReplicateCell("two", 200, -1)


def estimates(numbers, seed=0):
    generator = np.random.default_rng(seed)
    numbers = np.asarray(numbers)
    return Estimates(numbers, generator.random(numbers.size), numbers + 2)


def write(path, cells=None, shard=0, shards=1, replicates=5):
    cells = {A: estimates(range(5)), B: estimates(range(5), 1)} if cells is None else cells
    provenance = {"estimator": "ece_bin_ew", "replicates": replicates}
    provenance |= {"shard": shard, "shards": shards}
    path.parent.mkdir(exist_ok=True)
    with written_whole(path, checksum=True) as temporary:
        keys = {cell: f"key of {cell.scenario}" for cell in cells}
        write_replicates(temporary, cells, keys, provenance)
    return path


@pytest.fixture
def file(tmp_path):
    return write(tmp_path / "0-of-1.parquet")


def test_what_was_written_is_read_and_the_same_numbers_give_the_same_bytes(file, tmp_path):
    cells, keys, provenance = read_replicates(file)
    assert keys == {A: "key of one", B: "key of two"}
    assert provenance["estimator"] == "ece_bin_ew"
    assert list(cells) == [A, B]
    for k, found in enumerate(cells.values()):
        np.testing.assert_array_equal(found, estimates(range(5), k))
    assert write(tmp_path / "again.parquet").read_bytes() == file.read_bytes()


def test_an_empty_cell_is_kept(tmp_path):
    """That of a shard without replicates: there were more shards than replicates."""
    cells, _, _ = read_replicates(write(tmp_path / "x.parquet", {A: NOTHING, B: estimates([3])}))
    assert (cells[A].estimate.size, cells[B].replicate.tolist()) == (0, [3])


def refused(path, message):
    with pytest.raises(InputError, match=message) as error:
        read_replicates(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("left", [0, 100, -1])
def test_a_missing_truncated_or_edited_file(file, tmp_path, left):
    refused(tmp_path / "no.parquet", "there is no such replicate file")
    file.write_bytes(file.read_bytes()[:left])
    refused(file, "was changed or damaged after it was made .* delete .* run snakemake again")
    record_of(file).unlink()
    refused(file, "not a whole replicate file .*: delete it and run again")


def test_another_parquet_file(file):
    pq.write_table(pq.read_table(file).replace_schema_metadata({"calbias": "{}"}), file)
    record_of(file).unlink()
    refused(file, "not a whole replicate file")


def test_the_second_name_outlives_the_first(file):
    keep(file)
    keep(file)
    file.unlink()
    assert list(read_replicates(kept(file))[0]) == [A, B]
    pq.write_table(pq.read_table(kept(file)), kept(file))
    refused(kept(file), "was changed or damaged")


def test_estimates_are_cut_and_extended():
    whole = estimates(range(5))
    rest = Estimates(*(array[2:] for array in whole))
    np.testing.assert_array_equal(whole.first(2).extended(rest), whole)
    np.testing.assert_array_equal(NOTHING.extended(rest), rest)


def shards(tmp_path, counts, replicates):
    """Write the shards of 5 replicates; ``counts`` says which."""
    return [
        write(
            tmp_path / f"ece_bin_ew/{shard}-of-3.parquet",
            {A: estimates(range(shard, 5, 3), shard)},
            shard, 3, replicates,
        )
        for shard in counts
    ]  # fmt: skip


def test_shards_are_gathered_in_order_of_the_replicates(tmp_path):
    in_order = gather_shards(shards(tmp_path, [0, 1, 2], 5))["ece_bin_ew"][A]
    assert in_order.replicate.tolist() == [0, 1, 2, 3, 4]
    shuffled = gather_shards(shards(tmp_path, [2, 0, 1], 5))["ece_bin_ew"][A]
    np.testing.assert_array_equal(shuffled.estimate, in_order.estimate)
    assert in_order.estimate[1] == estimates(range(1, 5, 3), 1).estimate[0]


@pytest.mark.parametrize(("present", "replicates"), [([0, 1], 5), ([0], 2), ([0, 1, 2, 2], 5)])
def test_a_missing_or_repeated_shard_is_refused(tmp_path, present, replicates):
    with pytest.raises(InputError, match=r"do not hold each of \d once; delete"):
        gather_shards(shards(tmp_path, present, replicates))


def test_a_last_shard_that_held_one_replicate_is_missed(tmp_path):
    cells, path = {A: estimates([0])}, tmp_path / "ece_bin_ew/0-of-2.parquet"
    with pytest.raises(InputError, match="on one, n = 100: the shards do not hold each of 2 once"):
        gather_shards([write(path, cells, shards=2, replicates=2)])
