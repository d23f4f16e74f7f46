# Audits: every model, and every file of genuine scores, judged as `calbias audit` judges a user's
# file; and how often the intervals of an audit hold the truth.

from calbias.estimation.registry import literal

# name → its file of genuine scores, for those that are in no models table
SCORE_FILES = {
    path.stem: resource(f"scores/{path.name}")
    for path in sorted((HERE / "resources/scores").glob("*.parquet"))
    if path.stem not in MODELS
}
AUDITED = [*MODELS, *(SCORE_FILES if config["score_files"] else ())]
LAWS = ("uniform", "saturated")
AUDITING = HERE / "scripts/calbias/auditing"
# the files that a module of the audit loads by name: of its estimators, and of all targets
LOADED = {
    work: [
        *sorted({estimator_path(name) for name in names}),
        *sorted((HERE / "scripts/calbias/truth/targets").glob("*.py")),
    ]
    for work, names in {
        "audit": literal(AUDITING / "audit.py", "ESTIMATORS", ()),
        "recommendation": literal(AUDITING / "recommendation.py", "ESTIMATORS", ()),
        "coverage": ["ece_bin_ew", "ece_debias_em"],
    }.items()
}


rule audit_model:
    input:
        code=code("audit_model", *LOADED["audit"]),
        template=os.path.relpath(HERE / "scripts/calbias/auditing/page.html.j2"),
        script=program("audit_model"),
        scores=lambda wildcards: SCORE_FILES.get(wildcards.audited)
        or top_labels(wildcards.audited),
    output:
        page="results/audit/{audited}.html",
        numbers="results/audit/{audited}.json",
    log:
        "results/logs/audit_model/{audited}.log",
    wildcard_constraints:
        audited="|".join(map(re.escape, AUDITED)),
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 1500 * attempt,
        runtime=lambda wildcards, attempt: 20 * attempt,
    params:
        form=lambda wildcards: (
            "--scores" if wildcards.audited in SCORE_FILES else "--top-labels"
        ),
        seed=config["seed"],
    shell:
        "python {input.script:q} {params.form} {input.scores:q} --name {wildcards.audited}"
        " --seed {params.seed} --output-page {output.page} --output-numbers {output.numbers}"
        " 2>&1 | tee {log}"


rule measure_coverage:
    input:
        code=code("measure_coverage", *LOADED["coverage"]),
        script=program("measure_coverage"),
    output:
        "results/coverage/{law}.parquet",
    log:
        "results/logs/measure_coverage/{law}.log",
    wildcard_constraints:
        law="|".join(LAWS),
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 20 * attempt,
    params:
        columns=columns_of("interval_coverage"),
        data_sets=config["coverage"],
        seed=config["seed"],
    shell:
        "python {input.script:q} --law {wildcards.law} --data-sets {params.data_sets}"
        " --seed {params.seed} --output {output} 2>&1 | tee {log}"


rule judge_recommendation:
    input:
        code=code("judge_recommendation", *LOADED["recommendation"]),
        script=program("judge_recommendation"),
    output:
        tabled("recommendation"),
    log:
        "results/logs/judge_recommendation.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 20 * attempt,
    params:
        columns=columns_of("recommendation"),
        data_sets=max(2, config["coverage"] // 3),
        seed=config["seed"],
    shell:
        "python {input.script:q} --data-sets {params.data_sets} --seed {params.seed}"
        " --output {output} 2>&1 | tee {log}"


# All pages, and nothing else.
rule audit:
    input:
        expand("results/audit/{audited}.html", audited=AUDITED),
    localrule: True
