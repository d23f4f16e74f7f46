# Fits: the Beta distribution of the scores and the twelve calibration curves of each model.


rule fit_beta:
    input:
        code=code("fit_beta"),
        top_labels=lambda wildcards: top_labels(wildcards.model, fitted=True),
        published=published("table2_beta_fits"),
    output:
        "results/fits/beta_fits/{model}.parquet",
    log:
        "results/logs/fit_beta/{model}.log",
    conda:
        "../../envs/environment.yaml"
    params:
        columns=columns_of("beta_fits"),
    shell:
        "python {input.code[0]:q} --top-labels {input.top_labels:q} --published {input.published:q}"
        " --output {output} 2>&1 | tee {log}"


rule fit_glm:
    input:
        code=code("fit_glm"),
        top_labels=lambda wildcards: top_labels(wildcards.model, fitted=True),
        published=published("table3_glm_fits"),
    output:
        "results/fits/glm_fits/{model}.parquet",
    log:
        "results/logs/fit_glm/{model}.log",
    conda:
        "../../envs/environment.yaml"
    params:
        columns=columns_of("glm_fits"),
    shell:
        "python {input.code[0]:q} --top-labels {input.top_labels:q} --published {input.published:q}"
        " --output {output} 2>&1 | tee {log}"
