"""Sketches: the same bytes in any order and split, exact counts, bounds, recipes, refusals."""

import hashlib
import importlib.util
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
import sketch_recipes
from checkout import ROOT
from engine_data import data_sets
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

import calbias
from calbias import Sketch, estimate
from calbias.samples.cells import TAILS

W = 1 / 57_600


def sketch_of(scores, hits, **options):
    sketch = Sketch(**options)
    sketch.add(scores, hits)
    return sketch


def drawn(n, seed=0):
    generator = np.random.default_rng(seed)
    scores = generator.beta(2.8, 0.05, n)
    return scores, generator.random(n) < scores**1.3


def test_counts_by_hand():
    sketch = sketch_of([0.5, 0.5, 1.0, 0.0, 0.25], [1, 0, 1, 0, 1], n_cells=100)
    scored = sketch.scored()
    np.testing.assert_array_equal(scored.scores, [0, 0.25, 0.5, 1])
    np.testing.assert_array_equal(scored.rows, [1, 1, 2, 1])
    np.testing.assert_array_equal(scored.hits, [0, 1, 1, 1])
    assert (sketch.n, sketch.largest) == (5, 2)


def test_scores_near_0_and_1_have_cells_of_their_own():
    """One a power of four; the exact 0 and 1 alone."""
    near = np.concatenate([[0.0, 5e-324], TAILS, [2.0**-53]])
    for scores in (near, 1 - np.concatenate([[0.0, 2.0**-53], TAILS])):
        scored = sketch_of(scores, np.ones(scores.size)).scored()
        assert scored.rows.max() <= 3
        assert scored.scores.size >= len(TAILS) + 2


@given(data=data_sets(max_size=60), seed=st.integers(0, 10**6))
def test_any_order_and_any_split_give_the_same_bytes(data, seed):
    generator = np.random.default_rng(seed)
    scores, hits = map(np.array, data)
    once = sketch_of(scores, hits)
    order = generator.permutation(scores.size)
    parts = np.array_split(order, generator.integers(1, 6))
    sketches = [sketch_of(scores[part], hits[part]) for part in parts if part.size]
    assert sum(sketches).to_bytes() == once.to_bytes()
    assert sum(reversed(sketches)) == once
    assert Sketch.from_bytes(once.to_bytes()) == once
    assert Sketch.from_array(sum(sketch.to_array() for sketch in sketches)) == once
    assert once.n == scores.size
    assert sum(sketches, Sketch()).estimate("ks") == once.estimate("ks")


PART = int(os.environ.get("CALBIAS_SKETCH_ROWS", 300_000)) // 6


def _count_part(seed):
    return sketch_of(*drawn(PART, seed))


@pytest.mark.slow
def test_threads_and_processes_give_the_bytes_of_one_pass():
    once = Sketch()
    for seed in range(6):
        once.add(*drawn(PART, seed))
    seeds = list(range(6))
    random.Random(1).shuffle(seeds)
    with ThreadPoolExecutor(3) as pool:
        by_threads = sum(pool.map(_count_part, seeds))
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        by_processes = sum(pool.map(_count_part, seeds[::-1]))
    assert once.to_bytes() == by_threads.to_bytes() == by_processes.to_bytes()


def test_counts_of_more_rows_than_fit_into_32_bits_are_exact():
    part = sketch_of([0.7, 0.9999, 1.0], [1, 0, 1])
    total = part
    for _ in range(34):
        total = total + total  # 2^34 times
    assert total.n == 3 << 34
    np.testing.assert_array_equal(total.scored().rows, np.full(3, 1 << 34))
    np.testing.assert_array_equal(total.scored().scores, part.scored().scores)
    for name in ("ece_bin_ew", "ks"):
        assert total.estimate(name).value == pytest.approx(part.estimate(name).value, rel=1e-12)
    with pytest.raises(calbias.InputError, match="a sketch holds at most 68719476736 rows"):
        total + total


