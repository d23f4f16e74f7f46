"""Recipes of docs/tool/sketches.md with duckdb, dask, pyspark; test_sketch.py runs them elsewhere.

Prints the name of each recipe whose sketch has the bytes of one pass.
"""

import operator
import sys

import numpy as np

import calbias

GENERATOR = np.random.default_rng(5)
EDGES = np.concatenate([np.arange(0, 57_601, 480) / 57_600, 4.0 ** -np.arange(8, 28)])
SCORES = np.concatenate([
    GENERATOR.beta(2.8, 0.05, 30_000), GENERATOR.beta(0.1, 3.0, 20_000), EDGES,
    np.nextafter(EDGES[1:], 0), np.nextafter(EDGES[:-1], 1), 1 - EDGES,
])  # fmt: skip
HITS = (GENERATOR.random(SCORES.size) < SCORES).astype(np.int64)


def one_pass():
    sketch = calbias.Sketch()
    sketch.add(SCORES, HITS)
    return sketch.to_bytes()


def by_duckdb():
    import duckdb
    import pyarrow as pa

    rows = pa.table({"score": SCORES, "hit": HITS})  # duckdb finds the name
    assert rows.num_rows == SCORES.size
    columns = zip(*duckdb.sql(calbias.Sketch.sql("rows")).fetchall(), strict=True)
    return calbias.Sketch.from_counts(*columns).to_bytes()


def sketch_of(part):
    sketch = calbias.Sketch()
    sketch.add(*part)
    return sketch


def by_dask():
    import dask.bag

    parts = list(zip(np.array_split(SCORES, 7), np.array_split(HITS, 7), strict=True))
    bag = dask.bag.from_sequence(parts, npartitions=3).map(sketch_of)
    total = bag.fold(operator.add).compute(scheduler="threads")
    return total.to_bytes()


def _spark():
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    return builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()


def sketches_of(rows):
    part = list(rows)
    yield sketch_of(zip(*part, strict=True)) if part else calbias.Sketch()


def by_spark():
    rows = list(zip(SCORES.tolist(), HITS.tolist(), strict=True))
    parts = _spark().sparkContext.parallelize(rows, 5)
    return parts.mapPartitions(sketches_of).reduce(operator.add).to_bytes()


def by_spark_sql():
    rows = list(zip(SCORES.tolist(), HITS.tolist(), strict=True))
    _spark().createDataFrame(rows, ["score", "hit"]).createOrReplaceTempView("predictions")
    query = calbias.Sketch.sql("predictions").replace("DOUBLE PRECISION", "DOUBLE")
    columns = zip(*_spark().sql(query).collect(), strict=True)
    return calbias.Sketch.from_counts(*columns).to_bytes()


if __name__ == "__main__":
    for recipe in sys.argv[1:]:
        if globals()[f"by_{recipe}"]() == one_pass():
            print(recipe)
