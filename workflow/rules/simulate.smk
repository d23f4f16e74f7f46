# Simulation: scenarios of each experiment, their true calibration error, and the replicates.

from pipeline import job_memory as memory

# Models whose scenarios rest on this run's own fits, of each experiment. The files that ship, or
# were downloaded beside them, drive no simulation: the paper's printed fits do.
PRINTED = PAPERS_MODELS if config["logits_dir"] == DEFAULT_LOGITS_DIR else ()
REFITTED = {
    "published": (),
    "refitted": MODELS,
    "real_or_published": {*MODELS} - {*OUTPUTS.surrogates} - {*PRINTED},
}[config["fits"]]
FITTED = {
    name: [model for model in experiment.get("models", []) if model in REFITTED]
    for name, experiment in EXPERIMENTS.items()
}


rule define_scenarios:
    input:
        code=code("define_scenarios"),
        models_table=ancient(config["models"]),  # of its rows, those in params.groups count
        beta_fits=lambda wildcards: [
            *expand("results/fits/beta_fits/{model}.parquet", model=FITTED[wildcards.experiment]),
            published("table2_beta_fits"),
        ],
        glm_fits=lambda wildcards: [
            *expand("results/fits/glm_fits/{model}.parquet", model=FITTED[wildcards.experiment]),
            published("table3_glm_fits"),
        ],
    output:
        "results/scenarios/{experiment}.parquet",
    log:
        "results/logs/define_scenarios/{experiment}.log",
    localrule: True
    conda:
        "../../envs/environment.yaml"
    params:
        columns=columns_of("scenarios"),
        models=of_experiment("models"),
        groups=lambda wildcards: [
            MODELS[model]["group"] for model in EXPERIMENTS[wildcards.experiment].get("models", [])
        ],
        curve=of_experiment("curve", "fitted"),  # counts where there are models
        scores=joined("scores"),
        curves=of_experiment("curves"),
        glms=joined("glms"),
        powers=lambda wildcards: powers(EXPERIMENTS[wildcards.experiment]),
    shell:
        "python {input.code[0]:q} --models-table {input.models_table:q}"
        " --beta-fits {input.beta_fits:q} --glm-fits {input.glm_fits:q}"
        " --experiment {wildcards.experiment} --models {params.models} --curve {params.curve}"
        " --scores {params.scores} --curves {params.curves} --powers {params.powers}"
        " --glms {params.glms} --output {output} 2>&1 | tee {log}"


rule compute_true_error:
    input:
        code=code("compute_true_error"),
        scenarios=expand("results/scenarios/{name}.parquet", name=EXPERIMENTS),
    output:
        tabled("true_calibration_error"),
    log:
        "results/logs/compute_true_error.log",
    conda:
        "../../envs/environment.yaml"
    params:
        columns=columns_of("true_calibration_error"),
        norm=config["norm"],
    shell:
        "python {input.code[0]:q} --scenarios {input.scenarios:q} --norm {params.norm}"
        " --output {output} 2>&1 | tee {log}"


rule simulate_replicates:
    input:
        code=lambda wildcards: code("simulate_replicates", *estimator_paths(wildcards.estimator)),
        estimator=lambda wildcards: estimator_paths(wildcards.estimator),
        scenarios="results/scenarios/{experiment}.parquet",
    output:
        "results/replicates/{experiment}/{estimator}/{shard}-of-{shards}.parquet",
    log:
        "results/logs/simulate_replicates/{estimator}/{experiment}/{shard}/{shards}.log",
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
        "python {input.code[0]:q} --scenarios {input.scenarios:q}"
        " --estimator-file {input.estimator:q} --estimator {wildcards.estimator}"
        " --n-samples {params.n_samples} --n-bins {params.n_bins}"
        " --replicates {params.replicates} --shard {wildcards.shard} --shards {wildcards.shards}"
        " --norm {params.norm} --seed {params.seed} --output {output} 2>&1 | tee {log}"
