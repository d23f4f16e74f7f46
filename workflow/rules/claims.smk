# Claims: what the paper's rounding leaves open, the ledger, and the published numbers compared.


# What the ledger and the comparison read: all other tables.
JUDGED = ("claims", "measurements", "comparison")
EVIDENCE = [name for name in TABLES if name not in JUDGED]
CLAIMS = sorted(
    (HERE / "scripts/calbias/claims").glob("*.py")
)  # found there, not imported
PUBLISHED = [
    published(table)
    for table in (
        "table1_recalibration_selection",
        "table2_beta_fits",
        "table3_glm_fits",
    )
]


rule compute_detection_limits:
    input:
        code=code("compute_detection_limits"),
        script=program("compute_detection_limits"),
        detection=table("detection"),
    output:
        tabled("detection_limits"),
    log:
        "results/logs/compute_detection_limits.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    shell:
        "python {input.script:q} --detection {input.detection:q} --output {output} 2>&1 | tee {log}"


rule compute_tce_rounding:
    input:
        code=code("compute_tce_rounding"),
        script=program("compute_tce_rounding"),
        beta_fits=published("table2_beta_fits"),
        glm_fits=published("table3_glm_fits"),
    output:
        tabled("tce_rounding"),
    log:
        "results/logs/compute_tce_rounding.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 500 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        norm=config["norm"],
    shell:
        "python {input.script:q} --beta-fits {input.beta_fits:q} --glm-fits {input.glm_fits:q}"
        " --norm {params.norm} --output {output} 2>&1 | tee {log}"


rule compute_t_test_sensitivity:
    input:
        code=code(
            "compute_t_test_sensitivity",
            *[estimator_path(name) for name in ("ece_debias_em", "ece_sweep_em")],
        ),
        script=program("compute_t_test_sensitivity"),
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
    resources:
        mem_mb=lambda wildcards, attempt: 700 * attempt,
        runtime=lambda wildcards, attempt: 20 * attempt,
    params:
        seed=config["seed"],
    shell:
        "python {input.script:q} --bias {input.bias:q} --models-table {input.models_table:q}"
        " --beta-fits {input.beta_fits:q} --glm-fits {input.glm_fits:q} --seed {params.seed}"
        " --output {output} 2>&1 | tee {log}"


rule judge_claims:
    input:
        code=code("judge_claims", *CLAIMS),
        script=program("judge_claims"),
        tables=[table(name) for name in EVIDENCE],
        models_table=config["models"],
        published=PUBLISHED,
    output:
        claims=tabled("claims"),
        measurements=tabled("measurements"),
    log:
        "results/logs/judge_claims.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=700,
        runtime=10,
    params:
        tables=given(EVIDENCE),
        published_dir=folder_of("published"),
    shell:
        "python {input.script:q} {params.tables:q} --models-table {input.models_table:q}"
        " --published-dir {params.published_dir:q} --output-claims {output.claims}"
        " --output-measurements {output.measurements} 2>&1 | tee {log}"


rule compare_published:
    input:
        code=code("compare_published"),
        script=program("compare_published"),
        tables=[table(name) for name in EVIDENCE],
        measurements=table("measurements"),
        models_table=config["models"],
        published=PUBLISHED,
    output:
        tabled("comparison"),
    log:
        "results/logs/compare_published.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=700,
        runtime=10,
    params:
        tables=given(EVIDENCE),
        published_dir=folder_of("published"),
    shell:
        "python {input.script:q} {params.tables:q} --models-table {input.models_table:q}"
        " --published-dir {params.published_dir:q} --measurements {input.measurements:q}"
        " --output {output} 2>&1 | tee {log}"


rule write_ledger_page:
    input:
        code=code("write_ledger_page", *CLAIMS),
        script=program("write_ledger_page"),
        tables=[table(name) for name in TABLES],
        figures=[f"results/figures/{figure}.png" for figure in FIGURES],
        model_figures=MODEL_FIGURES,
        templates=[
            os.path.relpath(path)
            for path in sorted((HERE / "workflow/report").glob("ledger.[chj]*"))
        ],
    output:
        report(
            "results/ledger.html",
            caption="../report/ledger.rst",
            category="1. Ledger of claims",
            labels={"page": "every claim, judged"},
        ),
    log:
        "results/logs/write_ledger_page.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        figures=[
            f"--figure={figure}=results/figures/{figure}.png"
            for figure in (
                *FIGURES,
                *(f"models/{Path(p).stem}" for p in MODEL_FIGURES),
            )
        ],
        tables=given(TABLES),
        templates=folder_of("templates"),
    shell:
        "python {input.script:q} {params.tables:q} {params.figures:q}"
        " --templates {params.templates:q} --output {output} 2>&1 | tee {log}"
