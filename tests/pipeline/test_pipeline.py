"""What Snakemake asks before and after jobs: models, sizes, what can be made, errors of jobs."""

import json
import re

import pytest
from checkout import PUBLISHED, ROOT
from command import run
from refusals import refuses_texts

from calbias.errors import InputError
from calbias.estimation.registry import estimator_file
from pipeline import job_sizes as sizes
from pipeline import models, rule_helpers, versions
from pipeline.catalogue import available_figures, available_tables, default_tables
from pipeline.guests import MAIN
from pipeline.table_schema import read_yaml, tables
from pipeline.tables import validate_unchanged, write_table
from pipeline.write_results import made_by, record_of, remember_inputs

test_models_tables_that_are_refused = refuses_texts(
    models.read_models,
    "models.csv",
    ("model,group,n_classes,file\n", "the table lists no model"),
    ("model,group,n_classes,file\na b,g,2,f\n", "line 2: model 'a b': use letters"),
    ("model,group,n_classes,file\na,g,2,f\na,g,2,f\n", "line 3: model a is there already"),
    ("model,group,n_classes,file\na,g,1,f\n", "line 2: n_classes of a must be a whole number"),
    ('model,group,n_classes,file\na,"g\nh",2,f\n,g,2,f\n', "line 4: model ''"),
    ("model,group,n_classes,file\na,g,²,f\n", "line 2: n_classes of a must be a whole number"),
    (f"model,group,n_classes,file\n{'a' * 101},g,2,f\n", "… has 101 characters: files are"),
    ("model,group,n_classes,file\na,g,2,f{x}.p\n", "line 2: file 'f{x}.p' of a has braces"),
    ("model,group,n_classes,file\na,,2,f\n", "line 2: a has no group: write model,group,"),
)


def test_a_model_without_a_file(tmp_path):
    (tmp_path / "models.csv").write_text("model,group,n_classes,file\na,g,2,\n")
    assert models.read_models(tmp_path / "models.csv")["a"]["file"] == ""


def test_models_of_an_experiment():
    table = {"resnet110_c10": {}, "my_model": {}}
    given = {"every": "all", "some": ["my_model", "resnet152_imgnet"], "none": ["resnet152_imgnet"]}
    experiments = {name: {"models": names} for name, names in given.items()}
    experiments["synthetic"] = {"scores": [[1, 1]]}
    resolved = models.with_models(experiments, table, PUBLISHED)
    assert list(resolved) == ["every", "some", "synthetic"]
    assert resolved["every"]["models"] == ["resnet110_c10", "my_model"]
    assert resolved["some"]["models"] == ["my_model"]
    with pytest.raises(InputError, match=r"x\.models: unknown model 'my_modle'. Did you mean my_m"):
        models.with_models({"x": {"models": ["my_modle"]}}, table, PUBLISHED)


DEFAULT = read_yaml(ROOT / "config/config.yaml")
FIGURES_4_6 = dict.fromkeys(DEFAULT["experiments"]) | {
    name: DEFAULT["experiments"][name] for name in ("realistic", "perfect")
}
CELLS = {"n_samples": [100, 200], "n_bins": [15], "replicates": 1000, "estimators": ["a", "b"]}


def test_estimates_of_an_experiment():
    of_models = {**CELLS, "models": ["x", "y", "z"]}
    assert sizes.estimates(of_models) == 3 * 2 * 1000
    assert sizes.estimates_of_all(of_models, of_models) == 2 * 3 * 2 * 2 * 1000
    curves = {"curves": ["identity"], "powers": [2], "glms": [["logit", 0, 1]]}
    scores = {**CELLS, **curves, "scores": [[1, 1], [2, 1]], "n_bins": [2, 4]}
    assert sizes.estimates(scores) == 2 * 3 * 2 * 2 * 1000


def sized(**changes):
    return rule_helpers.read_settings(DEFAULT | changes, [])[2]


def test_the_number_of_jobs_follows_the_work():
    for experiment in sized().values():  # the default scale: one job each
        assert set(experiment["shards"].values()) == {1}
    million = sized(replicates=10**6)
    for experiment in million.values():
        for name, shards in experiment["shards"].items():
            file = estimator_file(name)
            n_estimates = sizes.estimates(experiment, file)
            assert n_estimates / shards <= sizes.LARGEST
            seconds = sizes.seconds(experiment, file)
            assert seconds / shards <= sizes.LONGEST
            larger = n_estimates > (shards - 1) * sizes.LARGEST
            assert shards == 1 or larger or seconds > (shards - 1) * sizes.LONGEST
    assert set(million["realistic"]["shards"].values()) == {7}
    assert million["heatmaps"]["shards"]["ece_bin_ew"] == 11  # 108 cells
    assert million["heatmaps"]["shards"]["ece_sweep_ew"] == 2  # 18: it chooses its bins
    given = sized(shards=3)
    assert {n for each in given.values() for n in each["shards"].values()} == {3}


