# Recalibration: methods fitted on the validation fold, judged on the test fold (Table 1).


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
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 1200 * attempt,
    params:
        code=code(
            "recalibrate_model",
            *estimator_paths(*config["estimators"]),
        ),
        softmax=config["softmax"],
        seed=config["seed"],
        bootstrap=config["bootstrap"],
        estimators=config["estimators"],
        estimator_dir=folder_of(*config["estimators"]),
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
    conda:
        "../../envs/environment.yaml"
    params:
        code=code("select_recalibration"),
    shell:
        step("select_recalibration")
