# Sensitivity: what the rounding of the printed parameters changes.


rule compute_tce_rounding:
    input:
        code=code("compute_tce_rounding"),
        beta_fits=published("table2_beta_fits"),
        glm_fits=published("table3_glm_fits"),
    output:
        tabled("tce_rounding"),
    log:
        "results/logs/compute_tce_rounding.log",
    conda:
        "../../envs/environment.yaml"
    params:
        columns=columns_of("tce_rounding"),
        norm=config["norm"],
    shell:
        "python {input.code[0]:q} --beta-fits {input.beta_fits:q} --glm-fits {input.glm_fits:q}"
        " --norm {params.norm} --output {output} 2>&1 | tee {log}"
