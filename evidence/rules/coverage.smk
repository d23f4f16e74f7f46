# Coverage: how often the intervals of an audit hold the truth.

ALL_CELLS = ("uniform", "saturated", "judging", "blind26", "clusters")
CELLS = ALL_CELLS if config["coverage_of"] == "all" else config["coverage_of"]


rule measure_coverage:
    output:
        "results/coverage/{cells}.parquet",
    log:
        "results/logs/measure_coverage/{cells}.log",
    wildcard_constraints:
        cells=one_of(CELLS),
    priority: 50  # the blind cells are the longest job: it must not start last
    params:
        **given(
            "measure_coverage",
            loaded=estimator_paths("ece_bin_ew"),
            data_sets=config["coverage"],
            seed=config["seed"],
        ),
    shell:
        step("measure_coverage", cells="{wildcards.cells}")