@given(data=data_sets(max_size=60), n_bins=st.sampled_from([1, 2, 3, 5, 10, 15, 20, 100]))
def test_equal_width_bins_are_exact_and_others_within_the_bounds(data, n_bins):
    sketch, n = sketch_of(*data), len(data[0])
    for name in ("ece_bin_ew", "mce_ew", "ece_debias_squared_ew"):
        exact = estimate(name, *data, n_bins=n_bins)
        assert sketch.estimate(name, n_bins).value == pytest.approx(exact.value, abs=1e-12)
        assert sketch.estimate(name, n_bins).n_bins == exact.n_bins
    bounds = {"ks": sketch.largest / n, "ece_label_binned_ew": W}
    for name, bound in bounds.items():
        assert abs(sketch.estimate(name).value - estimate(name, *data).value) <= bound + 1e-12, name


def test_scores_that_are_cell_means_lose_nothing():
    """Eleven verbalised confidences: every estimator of groups is exact, the sweep too."""
    generator = np.random.default_rng(3)
    scores = generator.integers(0, 11, 4000) / 10
    hits = generator.random(4000) < scores * 0.9
    sketch = sketch_of(scores, hits)
    for name in ("ece_bin_em", "ece_debias_em", "ece_sweep_em", "ece_sweep_ew", "ks"):
        found, expected = sketch.estimate(name), estimate(name, scores, hits)
        assert found.value == pytest.approx(expected.value, abs=1e-12), name
        assert (found.n_bins, found.norm, found.target) == (
            expected.n_bins, expected.norm, expected.target,
        )  # fmt: skip


def test_sqlite_counts_the_same():
    table = sqlite3.connect(":memory:")
    try:
        table.execute("SELECT FLOOR(1.5)")
    except sqlite3.OperationalError:
        pytest.skip("this SQLite has no mathematical functions")
    table.execute("CREATE TABLE predictions (p REAL, y INTEGER)")
    scores, hits = sketch_recipes.SCORES[:60_000:40], sketch_recipes.HITS[:60_000:40]
    rows = zip(scores.tolist(), hits.tolist(), strict=True)
    table.executemany("INSERT INTO predictions VALUES (?, ?)", rows)
    found = table.execute(Sketch.sql("predictions", "p", "y")).fetchall()
    assert Sketch.from_counts(*zip(*found, strict=True)) == sketch_of(scores, hits)


