# All classes: estimators against their own truths, and printed class-wise errors with noise floors.
# `snakemake multiclass` makes the league at its full size, multiclass_league_full.

MULTICLASS = config["multiclass"]
MULTICLASS_LEAGUES = {
    "multiclass_league": (MULTICLASS["n_samples"], MULTICLASS["replicates"]),
    "multiclass_league_full": (MULTICLASS["full_n_samples"], MULTICLASS["full_replicates"]),
}
# the populations: Dirichlet distributions, and networks of which this run has the outputs
MULTICLASS_POPULATIONS = [
    *MULTICLASS["distributions"],
    *(m for m in MULTICLASS["models"] if m in REAL or m in OUTPUT_FILES),
]


rule multiclass:
    input:
        table("multiclass_league_full"),
        "results/tables/multiclass_full_reading.csv",
        "results/figures/multiclass_league_full.png",
    localrule: True


rule run_multiclass_league:
    input:
        logits=lambda wildcards: (
            []
            if wildcards.population in MULTICLASS["distributions"]
            else (
                [f"results/logits/{wildcards.population}.npz"]
                if wildcards.population in REAL
                else [resource(f"outputs/{wildcards.population}.npz")]
            )
        ),
    output:
        "results/{multiclass_league}/{population}.parquet",
    log:
        "results/logs/run_multiclass_league/{multiclass_league}/{population}.log",
    wildcard_constraints:
        multiclass_league=one_of(MULTICLASS_LEAGUES),
        population=one_of(MULTICLASS_POPULATIONS),
    resources:
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        **given(
            "run_multiclass_league",
            n_samples=lambda wildcards: MULTICLASS_LEAGUES[wildcards.multiclass_league][0],
            replicates=lambda wildcards: MULTICLASS_LEAGUES[wildcards.multiclass_league][1],
            seed=config["seed"],
        ),
    shell:
        step("run_multiclass_league", population="{wildcards.population}")


rule read_multiclass_league:
    input:
        league=table("multiclass_league{full}"),
    output:
        tabled("multiclass{full}_reading"),
    log:
        "results/logs/read_multiclass_league{full}.log",
    wildcard_constraints:
        full="(_full)?",
    localrule: True
    params:
        **given("read_multiclass_league"),
    shell:
        step("read_multiclass_league")


# networks of which this run has the outputs of all classes
CLASSWISE = [*(model for model in MEASURED if model in REAL), *OTHERS]


rule measure_differences:
    input:
        file=lambda wildcards: (
            f"results/logits/{wildcards.network}.npz"
            if wildcards.network in REAL
            else resource(f"outputs/{wildcards.network}.npz")
        ),
    output:
        "results/method_differences/{network}.parquet",
    log:
        "results/logs/measure_differences/{network}.log",
    wildcard_constraints:
        network=one_of(CLASSWISE),
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        **given(
            "measure_differences",
            seed=config["seed"],
            methods=lambda wildcards: "all" if wildcards.network in REAL else "quick",
        ),
    shell:
        step("measure_differences", model="{wildcards.network}")


rule judge_printed_classwise:
    input:
        printed=data("published/kull2019_table3_classwise_ece.csv"),
        floors=table("noise_floors"),
        differences=table("method_differences"),
    output:
        tabled("kull2019_table3"),
    log:
        "results/logs/judge_printed_classwise.log",
    localrule: True
    params:
        **given("judge_printed_classwise"),
    shell:
        step("judge_printed_classwise")
