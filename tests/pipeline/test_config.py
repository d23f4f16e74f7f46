"""The configuration: defaults, and refusals that name the key and the remedy."""

import math
from pathlib import Path

import pytest
import yaml
from checkout import PUBLISHED, ROOT
from configurations import EXPERIMENT, SCHEMA, complete, refused
from jsonschema import Draft202012Validator

from calbias.errors import InputError
from calbias.truth.curves import GLM_NAMES
from pipeline import config as configuration
from pipeline import models
from pipeline.table_schema import read_yaml

DEFAULT = read_yaml(ROOT / "config/config.yaml")
README = (ROOT / "config/README.md").read_text(encoding="utf-8")
NAN = math.nan


def leaves(schema, path=()):
    """Yield (path, schema) of every key of the configuration."""
    for key, value in schema.get("properties", {}).items():
        yield (*path, key), value
        for option in (value, *value.get("oneOf", ())):
            yield from leaves(option, (*path, key))


KEYS = [*leaves(SCHEMA), *leaves(SCHEMA["$defs"]["experiment"], ("experiments",))]


def test_every_key_is_described_typed_and_explained():
    for path, leaf in KEYS:
        assert leaf["description"].endswith("."), path
        assert {"type", "enum", "const", "oneOf"} & set(leaf), path
        assert f"`{path[-1]}`" in README
        if "default" in leaf:
            Draft202012Validator(leaf).validate(leaf["default"])


def test_defaults_agree_with_the_default_configuration():
    top_level = [(path[0], leaf) for path, leaf in KEYS if len(path) == 1]
    described = {key: leaf["default"] for key, leaf in top_level if "default" in leaf}
    stated = {key: value for key, value in DEFAULT.items() if key in described}
    assert stated == {key: described[key] for key in stated}
    assert len(stated) >= 7


def test_the_readme_mentions_no_key_that_is_not_there():
    rows = [line.split("|")[1] for line in README.splitlines() if line.startswith("| `")]
    named = {name.strip("` ") for row in rows for name in row.split(",")}
    known = {part for path, _ in KEYS for part in path}
    files = {name for name in named if name.endswith(".yaml")}
    estimators = {name for name in named if name.startswith(("ece_", "kde"))}
    assert named - known - files - estimators == set()


@pytest.mark.parametrize("name", [path.name for path in (ROOT / "config").glob("*.yaml")])
def test_the_configurations_that_come_with_it_are_valid(name):
    over = read_yaml(ROOT / "config" / name)
    config = configuration.complete_config(laid_over(DEFAULT, over), SCHEMA)
    table = models.read_models(ROOT / config["models"])
    experiments = models.with_models(config["experiments"], table, PUBLISHED)
    assert set(experiments) == set(config["experiments"])
    for experiment in experiments.values():
        assert {"n_samples", "n_bins", "replicates", "estimators"} <= set(experiment)


def laid_over(config, over):
    """Return ``config`` with ``over`` laid over it key by key, as Snakemake does."""
    merged = dict(config)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = laid_over(merged[key], value) if both else value
    return merged


def test_experiments_inherit_and_may_be_left_out():
    experiments = {"one": EXPERIMENT, "two": {**EXPERIMENT, "replicates": 9}, "no": None}
    found = complete(replicates=7, experiments=experiments)["experiments"]
    assert {name: given["replicates"] for name, given in found.items()} == {"one": 7, "two": 9}
    assert (found["one"]["n_bins"], found["one"]["estimators"]) == ([15], ["kde"])


MINE = {"experiments": {"mine": EXPERIMENT}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sede": 3}, "top level: unknown key 'sede'. Did you mean seed?"),
        ({"audit": {"bins": 3}}, "audit: unknown key 'bins'"),
        ({"seed": -1}, "seed: -1 is less than the minimum of 0 (Seed of every"),
        ({"seed": "x"}, "seed: 'x' must be a whole number (Seed"),
        ({"softmax": "exct"}, "softmax: 'exct' is not one of ['exact', 'float32_2020']"),
        ({"estimators": ["kde", "kde"]}, "estimators: 'kde' is listed twice; remove one"),
        ({"estimators": "kde"}, "estimators: 'kde' must be a list (Estimators of"),
        ({"estimators": ["ece_sweep"]},
         "estimators: unknown estimator 'ece_sweep'. Did you mean ece_sweep_e"),
        ({"estimators": ["ece_debias_em"], "audit": {"norm": 2}, "norm": 1, **MINE},
         "experiments.mine.estimators: ece_debias_em: defined for norm 2 only, and norm is 1"),
        ({"shards": 30, "replicates": 20, **MINE},
         "shards: 30 shards of the 20 replicates of experiment mine: write at most one"),
        ({"download": "true"}, "download: 'true' must be true or false; on the command line write "
         "--config download=True or False (Whether"),
        ({"norm": 0}, "norm: 0 is less than or equal to the minimum of 0"),
        ({"norm": NAN}, "norm: must be a finite number"),
        ({"logits_dir": "{here}"}, "logits_dir: '{here}' does not fit: Folder"),
        ({"mirrors": ["ftp://x"]}, "mirrors.0: 'ftp://x' does not fit: An address"),
        ({"experiments": {"My name": EXPERIMENT}}, "experiments: 'My name' does not fit: An"),
        ({"experiments": {"mine": {"scores": [[1, 1]], "powers": [2]}}},
         "experiments.mine: 'n_samples' is a required property"),
        ({"experiments": {"heatmap": None}},
         "experiments.heatmap: no such experiment. Did you mean heatmaps?"),
        ({"experiments": {"heatmap": {"replicates": 5}}},
         "experiments.heatmap: no such experiment. Did you mean heatmaps?"),
    ],
)  # fmt: skip
def test_refusals(changes, message):
    refused(f"config: {message}", **changes)


