# Simulation: scenarios of each experiment, their true calibration error, and the replicates.

# Models whose scenarios rest on this run's own fits, of each experiment. The files that ship, or
# were downloaded beside them, drive no simulation: the paper's printed fits do.
PRINTED = PAPERS_MODELS if config["logits_dir"] == DEFAULT_LOGITS_DIR else ()
REFITTED = {
    "published": (),
    "own_scores": (),
    "refitted": MEASURED,
    "real_or_published": {*MODELS} - ({*PAPERS_MODELS} - {*REAL}) - {*PRINTED},
}[config["fits"]]
FITTED = {
    name: [model for model in experiment.get("models", []) if model in REFITTED]
    for name, experiment in EXPERIMENTS.items()
}


rule define_scenarios:
    input:
        # of its rows, those in params.groups count
        models_table=lambda wildcards: (
            ancient(local(config["models"]))
            if EXPERIMENTS[wildcards.experiment].get("models")
            else []
        ),
        beta_fits=lambda wildcards: fits("beta_fits", wildcards.experiment),
        glm_fits=lambda wildcards: fits("glm_fits", wildcards.experiment),
        own_scores=lambda wildcards: own_scores(wildcards.experiment),
    output:
        "results/scenarios/{experiment}.parquet",
    log:
        "results/logs/define_scenarios/{experiment}.log",
    localrule: True
    params:
        **given(
            "define_scenarios",
            models=of_experiment("models"),
            printed=lambda wildcards: selected_rows(
                {*EXPERIMENTS[wildcards.experiment].get("models", [])}
                - {*FITTED[wildcards.experiment], *OWN_SCORED},
                *printed_tables(wildcards.experiment),
            ),
            groups=lambda wildcards: [
                MODELS[model]["group"]
                for model in EXPERIMENTS[wildcards.experiment].get("models", [])
            ],
            curve=of_experiment("curve", "fitted"),  # counts where there are models
            scores=joined("scores"),
            curves=of_experiment("curves"),
            glms=joined("glms"),
            powers=lambda wildcards: powers(EXPERIMENTS[wildcards.experiment]),
        ),
    shell:
        step("define_scenarios", experiment="{wildcards.experiment}")


rule compute_true_error:
    input:
        scenarios="results/scenarios/{experiment}.parquet",
        own_scores=lambda wildcards: own_scores(wildcards.experiment),
    output:
        "results/true_errors/{experiment}.parquet",
    log:
        "results/logs/compute_true_error/{experiment}.log",
    params:
        **given(
            "compute_true_error",
            norm=config["norm"],
        ),
    shell:
        step("compute_true_error")


# Of all experiments, each scenario once.
use rule compute_true_error as tabulate_true_errors with:
    input:
        scenarios=expand("results/scenarios/{name}.parquet", name=EXPERIMENTS),
        own_scores=own_scores(*EXPERIMENTS),
    output:
        tabled("true_calibration_error"),
    log:
        "results/logs/tabulate_true_errors.log",
    params:
        **given("compute_true_error", rule="tabulate_true_errors", norm=config["norm"]),


rule simulate_replicates:
    input:
        estimator_file=lambda wildcards: loaded(estimator_paths(wildcards.estimator)),
        scenarios="results/scenarios/{experiment}.parquet",
        own_scores=lambda wildcards: own_scores(wildcards.experiment),
        checked=lambda wildcards: checked(wildcards.estimator),
    output:
        "results/replicates/{experiment}/{estimator}/{shard}-of-{shards}.parquet",
    log:
        "results/logs/simulate_replicates/{estimator}/{experiment}/{shard}/{shards}.log",
    group:
        "simulate"
    resources:
        mem_mb=lambda wildcards, attempt: attempt
        * sizes.to_simulate(
            sizes.estimates(
                EXPERIMENTS[wildcards.experiment],
                estimator_path(wildcards.estimator),
            )
            / int(wildcards.shards)
        ),
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        **given(
            "simulate_replicates",
            loaded=lambda wildcards: estimator_paths(wildcards.estimator),
            n_samples=of_experiment("n_samples"),
            n_bins=of_experiment("n_bins"),
            replicates=lambda wildcards: n_replicates(wildcards.experiment, wildcards.estimator),
            norm=config["norm"],
            precision=config["score_precision"],
            seed=config["seed"],
        ),
    shell:
        step(
            "simulate_replicates",
            estimator="{wildcards.estimator}",
            shard="{wildcards.shard}",
            shards="{wildcards.shards}",
        )
