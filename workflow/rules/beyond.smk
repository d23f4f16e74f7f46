# Beyond the paper: predicted against observed bias, the league of estimators, power of tests.
# `snakemake league` makes the league's table and the figure of that name (figures.smk).
from calbias.estimation.registry import known_estimators
from calbias.hypothesis_tests.names import calibration_test_file

LEAGUE, PREDICTED = config["league"], config["predicted_bias"]
SCORE_STEMS = sorted(
    path.stem for path in (HERE / "resources/scores").glob("*.parquet")
)
try:
    if PREDICTED["scores"] == "all":
        SCORE_STEMS.remove("snacks")  # 952 rows
    elif unknown := set(PREDICTED["scores"]) - set(SCORE_STEMS):
        raise InputError(
            f"predicted_bias.scores: no file {min(unknown)}.parquet in resources/scores"
        )
    else:
        SCORE_STEMS = PREDICTED["scores"]
    PREDICTED_FILES = [
        estimator_path(name) for name in (*PREDICTED["estimators"], "ece_debias_em")
    ]
    LEAGUE_NAMES = (
        known_estimators(estimator_folders(config))
        if LEAGUE["estimators"] == "all"
        else LEAGUE["estimators"]
    )
    LEAGUE_FILES = {
        Path(estimator_path(name)).stem: estimator_path(name) for name in LEAGUE_NAMES
    }
    TESTS = [calibration_test_file(name) for name in config["test_power"]["tests"]]
except InputError as error:
    sys.exit(f"error: config: {error}")
# Targets are loaded by name.
TARGETS = sorted((HERE / "scripts/calbias/truth/targets").glob("*.py"))
PARTS = {
    "predicted_bias": [
        f"results/predicted_bias/{name}.parquet" for name in SCORE_STEMS
    ],
    "league": [f"results/league/{name}.parquet" for name in LEAGUE_FILES],
}


rule predict_bias:
    input:
        code=code("predict_bias", *PREDICTED_FILES),
        script=program("predict_bias"),
        scores=resource("scores/{scores}.parquet"),
        manifest=resource("scores/manifest.json"),
    output:
        "results/predicted_bias/{scores}.parquet",
    log:
        "results/logs/predict_bias/{scores}.log",
    wildcard_constraints:
        scores="|".join(map(re.escape, SCORE_STEMS)) or "(?!)",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 20 * attempt,
    params:
        columns=columns_of("predicted_bias"),
        estimators=PREDICTED["estimators"],
        n_samples=PREDICTED["n_samples"],
        subsamples=PREDICTED["subsamples"],
        refits=PREDICTED["refits"],
        seed=config["seed"],
    shell:
        "python {input.script:q} --scores {input.scores:q} --manifest {input.manifest:q}"
        " --estimators {params.estimators} --n-samples {params.n_samples}"
        " --subsamples {params.subsamples} --refits {params.refits} --seed {params.seed}"
        " --output {output} 2>&1 | tee {log}"


rule run_league:
    input:
        code=lambda wildcards: code(
            "run_league", LEAGUE_FILES[wildcards.family], *TARGETS
        ),
        script=program("run_league"),
        estimators=lambda wildcards: LEAGUE_FILES[wildcards.family],
        beta_fits=published("table2_beta_fits"),
        glm_fits=published("table3_glm_fits"),
    output:
        "results/league/{family}.parquet",
    log:
        "results/logs/run_league/{family}.log",
    wildcard_constraints:
        family="|".join(map(re.escape, LEAGUE_FILES)),
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        columns=columns_of("league"),
        models=LEAGUE["models"],
        n_samples=LEAGUE["n_samples"],
        replicates=LEAGUE["replicates"],
        seed=config["seed"],
    shell:
        "python {input.script:q} --estimator-file {input.estimators:q}"
        " --beta-fits {input.beta_fits:q} --glm-fits {input.glm_fits:q} --models {params.models}"
        " --n-samples {params.n_samples} --replicates {params.replicates} --seed {params.seed}"
        " --output {output} 2>&1 | tee {log}"


rule join_parts:
    input:
        code=code("join_tables"),
        script=program("join_tables"),
        parts=lambda wildcards: PARTS[wildcards.table],
    output:
        tabled("{table}"),
    log:
        "results/logs/join_parts/{table}.log",
    wildcard_constraints:
        table="|".join(PARTS),
    localrule: True
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        columns=lambda wildcards: columns_of(wildcards.table),
    shell:
        "python {input.script:q} --inputs {input.parts:q} --table {wildcards.table}"
        " --output {output} 2>&1 | tee {log}"


rule measure_power:
    input:
        code=code("measure_power", *TESTS),
        script=program("measure_power"),
    output:
        tabled("test_power"),
    log:
        "results/logs/measure_power.log",
    priority: 60
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        columns=columns_of("test_power"),
        tests=config["test_power"]["tests"],
        n_samples=config["test_power"]["n_samples"],
        replicates=config["test_power"]["replicates"],
        seed=config["seed"],
    shell:
        "python {input.script:q} --tests {params.tests} --n-samples {params.n_samples}"
        " --replicates {params.replicates} --seed {params.seed} --output {output} 2>&1 | tee {log}"
