# Simulation: scenarios of each experiment, their true calibration error, and the replicates.

from calbias.pipeline import job_memory as memory

# Models whose scenarios rest on this run's own fits.
REFITTED = {
    "published": (),
    "refitted": MODELS,
    "real_or_published": {*MODELS} - {*OUTPUTS.surrogates},
}[config["fits"]]


rule define_scenarios:
    input:
        code=code("define_scenarios"),
        script=program("define_scenarios"),
        models_table=ancient(config["models"]),  # of its rows, those in params.groups count
        beta_fits=fits_of_experiment("beta_fits", "table2_beta_fits"),
        glm_fits=fits_of_experiment("glm_fits", "table3_glm_fits"),
    output:
        "results/scenarios/{experiment}.parquet",
    log:
        "results/logs/define_scenarios/{experiment}.log",
    localrule: True
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=300,
        runtime=5,
    params:
        columns=columns_of("scenarios"),
        models=models_of,
        groups=lambda wildcards: [
            MODELS[model]["group"] for model in models_of(wildcards)
        ],
        curve=lambda wildcards: (
            f"--curve {EXPERIMENTS[wildcards.experiment]['curve']}"
            if models_of(wildcards)
            else ""
        ),
        scores=lambda wildcards: [
            f"{alpha},{beta}"
            for alpha, beta in EXPERIMENTS[wildcards.experiment].get("scores", [])
        ],
        curves=of_experiment("curves"),
        glms=lambda wildcards: [
            ",".join(map(str, glm))
            for glm in EXPERIMENTS[wildcards.experiment].get("glms", [])
        ],
        powers=lambda wildcards: powers(EXPERIMENTS[wildcards.experiment]),
    shell:
        "python {input.script:q} --models-table {input.models_table:q}"
        " --beta-fits {input.beta_fits:q} --glm-fits {input.glm_fits:q}"
        " --experiment {wildcards.experiment} --models {params.models} {params.curve}"
        " --scores {params.scores} --curves {params.curves} --powers {params.powers}"
        " --glms {params.glms} --output {output} 2>&1 | tee {log}"


rule compute_true_error:
    input:
        code=code("compute_true_error"),
        script=program("compute_true_error"),
        scenarios=JOINED["scenarios"],
    output:
        tabled("true_calibration_error"),
    log:
        "results/logs/compute_true_error.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 500 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        columns=columns_of("true_calibration_error"),
        norm=config["norm"],
    shell:
        "python {input.script:q} --scenarios {input.scenarios:q} --norm {params.norm}"
        " --output {output} 2>&1 | tee {log}"


rule simulate_replicates:
    input:
        code=lambda wildcards: code(
            "simulate_replicates", estimator_path(wildcards.estimator)
        ),
        script=program("simulate_replicates"),
        estimator=lambda wildcards: estimator_path(wildcards.estimator),
        scenarios="results/scenarios/{experiment}.parquet",
    output:
        "results/replicates/{experiment}/{estimator}/{shard}-of-{shards}.parquet",
    log:
        "results/logs/simulate_replicates/{experiment}-{estimator}-{shard}-of-{shards}.log",
    group:
        "simulate"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: attempt
        * memory.to_simulate(
            memory.estimates(EXPERIMENTS[wildcards.experiment]) / config["shards"]
        ),
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        n_samples=of_experiment("n_samples"),
        n_bins=of_experiment("n_bins"),
        replicates=of_experiment("replicates"),
        norm=config["norm"],
        seed=config["seed"],
    shell:
        "python {input.script:q} --scenarios {input.scenarios:q}"
        " --estimator-file {input.estimator:q} --estimator {wildcards.estimator}"
        " --n-samples {params.n_samples} --n-bins {params.n_bins}"
        " --replicates {params.replicates} --shard {wildcards.shard} --shards {wildcards.shards}"
        " --norm {params.norm} --seed {params.seed} --output {output} 2>&1 | tee {log}"
