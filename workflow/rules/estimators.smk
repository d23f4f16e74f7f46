# The page of an estimator that a user adds: `snakemake --cores 2 --config estimator=mine/x.py`.

GENUINE = [
    f"results/logits/{model}.npz" if model in REAL else resource(f"outputs/{model}.npz")
    for model in RECALIBRATED
]
# Networks of known truth, where the guest that keeps them is there.
KEPT_NETWORKS = [
    resource(os.path.relpath(path, HERE / "resources"))
    for path in HERE.glob("networks/resources/sketches.parquet")
]


rule check_estimator:
    input:
        estimator_file=lambda wildcards: page_estimators(wildcards)[:1],
    output:
        "results/estimators/{estimator}/checked.txt",
    log:
        "results/logs/check_estimator/{estimator}.log",
    params:
        **given(
            "check_estimator",
            loaded=lambda wildcards: page_paths(wildcards),
        ),
    shell:
        step("check_estimator")


rule measure_judging_cells:
    input:
        sketches=KEPT_NETWORKS,
        others=resource("league/others_bias.csv"),
        files=page_estimators,
        checked=lambda wildcards: [x for name in PAGES[wildcards.estimator] for x in checked(name)],
    output:
        "results/estimators/{estimator}/judging.csv",
    log:
        "results/logs/measure_judging_cells/{estimator}.log",
    params:
        **given(
            "measure_judging_cells",
            loaded=lambda wildcards: page_paths(wildcards),
            estimators=page_names,
            n_samples=[200, 2000],
            data_sets=min(config["replicates"], 200),
            network_data_sets=config["replicates"],
            norm=config["norm"],
            seed=config["seed"],
        ),
    shell:
        step("measure_judging_cells")


rule select_by_estimator:
    input:
        logits=GENUINE,
        files=page_estimators,
        checked=rules.measure_judging_cells.input.checked,
    output:
        "results/estimators/{estimator}/selection.csv",
    log:
        "results/logs/select_by_estimator/{estimator}.log",
    resources:
        mem_mb=lambda wildcards, attempt: 1200 * attempt,
    params:
        **given(
            "select_by_estimator",
            loaded=lambda wildcards: page_paths(wildcards),
            estimators=page_names,
            softmax=config["softmax"],
            bootstrap=min(config["bootstrap"], 100),
            seed=config["seed"],
        ),
    shell:
        step("select_by_estimator")


rule time_estimator:
    input:
        files=page_estimators,
        checked=rules.measure_judging_cells.input.checked,
    output:
        "results/estimators/{estimator}/cost.csv",
    log:
        "results/logs/time_estimator/{estimator}.log",
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
    params:
        **given(
            "time_estimator",
            loaded=lambda wildcards: page_paths(wildcards),
            estimators=page_names,
            n_samples=[200, 10000, 1000000],
            norm=config["norm"],
        ),
    shell:
        step("time_estimator")


rule judge_estimator:
    input:
        scenarios=expand("results/scenarios/{experiment}.parquet", experiment=PAGE_EXPERIMENTS),
        replicates=lambda wildcards: [
            file
            for experiment in PAGE_EXPERIMENTS
            for name in PAGES[wildcards.estimator]
            for file in shards_of(experiment, name)
        ],
        judging="results/estimators/{estimator}/judging.csv",
        others=resource("league/others_bias.csv"),
    output:
        bias="results/estimators/{estimator}/bias.csv",
        comparison="results/estimators/{estimator}/comparison.csv",
        detection="results/estimators/{estimator}/detection.csv",
        limits="results/estimators/{estimator}/detection_limits.csv",
    log:
        "results/logs/judge_estimator/{estimator}.log",
    params:
        **given(
            "judge_estimator",
            experiments=PAGE_EXPERIMENTS,
            norm=config["norm"],
            seed=config["seed"],
        ),
    shell:
        step("judge_estimator")


PAGE_FIGURES = ("fig4_realistic", "fig6_perfect", "fig5_detection", "rmse_by_n", "worst_cells")
PAGE_TABLES = ("bias", "comparison", "detection", "detection_limits")


rule draw_estimator:
    input:
        tables=[
            *(f"results/estimators/{{estimator}}/{name}.csv" for name in PAGE_TABLES),
            resource("league/others_bias.csv"),
            resource("league/others_limits.csv"),
        ],
        scenarios=expand("results/scenarios/{experiment}.parquet", experiment=PAGE_EXPERIMENTS[:2]),
    output:
        expand(
            "results/estimators/{{estimator}}/figures/{figure}.{kind}",
            figure=PAGE_FIGURES,
            kind=KINDS,
        ),
    log:
        "results/logs/draw_estimator/{estimator}.log",
    params:
        **given(
            "draw_estimator",
            tables=[*PAGE_TABLES, "others_bias", "others_limits"],
            estimators=lambda wildcards: [*PAGES[wildcards.estimator]],
        ),
    shell:
        step("draw_estimator", output="results/estimators/{wildcards.estimator}/figures")


rule write_estimator_page:
    input:
        tables=[
            *(f"results/estimators/{{estimator}}/{name}.csv" for name in PAGE_TABLES),
            "results/estimators/{estimator}/selection.csv",
            "results/estimators/{estimator}/cost.csv",
            resource("league/others_bias.csv"),
        ],
        scenarios=rules.draw_estimator.input.scenarios,
        figures=rules.draw_estimator.output,
        files=page_estimators,
        templates=page_files("estimator.html.j2"),
    output:
        page="results/estimators/{estimator}/index.html",
        row="results/estimators/{estimator}/row.json",
    log:
        "results/logs/write_estimator_page/{estimator}.log",
    params:
        **given(
            "write_estimator_page",
            loaded=lambda wildcards: page_paths(wildcards),
            tables=[*PAGE_TABLES, "selection", "cost", "others_bias"],
            estimators=page_names,
            page="{estimator}",
            norm=config["norm"],
            seed=config["seed"],
        ),
    shell:
        step("write_estimator_page")
