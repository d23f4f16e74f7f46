# Sensitivity: what the rounding of the printed parameters and open choices of analysis change.


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


rule compute_t_test_sensitivity:
    input:
        code=code("compute_t_test_sensitivity", *estimator_paths("ece_debias_em", "ece_sweep_em")),
        bias=table("bias"),
        models_table=config["models"],
        beta_fits=published("table2_beta_fits"),
        glm_fits=published("table3_glm_fits"),
    output:
        tabled("t_test_sensitivity"),
    log:
        "results/logs/compute_t_test_sensitivity.log",
    conda:
        "../../envs/environment.yaml"
    params:
        columns=columns_of("t_test_sensitivity"),
        seed=config["seed"],
    shell:
        "python {input.code[0]:q} --bias {input.bias:q} --models-table {input.models_table:q}"
        " --beta-fits {input.beta_fits:q} --glm-fits {input.glm_fits:q} --seed {params.seed}"
        " --output {output} 2>&1 | tee {log}"
