"""Small tables of predictions, and files of them."""

import numpy as np
import pandas as pd
from scipy.special import softmax


def scored(n=300, seed=0):
    generator = np.random.default_rng(seed)
    score = generator.beta(4, 1.5, n)
    hit = (generator.random(n) < score**1.5).astype(int)
    return pd.DataFrame(
        {"score": score, "hit": hit, "site": np.arange(n) % 3, "row": np.arange(n) // 3}
    )


def classed(n=300, seed=0):
    generator = np.random.default_rng(seed)
    p = softmax(2 * generator.normal(size=(n, 3)), axis=1)
    table = pd.DataFrame(p, columns=["p_0", "p_1", "p_2"])
    table["label"] = [generator.choice(3, p=row) for row in p]
    return table


def written(table, path):
    table.to_csv(path, index=False) if path.suffix == ".csv" else table.to_parquet(path)
    return path
