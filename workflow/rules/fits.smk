# Fits: the Beta distribution of the scores and the twelve calibration curves of each model.


rule fit_model:
    input:
        code=code("fit_model"),
        top_labels=lambda wildcards: top_labels(wildcards.model, fitted=True),
        beta=published("table2_beta_fits"),
        glm=published("table3_glm_fits"),
    output:
        beta="results/fits/beta_fits/{model}.parquet",
        glm="results/fits/glm_fits/{model}.parquet",
    log:
        "results/logs/fit_model/{model}.log",
    conda:
        "../../envs/environment.yaml"
    params:
        columns=[columns_of(name) for name in ("beta_fits", "glm_fits")],
    shell:
        "python {input.code[0]:q} --top-labels {input.top_labels:q}"
        " --published-beta {input.beta:q} --published-glm {input.glm:q}"
        " --output-beta {output.beta} --output-glm {output.glm} 2>&1 | tee {log}"