def test_estimators_of_another_norm_are_left_out_with_a_warning():
    keys = {"estimators": ["kde", "ece_debias_em"], **MINE}
    assert complete(**keys)["experiments"]["mine"]["estimators"] == ["kde", "ece_debias_em"]
    with pytest.warns(UserWarning, match="experiments.mine.estimators: left out where norm is 1"):
        config = complete(**keys, norm=1)
    assert config["audit"] == {"norm": 1, "n_bins": 15}
    assert config["experiments"]["mine"]["estimators"] == ["kde"]


def test_an_error_names_the_file_that_the_key_stands_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "seed: 1\nshards: 2\nreplicates: 7\nexperiments: {x: {n_samples: [1]}}\n"
    Path("a.yaml").write_text(text)
    Path("b.yaml").write_text("seed: -1\nsede: 3\n")
    config = {**yaml.safe_load(text), "seed": -1, "sede": 3, "replicates": 0}
    for message, place in (
        ("seed: -1 is less", "b.yaml"), ("shards: too many", "a.yaml"),
        ("experiments.x.n_samples.0: 1", "a.yaml"), ("replicates: too few", "--config"),
        ("top level: unknown key 'sede'.", "b.yaml"), ("norm: of --config", "config"),
    ):  # fmt: skip
        error = configuration.with_file(
            InputError(f"config: {message}"), ["a.yaml", "b.yaml"], config
        )
        assert error == f"{place}: {message}"
    message = "models.csv, line 2: bad"
    assert configuration.with_file(InputError(message), ["a.yaml", "b.yaml"], config) == message


TWICE = ": beta_1_1_power_2 is there twice"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_sample": [100]}, ": unknown key 'n_sample'. Did you mean n_samples?"),
        ({"n_samples": [1.5]}, ".n_samples.0: 1.5 must be a whole number"),
        ({"scores": [[1]]}, ".scores.0: [1] is too short"),
        ({"curves": ["idenity"]}, ".curves.0: 'idenity' is not one of"),
        ({"scores": [[1, 1], [NAN, 1]]}, ".scores.1.0: must be a finite number"),
        ({"powers": [10**400]}, ".powers.0: must be a finite number"),
        ({"powers": {"start": 1, "stop": math.inf, "count": 3}}, ".powers.stop: must be a finite"),
        ({"powers": {"start": 1, "stop": 2, "cuont": 3}},
         "does not fit: Exponents d of curves c^d, a list, or count values from start to stop."),
        ({"glms": [["log_log", 0, 1.2]]}, ".glms.0.0: 'log_log' is not one of"),
        ({"glms": [["log_log_b1", 0.5, 1]]}, ".glms: log_log_b1 has no b0: write 0 for it"),
        ({"powers": [2, 2.0]}, TWICE),
        ({"scores": [[1, 1], [1, 1.0]]}, TWICE),
        ({"models": "all", "curve": "fitted"},
         "does not fit: Scenarios × sample sizes × estimators. Scenarios come from models with"),
    ],
)  # fmt: skip
def test_refusals_within_an_experiment(changes, message):
    place = "" if message.startswith("does") else "config: experiments.mine"
    refused(place + message, experiments={"mine": {**EXPERIMENT, **changes}})


def test_a_file_of_ones_own_that_is_refused(tmp_path):
    """More: test_estimator_files.py."""
    (tmp_path / "mine.py").write_text("def my_estimate(): ...")
    keys = {"estimator_dir": str(tmp_path), "estimators": ["mine"]}
    refused(f"config: estimators: {tmp_path}/mine.py: define estimate(scores", **keys)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("estimators", ["ece_bin_ew"], "detection_null.estimators: kde is missing"),
        ("n_samples", [200], "detection_null.n_samples: 100 is missing"),
        ("n_bins", [10], "detection.n_bins: give one number"),
    ],
)
def test_a_null_without_what_it_tests_is_refused(key, value, words):
    both = {"detection": EXPERIMENT, "detection_null": EXPERIMENT}
    assert complete(experiments=both)["experiments"]
    refused(
        f"experiments.{words}", experiments=both | {"detection_null": {**EXPERIMENT, key: value}}
    )


def test_glms_of_the_schema_are_those_of_the_curves():
    glms = SCHEMA["$defs"]["experiment"]["properties"]["glms"]["items"]["prefixItems"]
    assert tuple(glms[0]["enum"]) == GLM_NAMES
    experiment = {"scores": [[2, 0.1]], "glms": [["log_log_b1", 0, 1.2]], "n_samples": [100]}
    assert list(complete(experiments={"mine": experiment})["experiments"]) == ["mine"]


def test_powers_are_listed_or_evenly_spaced():
    spaced = {"powers": {"start": 1, "stop": 10, "count": 4}}
    for given, powers in (({"powers": [1, 2.5]}, [1, 2.5]), (spaced, [1, 4, 7, 10]), ({}, [])):
        assert configuration.powers(given) == pytest.approx(powers)
