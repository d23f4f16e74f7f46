# Fits: the Beta distribution of the scores and the twelve calibration curves of each model with outputs.


rule fit_model:
    input:
        top_labels=lambda wildcards: top_labels(wildcards.model),
        published_beta=published("table2_beta_fits"),
        published_glm=published("table3_glm_fits"),
    output:
        beta="results/fits/beta_fits/{model}.parquet",
        glm="results/fits/glm_fits/{model}.parquet",
    log:
        "results/logs/fit_model/{model}.log",
    wildcard_constraints:
        model=one_of(MEASURED),
    conda:
        "../../envs/environment.yaml"
    params:
        code=code("fit_model"),
        columns=[columns_of(name) for name in ("beta_fits", "glm_fits")],
    shell:
        step("fit_model", fold=None, scores_equal_to_one=None)


rule fit_as_published:
    input:
        logits="results/logits/{model}.npz",
        published_beta=published("table2_beta_fits"),
        published_glm=published("table3_glm_fits"),
    output:
        beta="results/fits/beta_fits_float32_2020/{model}.parquet",
        glm="results/fits/glm_fits_float32_2020/{model}.parquet",
    log:
        "results/logs/fit_as_published/{model}.log",
    wildcard_constraints:
        model=one_of(AS_PUBLISHED),
    conda:
        "../../envs/environment.yaml"
    params:
        code=code("fit_as_published"),
        columns=[columns_of(f"{name}_fits_float32_2020") for name in ("beta", "glm")],
    shell:
        step("fit_as_published", model="{wildcards.model}")
