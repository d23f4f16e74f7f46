# Recalibration and measures: methods fitted on the validation fold and judged on the test fold
# (Table 1); models with genuine outputs, as they are and recalibrated, next to what Guo et al. (2017)
# and Gupta et al. (2021) print; the same methods on other networks, whose outputs ship.


rule recalibrate_model:
    input:
        logits=lambda wildcards: (
            f"results/logits/{wildcards.model}.npz"
            if wildcards.model in REAL
            else resource(f"outputs/{wildcards.model}.npz")
        ),
        manifest=resource("manifest.json"),
    output:
        recalibration="results/recalibration/{model}.parquet",
        selections="results/recalibration/selections/{model}.parquet",
    log:
        "results/logs/recalibrate_model/{model}.log",
    wildcard_constraints:
        model=one_of(RECALIBRATED),
    priority: 50
    resources:
        mem_mb=lambda wildcards, attempt: 1200 * attempt,
    params:
        **given(
            "recalibrate_model",
            loaded=estimator_paths(*config["estimators"]),
            softmax=config["softmax"],
            seed=config["seed"],
            bootstrap=config["bootstrap"],
            estimators=config["estimators"],
            estimator_dir=folder_of(*config["estimators"]),
        ),
    shell:
        step("recalibrate_model", model="{wildcards.model}")


rule select_recalibration:
    input:
        selections=[f"results/recalibration/selections/{model}.parquet" for model in RECALIBRATED],
        published=published("table1_recalibration_selection"),
    output:
        selection=tabled("recalibration_selection"),
        sensitivity=tabled("recalibration_sensitivity"),
    log:
        "results/logs/select_recalibration.log",
    localrule: True
    params:
        **given("select_recalibration"),
    shell:
        step("select_recalibration")


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
    log:
        "results/logs/measure_model/{model}.log",
    wildcard_constraints:
        model=one_of(MEASURED),
    priority: 50
    resources:
        mem_mb=lambda wildcards, input, attempt: attempt * max(1000, int(500 + 20 * input.size_mb)),
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        **given(
            "measure_model",
            loaded=estimator_paths("ece_bin_ew", "mce_ew", "ks", "kde"),
            # the estimators of the measures are loaded by name
            # of a model with scores alone it changes nothing
            softmax=lambda wildcards: config["softmax"] if wildcards.model in REAL else "exact",
            seed=config["seed"],
            bootstrap=config["bootstrap"],
        ),
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
    params:
        **given("tabulate_measures"),
    shell:
        step("tabulate_measures")


rule replicate_model:
    input:
        file=resource("outputs/{other}.npz"),
        manifest=resource("manifest.json"),
        printed=resource("published/mukhoti2020_table1.csv"),
    output:
        replication="results/{replication}/{other}.parquet",
        graphs="results/{replication}/graphs/{other}.parquet",
        bins="results/{replication}/bins/{other}.parquet",
        floors="results/{replication}/floors/{other}.parquet",
    log:
        "results/logs/replicate_model/{replication}/{other}.log",
    wildcard_constraints:
        replication="replication(_full)?",
        other=one_of(OUTPUT_FILES),
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        **given(
            "replicate_model",
            loaded=estimator_paths("ece_bin_ew", "mce_ew", "ks", "kde"),
            # the estimators of the measures are loaded by name
            # of tables whose rows are another step's too
            columns=[
                columns_of(name)
                for name in ("calibration_graphs", "reliability_bins", "noise_floors")
            ],
            seed=config["seed"],
            methods=lambda wildcards: "all" if wildcards.replication.endswith("full") else "quick",
        ),
    shell:
        step("replicate_model", model="{wildcards.other}")