@pytest.mark.parametrize("recipe", ["duckdb", "dask", "spark", "spark_sql"])
def test_recipes_in_an_environment_of_their_own(recipe):
    usual = ROOT / ".venv-recipes/bin/python"
    python = os.environ.get("CALBIAS_RECIPES", usual if usual.exists() else None)
    if python is None and importlib.util.find_spec(recipe):
        python = sys.executable
    if python is None:
        pytest.skip(
            "needs an environment: python -m venv .venv-recipes && .venv-recipes/bin/pip install "
            ". -r envs/recipes.txt; or CALBIAS_RECIPES, the Python of another one"
        )
    if recipe.startswith("spark") and not shutil.which("java"):
        pytest.skip("Spark needs Java")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "scripts")}
    run = subprocess.run(
        [python, ROOT / "tests/sketch_recipes.py", recipe], env=environment, text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    assert run.stdout.split() == [recipe], run.stderr


BYTES = sketch_of([0.2, 0.8], [0, 1]).to_bytes()
FLIPPED = BYTES[:-40] + bytes([BYTES[-40] ^ 1]) + BYTES[-39:]
FORGED = [BYTES[:24] + cells + BYTES[32:-32] for cells in (b"\xff" * 8, 2 * BYTES[28:32])]
test_bad_bytes = refuses(
    Sketch.from_bytes,
    *((x + hashlib.sha256(x).digest(), "counts are not as to_bytes writes them") for x in FORGED),
    (FORGED[0][:-1] + hashlib.sha256(FORGED[0][:-1]).digest(), "counts are not as to_bytes"),
    (FLIPPED, "the sketch's checksum is wrong: it was cut or damaged; copy it again"),
    (BYTES[:-1], "the sketch's checksum is wrong"),
    (b"nonsense" * 20, "these bytes are not a sketch"),
    (b"", "these bytes are not a sketch"),
    (
        BYTES[:8] + b"\x09" + BYTES[9:],
        "the sketch has version 9, and this calbias reads version 1: update",
    ),
    ("text", "a str is not a sketch: give the bytes"),
)

test_bad_rows = refuses(
    lambda scores, hits: Sketch().add(scores, hits),
    ([0.5, 1.5], [0, 1], "row 1 .*score 1.5 is"),
    ([0.5, np.nan], [0, 1], "row 1 .*score nan is"),
    ([0.5], [2], "row 0 .*hit 2 is neither 0 nor 1"),
    ([0.5, 0.6], [1], "of one length"),
)

test_bad_sketches = refuses(
    lambda make: make(),
    (lambda: Sketch(100) + Sketch(200), "sketches of 100 and of 200 cells cannot be added: make"),
    (lambda: Sketch(7), "n_cells must be a whole number of 100 to 262144, not 7"),
    (lambda: Sketch().estimate("ks"), "the sketch has no rows: add some"),
    (lambda: sketch_of([0.5], [1]).audit(), "one row is too little to judge a model by"),
    (lambda: sketch_of([0.5] * 9, [1] * 9).audit(n_bins=7), "7 bins divide cells: n_bins must"),
    (lambda: sketch_of([0.5], [1]).estimate("kde"), "kde has no definition with weights"),
    (lambda: Sketch.from_array([[1, 2]]), r"counts must be whole numbers of shape \(4, cells\)"),
    (lambda: Sketch.from_array(np.full((4, 57_638), -1)), "counts are impossible"),
    (lambda: Sketch.from_counts([99_999], [1], [1], [1]), "cell 99999 is not one of 0 to 57637"),
    (lambda: Sketch(262_145), "n_cells must be a whole number of 100 to 262144"),
    (lambda: Sketch.from_counts([3000, 1], [2], [1], [1]), "must have one length each"),
    (lambda: Sketch.from_counts([3000], [2], [None], [1]), "cell 3000: rows, hits and the sum"),
    (lambda: sketch_of([0.5] * 2, [0, 1]).audit(seed=-1), "seed"),
    (lambda: Sketch.from_counts([3000], [2], [3], [1]), "counts are impossible"),
    (lambda: Sketch.from_counts([3000], [2], [1], [7]), "the sum of its scores does not fit its 2"),
)


def test_the_most_cells_keep_a_score_near_0_in_its_cell():
    for n_cells in (100, 57_600, 262_144):
        sketch = Sketch(n_cells)
        sketch.add([2.5e-6, 1 - 2.5e-6], [0, 1])
        assert sketch.scored().scores == pytest.approx([2.5e-6, 1 - 2.5e-6], rel=1e-9)


def test_a_failed_add_counts_nothing():
    sketch = sketch_of([0.5], [1])
    with pytest.raises(calbias.InputError):
        sketch.add([0.5, 1.5], [1, 1])
    assert sketch == sketch_of([0.5], [1])
    assert sketch != 3


def test_whole_weights_are_repeated_rows():
    generator = np.random.default_rng(7)
    scores, times = generator.random(500) ** 0.01, generator.integers(0, 4, 500)
    hits = generator.random(500) < 0.8
    weighted, repeated = Sketch(), Sketch()
    weighted.add(scores, hits, sample_weight=times)
    repeated.add(np.repeat(scores, times), np.repeat(hits, times))
    assert weighted.to_bytes() == repeated.to_bytes()
    most = 1 << 35  # sums beyond 64 bits
    weighted.add([1.0, 0.99], [1, 0], sample_weight=[most, most - weighted.n])
    assert weighted.n == 2 * most
    assert weighted.estimate("ece_bin_ew").value == pytest.approx(0.495 - 0.0, abs=1e-6)


test_weights_that_a_sketch_cannot_count = refuses(
    lambda weights: Sketch().add([0.2, 0.9], [0, 1], sample_weight=weights),
    ([1, 0.5], r"row 1 .*: sample_weight 0.5 is not a whole number"),
    ([-1, 1], "row 0 .*: sample_weight -1 is not"),
    ([1], "sample_weight must have one weight a row"),
)