def test_long_data_sets_are_split_by_time():
    one = {"scores": [[1, 1]], "curves": ["identity"], "n_bins": [15], "replicates": 1000}
    file = estimator_file("ece_bin_ew")
    assert sizes.shards_by_size({**one, "n_samples": [10**6]}, file) == 1
    assert sizes.shards_by_size({**one, "n_samples": [10**7]}, file) == 1
    assert sizes.shards_by_size({**one, "n_samples": [10**8]}, file) == 2  # 500 s
    assert sizes.shards_by_size({**one, "n_samples": [10**12], "replicates": 9}, file) == 9


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"shards": 1000},
            "shards: 1000 make 37000 simulation jobs, and more than 20000 keep Snak",
        ),
        ({"replicates": 10**8}, "replicates: 100000000 make 30732 simulation jobs, and more than"),
    ],
)
def test_too_many_jobs_are_refused(changes, message):
    with pytest.raises(InputError, match=f"config: {message}"):
        sized(**changes)


def test_no_job_of_a_hundred_models_and_a_million_replicates_asks_for_more_than_4_gb():
    grid = DEFAULT["experiments"]["realistic"]["n_samples"]
    scores = [[1 + k / 10, 0.5] for k in range(100)]  # as many scenarios as models
    large = {"scores": scores, "curves": ["identity"], "n_samples": grid}
    million = {
        name: value | {"replicates": 10**6}
        for name, value in (DEFAULT["experiments"] | {"large": large}).items()
    }
    for experiment in sized(experiments=million).values():
        assert sizes.to_summarise(experiment) <= 4000
        for name, number in experiment["shards"].items():
            estimates = sizes.estimates(experiment, estimator_file(name))
            assert sizes.to_simulate(estimates / number) <= 4000


def test_the_table_of_scales_is_the_arithmetic():
    words = (ROOT / "workflow/profiles/README.md").read_text("utf-8")
    rows = re.findall(r"^\| 10(.) \| \S+ \| (.*) \|$", words, re.M)
    assert len(rows) == 6
    for exponent, numbers in rows:
        experiments = sized(replicates=10 ** "⁰¹²³⁴⁵⁶⁷⁸".index(exponent), experiments=FIGURES_4_6)
        files = {name: estimator_file(name) for name in experiments["perfect"]["shards"]}
        jobs = sum(sum(each["shards"].values()) for each in experiments.values())
        work = [
            sizes.seconds(each, file) for each in experiments.values() for file in files.values()
        ]
        megabytes = sizes.to_summarise(experiments["perfect"])
        disk = 10.4e-9 * sizes.estimates_of_all(*experiments.values())
        expected = [jobs, (sum(work) + 0.7 * jobs) / 3600, disk, megabytes / 1000]
        assert [float(x) for x in numbers.split(" | ")] == pytest.approx(expected, rel=0.05)


CONTRACTS, TABLES = tables(MAIN), default_tables(MAIN)
EXPERIMENTS = {name: dict(value) for name, value in DEFAULT["experiments"].items()}
for experiment in EXPERIMENTS.values():
    if "models" in experiment:
        experiment["models"] = ["resnet110_c10", "resnet_wide32_c100", "resnet152_imgnet"]


def test_every_table_has_a_contract_and_every_contract_a_table():
    assert set(TABLES) <= set(CONTRACTS)
    full = {"beta_fits_float32_2020", "glm_fits_float32_2020"}  # where there are real logits
    full.add("own_score_fits")  # and with ``fits: own_scores``
    asked = {f"estimator_{what}" for what in ("comparison", "selection", "cost")}
    assert set(CONTRACTS) - set(TABLES) == full | asked


def test_the_default_configuration_makes_all_tables_and_figures():
    tables = available_tables(EXPERIMENTS)
    assert {*tables} == {*TABLES}
    assert {"bias", "claims", "recalibration_selection", "measures"} < {*tables}
    figures = available_figures(EXPERIMENTS)
    assert len([name for name in figures if name.startswith("fig")]) == 14 + 1


