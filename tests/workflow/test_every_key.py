"""Every key of the configuration, at each of its documented values, ends in a page.

A dry run plans steps and does not run them. Here the small configuration is changed in one key
after it has run, and what the change concerns runs to the end.
"""

import numpy as np
import pandas as pd
import plans
import pytest
import yaml
from checkout import GENUINE, ROOT, SMOKE
from mirror import serving_folder
from test_isolation import example_of_the_docs

from calbias.truth.curves import GLM_NAMES
from pipeline.table_schema import read_yaml

OWN = {"n_samples": [50], "estimators": ["kde"]}  # and scenarios: an experiment of one's own
OF_SCORES = {"scores": [[2, 1]], "n_samples": [50]}
VALUES = {
    "seed": [0],
    "softmax": ["exact", "float32_2020"],
    "logits_dir": ["own", "empty"],
    "fits": ["real_or_published", "published", "refitted", "own_scores"],
    "download": [False, True],
    "mirrors": [["http://127.0.0.1:9/{file}"]],
    "models": ["config/models.csv", "own/models.csv"],
    "estimators": [["ece_bin_ew", "ece_bin_em", "ece_debias_ew", "ece_debias_em", "ece_sweep_ew",
                    "ece_sweep_em", "ece_label_binned_ew", "ece_label_binned_em",
                    "ece_debias_unclipped_ew", "ece_debias_unclipped_em", "kde", "kde_unrooted"]],
    "estimator": ["own/my_estimator.py", "own", "kde", ["kde", "own/my_estimator.py"]],
    "guests": [[]],
    "estimator_dir": ["own", ""],  # searched after calbias's own
    "replicates": [2, 12],
    "shards": [3],
    "norm": [1, 0.5, 3],
    "score_precision": ["exact", "float64", "float32"],
    "audit.norm": [1, 2],
    "audit.n_bins": [1, 10],
    "score_files": [False, True],
    "replication": ["all", ["resnet110_brier_c10"]],
    "bootstrap": [3],
    "experiments": [{name: None} for name in read_yaml(ROOT / SMOKE)["experiments"]],
    "experiments.mine.models": ["all", ["resnet110_c10"]],
    "experiments.mine.curve": ["fitted", "identity"],
    "experiments.mine.scores": [[[1, 1], [2.8, 0.05]]],
    "experiments.mine.curves": [["identity"], ["logistic"]],
    "experiments.mine.powers": [[1.5], {"start": 1, "stop": 2, "count": 3}],
    "experiments.mine.powers.start": [0.5],
    "experiments.mine.powers.stop": [4],
    "experiments.mine.powers.count": [2],
    "experiments.mine.glms": [
        [[name, -0.5 * ("b0" in name), 0.5 * ("b1" in name)] for name in GLM_NAMES]
    ],
    "experiments.mine.n_samples": [[1, 20]],
    "experiments.mine.n_bins": [[1, 20]],
    "experiments.mine.replicates": [2],
    "experiments.mine.estimators": [["ece_sweep_ew"]],
}  # fmt: skip
WITH = {  # what a key needs next to it
    "estimator_dir": {"estimators": ["ece_bin_ew", "kde"]},
    "models": {"logits_dir": "own"},
    "download": {"logits_dir": "fetched", "models": "own/two.csv", "mirrors": ["MIRROR"]},
    "experiments.mine.models": {"experiments": {"mine": {"curve": "fitted", **OWN}}},
    "experiments.mine.curve": {"experiments": {"mine": {"models": ["resnet110_c10"], **OWN}}},
    "experiments.mine.scores": {"experiments": {"mine": {"powers": [2], **OWN}}},
    "experiments.mine.powers": {"experiments": {"mine": OF_SCORES}},
    "experiments.mine.powers.start": {
        "experiments": {"mine": {"powers": {"stop": 2, "count": 3}, **OF_SCORES}}
    },
    "experiments.mine.powers.stop": {
        "experiments": {"mine": {"powers": {"start": 1, "count": 3}, **OF_SCORES}}
    },
    "experiments.mine.powers.count": {
        "experiments": {"mine": {"powers": {"start": 1, "stop": 2}, **OF_SCORES}}
    },
    "experiments.mine.glms": {"experiments": {"mine": OF_SCORES}},
    "experiments.mine.curves": {"experiments": {"mine": OF_SCORES}},
    "experiments.mine.n_samples": {"experiments": {"mine": {"scores": [[2, 1]], "powers": [2]}}},
    "experiments.mine.n_bins": {"experiments": {"mine": {"powers": [2], **OF_SCORES}}},
    "experiments.mine.replicates": {"experiments": {"mine": {"powers": [2], **OF_SCORES}}},
    "experiments.mine.estimators": {"experiments": {"mine": {"powers": [2], **OF_SCORES}}},
}
CASES = [(key, number) for key, values in VALUES.items() for number in range(len(values))]


