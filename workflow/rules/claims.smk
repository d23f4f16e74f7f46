# Claims: the ledger, its page, and the published numbers compared.


JUDGED = ("claims", "measurements", "comparison")
GIVEN = [
    "models",
    *("roelofs2022_table1_recalibration_selection", "roelofs2022_table2_beta_fits"),
    "roelofs2022_table3_glm_fits",
]
# What the claims are judged by: all other tables.
EVIDENCE = [*GIVEN, *(name for name in TABLES if name not in JUDGED), "fit_times"]
CLAIMS = sorted((HERE / "scripts/reproduction/claims").glob("*.py"))  # found there, not imported


rule judge_claims:
    input:
        code=code("judge_claims", *CLAIMS),
        tables=[table(name) for name in EVIDENCE],
    output:
        claims=tabled("claims"),
        measurements=tabled("measurements"),
        comparison=tabled("comparison"),
    log:
        "results/logs/judge_claims.log",
    localrule: True
    conda:
        "../../envs/environment.yaml"
    params:
        columns=[columns_of(name) for name in JUDGED],
        tables=given(EVIDENCE),
    shell:
        "python {input.code[0]:q} {params.tables:q} --output-claims {output.claims}"
        " --output-measurements {output.measurements} --output-comparison {output.comparison}"
        " 2>&1 | tee {log}"


rule write_ledger_page:
    input:
        code=code("write_page", *CLAIMS),
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
    localrule: True
    conda:
        "../../envs/environment.yaml"
    params:
        figures=[
            f"--figure={figure}=results/figures/{figure}.png"
            for figure in (*FIGURES, *(f"models/{Path(p).stem}" for p in MODEL_FIGURES))
        ],
        tables=given(TABLES),
        audits=AUDITED,
    shell:
        "python {input.code[0]:q} {params.tables:q} {params.figures:q} --audits {params.audits}"
        " --page ledger --output {output} 2>&1 | tee {log}"


rule write_front_page:
    input:
        code=code("write_page"),
        tables=rules.write_ledger_page.input.tables,
        figures=rules.write_ledger_page.input.figures,
        templates=[
            resource("../workflow/report/index.html.j2"),
            resource("../workflow/report/ledger.css"),
        ],
        record="results/provenance.json",
    output:
        "results/index.html",
    log:
        "results/logs/write_front_page.log",
    localrule: True
    conda:
        "../../envs/environment.yaml"
    params:
        figures=rules.write_ledger_page.params.figures,
        tables=given(TABLES),
        audits=AUDITED,
    shell:
        "python {input.code[0]:q} {params.tables:q} {params.figures:q} --audits {params.audits}"
        " --record {input.record} --page index --output {output} 2>&1 | tee {log}"
