# Recalibration: methods fitted on the validation fold, judged on the test fold (Table 1).

from calbias.recalibration.registry import known_methods

TABLE_1 = ("uncalibrated", "temperature_scaling", "histogram_binning", "isotonic_regression")


rule recalibrate_model:
    input:
        logits="results/logits/{model}.npz",
    output:
        recalibration="results/recalibration/{model}.parquet",
        selections="results/recalibration/selections/{model}.parquet",
        details="results/recalibration/details/{model}.parquet",
    log:
        "results/logs/recalibrate_model/{model}.log",
    priority: 50
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 1200 * attempt,
    params:
        code=code(
            "recalibrate_model",
            *estimator_paths(*config["estimators"]),
            *[known_methods()[method] for method in TABLE_1],
        ),
        columns=[columns_of(name) for name in ("recalibration", "recalibration_details")],
        softmax=config["softmax"],
        seed=config["seed"],
        bootstrap=config["bootstrap"],
        estimators=config["estimators"],
        estimator_dir=config["estimator_dir"] or [],
    shell:
        step("recalibrate_model", model="{wildcards.model}")


rule select_recalibration:
    input:
        selections=[f"results/recalibration/selections/{model}.parquet" for model in WITH_LOGITS],
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
        columns=[
            columns_of(name) for name in ("recalibration_selection", "recalibration_sensitivity")
        ],
    shell:
        step("select_recalibration")