def test_every_key_and_every_value_of_a_list_of_values_is_tried():
    schema = read_yaml(ROOT / "workflow/schemas/config.schema.yaml")
    mine = schema["$defs"]["experiment"]
    keys = {**dict(leaves(schema)), **dict(leaves(mine, "experiments.mine."))}
    assert {*keys} - {"audit", "experiments"} == {*VALUES} - {"experiments"}
    for key, leaf in keys.items():
        allowed = leaf.get("enum") or ([True, False] if leaf.get("type") == "boolean" else [])
        assert [value for value in allowed if value not in VALUES[key]] == []


def leaves(schema, before=""):
    """Yield (key with dots, schema) of all keys."""
    for key, leaf in schema["properties"].items():
        yield before + key, leaf
        for option in (leaf, *leaf.get("oneOf", ())):
            if "properties" in option:
                yield from leaves(option, f"{before}{key}.")


@pytest.fixture(scope="module")
def with_own_files(smoke, tmp_path_factory):
    """A finished small run, and files of a user's next to it."""
    checkout = smoke.copy(tmp_path_factory.mktemp("keys") / "checkout")
    own = checkout / "own"
    own.mkdir()
    for folder in ("empty", "fetched"):
        (checkout / folder).mkdir()
    (own / "my_estimator.py").write_text(example_of_the_docs(), "utf-8")
    draw = np.random.default_rng(5)
    scores = draw.beta(4, 1, size=300)
    hits = (draw.random(300) < scores).astype(int)
    pd.DataFrame({"score": scores, "hit": hits}).to_csv(own / "scores.csv", index=False)
    folds = {}
    for fold in ("validation", "test"):
        folds[f"{fold}_logits"] = draw.normal(size=(300, 3)) * 2
        noise = draw.gumbel(size=(300, 3)) * 2
        folds[f"{fold}_labels"] = (folds[f"{fold}_logits"] + noise).argmax(1)
    np.savez(own / "three.npz", **folds)
    shipped = [path.name for path in sorted(GENUINE.parent.glob("*.p"))]
    rows = [
        f"{name.split('_logits')[0].removeprefix('probs_')},CIFAR-10,10,{name}" for name in shipped
    ]
    mine = [rows[-1], "mine,own,2,scores.csv", "three,own,3,three.npz"]
    for table, lines in (("models", mine), ("two", rows)):
        text = "\n".join(["model,group,n_classes,file", *lines]) + "\n"
        (own / f"{table}.csv").write_text(text, "utf-8")
    return checkout


@pytest.mark.nightly
@pytest.mark.parametrize(("key", "number"), CASES)
def test_it_ends_in_a_page(key, number, with_own_files, tmp_path):
    checkout = with_own_files.copy(tmp_path / "checkout")
    change = plans.laid_over(WITH.get(key, {}), plans.nested(key.split("."), VALUES[key][number]))
    with serving_folder(ROOT / "resources/logits") as address:
        config = plans.laid_over(read_yaml(ROOT / SMOKE), change)
        if config.get("mirrors") == ["MIRROR"]:
            config["mirrors"] = [f"{address}/{{file}}"]
        (checkout / "changed.yaml").write_text(yaml.safe_dump(config), "utf-8")
        for page in checkout.path.glob("results/*.html"):
            page.unlink()
        checkout.run(config="changed.yaml")
    folders = ("results", "results/estimators/*")
    assert [page for folder in folders for page in checkout.path.glob(f"{folder}/index.html")]
    assert "Nothing to be done" in checkout.run("--dry-run", config="changed.yaml")
