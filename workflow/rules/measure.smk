# Measures: models with genuine outputs, as they are and recalibrated, next to what Guo et al. (2017)
# and Gupta et al. (2021) print.


rule measure_model:
    input:
        logits=branch(lambda wildcards: wildcards.model in REAL, "results/logits/{model}.npz"),
        top_labels=branch(
            lambda wildcards: wildcards.model not in REAL, "results/scores/{model}.parquet"
        ),
    output:
        measures="results/measures/{model}.parquet",
        bins="results/measures/bins/{model}.parquet",
        graphs="results/measures/graphs/{model}.parquet",
        floors="results/measures/floors/{model}.parquet",
        differences="results/measures/differences/{model}.parquet",
    log:
        "results/logs/measure_model/{model}.log",
    wildcard_constraints:
        model=one_of(MEASURED),
    priority: 50
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, input, attempt: attempt * max(1000, int(500 + 20 * input.size_mb)),
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        # the estimators of the measures are loaded by name
        code=code("measure_model", *estimator_paths("ece_bin_ew", "mce_ew", "ks", "kde")),
        # of a model with scores alone it changes nothing
        softmax=lambda wildcards: config["softmax"] if wildcards.model in REAL else "exact",
        seed=config["seed"],
        bootstrap=config["bootstrap"],
    shell:
        step("measure_model", model="{wildcards.model}")


rule tabulate_measures:
    input:
        measures=[f"results/measures/{model}.parquet" for model in MEASURED],
        replication=table("replication"),
        models_table=local(config["models"]),
        printed=resource("published/guo2017_gupta2021.csv"),
    output:
        measures=tabled("measures"),
        printed=tabled("printed_tables"),
    log:
        "results/logs/tabulate_measures.log",
    localrule: True
    conda:
        "../../envs/environment.yaml"
    params:
        code=code("tabulate_measures"),
    shell:
        step("tabulate_measures")


# On its own: times differ from run to run, results do not. The ledger reads the record in
# resources/evidence/timing.
rule measure_fit_times:
    output:
        "results/tables/fit_times.csv",
    log:
        "results/logs/measure_fit_times.log",
    conda:
        "../../envs/environment.yaml"
    params:
        code=code("measure_fit_times"),
    shell:
        step("measure_fit_times")
