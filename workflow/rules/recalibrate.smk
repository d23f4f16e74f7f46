# Recalibration: methods fitted on the validation fold, judged on the test fold (Table 1).

from calbias.recalibration.registry import known_methods

TABLE_1 = ("uncalibrated", "temperature_scaling", "histogram_binning", "isotonic_regression")


rule recalibrate_model:
    input:
        code=code(
            "recalibrate_model",
            *estimator_paths(*config["estimators"]),
            *[known_methods()[method] for method in TABLE_1],
        ),
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
        columns=[columns_of(name) for name in ("recalibration", "recalibration_details")],
        softmax=config["softmax"],
        seed=config["seed"],
        bootstrap=config["bootstrap"],
        estimators=config["estimators"],
        estimator_dir=config["estimator_dir"] or [],
    shell:
        "python {input.code[0]:q} --logits {input.logits:q}"
        " --estimator-dir {params.estimator_dir:q} --model {wildcards.model}"
        " --estimators {params.estimators} --softmax {params.softmax}"
        " --bootstrap {params.bootstrap} --seed {params.seed} --output {output.recalibration}"
        " --selection-output {output.selections} --details-output {output.details}"
        " 2>&1 | tee {log}"


rule select_recalibration:
    input:
        code=code("select_recalibration"),
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
        columns=[
            columns_of(name) for name in ("recalibration_selection", "recalibration_sensitivity")
        ],
    shell:
        "python {input.code[0]:q} --selections {input.selections:q} --published {input.published:q}"
        " --output-selection {output.selection} --output-sensitivity {output.sensitivity}"
        " 2>&1 | tee {log}"