def test_what_rests_on_a_missing_experiment_model_or_logits_is_left_out():
    def made(available, *given):
        return {*available(*given)}

    figures = made(available_figures, EXPERIMENTS)
    for missing, lost, of_it in (
        ("perfect", {"fig6_perfect"}, set()),
        ("detection_null", {"fig5_detection"}, {"detection", "detection_limits"}),
    ):
        fewer = {name: value for name, value in EXPERIMENTS.items() if name != missing}
        assert set(TABLES) - made(available_tables, fewer) >= of_it
        assert figures - made(available_figures, fewer) == lost
    fewer = {**EXPERIMENTS, "heatmaps": {**EXPERIMENTS["heatmaps"], "models": ["resnet110_c10"]}}
    lost = figures - made(available_figures, fewer)
    assert "fig8_bias_resnet_wide32_c100" in lost
    assert "fig7_bias_resnet110_c10" not in lost
    assert "table1_recalibration" not in made(available_figures, EXPERIMENTS, ["both_folds"])
    assert "recalibration" not in made(available_tables, {}, ["both_folds"])
    assert {"beta_fits", "paired_t_test"} & made(available_tables, {}) == {"beta_fits"}


def test_nested_keys_on_the_command_line_are_numbers():
    """As Snakemake hands them on: ``--config 'audit={norm: 1}'``."""
    given = {"seed": 1, "audit": {"norm": "1", "n": "1.5"}, "x": {"y": {"z": "3", "w": "all"}}}
    expected = {"seed": 1, "audit": {"norm": 1, "n": 1.5}, "x": {"y": {"z": 3, "w": "all"}}}
    assert rule_helpers._as_yaml(given) == expected


@pytest.fixture
def of(monkeypatch):
    """A function that makes this process one of a version of numpy."""

    def process(numpy, commit="a"):
        versions.present.cache_clear()
        monkeypatch.setenv(versions.RUN, json.dumps({"numpy": numpy, "commit": commit}))

    yield process
    versions.present.cache_clear()


def part(path, name):
    write_table(path, "paired_t_test", [dict.fromkeys(COLUMNS, name)])
    return path


COLUMNS = (
    *("experiment", "estimator_a", "estimator_b", "n_pairs", "mean_abs_bias_a_percent"),
    *("mean_abs_bias_b_percent", "t_statistic", "degrees_of_freedom", "p_value"),
)


def test_a_table_carries_its_own_versions_and_those_of_its_parts(tmp_path, of):
    of("1.0")
    first = part(tmp_path / "first.parquet", "x")
    of("2.0")
    parts = [first, part(tmp_path / "second.parquet", "y")]
    run("join_tables", parts=parts, table="paired_t_test", output=tmp_path / "t.csv")
    made_with = {
        name: versions.versions_of(record_of(tmp_path / name))
        for name in ("first.parquet", "second.parquet", "t.csv")
    }
    numbers = {name: [each["numpy"] for each in sets] for name, sets in made_with.items()}
    assert numbers == {"first.parquet": ["1.0"], "second.parquet": ["2.0"], "t.csv": ["2.0", "1.0"]}
    validate_unchanged(tmp_path / "t.csv")
    assert "join_tables --table paired_t_test" in made_by(record_of(tmp_path / "t.csv"))
    [line] = versions.mixed(made_with)
    assert (
        line
        == "results of 2 versions of numpy stand side by side: 1.0 (2 results), 2.0 (2 results)"
    )


def test_another_commit_is_recorded_and_no_fault(tmp_path, of):
    made_with = {}
    remember_inputs([])
    for commit in "ab":
        of("1.0", commit)
        path = part(tmp_path / f"{commit}.csv", commit)
        made_with[commit] = versions.versions_of(record_of(path))
    assert [sets[0]["commit"] for sets in made_with.values()] == ["a", "b"]
    assert versions.mixed(made_with) == []


def test_without_a_run_the_process_says_what_it_is(monkeypatch):
    monkeypatch.delenv(versions.RUN, raising=False)
    versions.present.cache_clear()
    assert {"calbias", "python", "numpy"} <= {*json.loads(versions.present())}
    versions.remember_versions({"commit": "c", "edited": True})
    versions.present.cache_clear()
    assert json.loads(versions.present())["commit"] == "c edited"
    monkeypatch.delenv(versions.RUN)
    versions.present.cache_clear()
