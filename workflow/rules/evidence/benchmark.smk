# Benchmark: how fast the engine is. Not part of `all`: `snakemake --cores 1 benchmark` measures it
# and draws the figure of that name (figures.smk). Times differ from run to run, the results of `all`
# do not: the ledger reads fit times as recorded in resources/evidence/timing.


rule measure_speed:
    input:
        beta_fits=published("table2_beta_fits"),
        glm_fits=published("table3_glm_fits"),
    output:
        table="results/tables/benchmark.csv",
        memory="results/tables/benchmark_memory.csv",
    log:
        "results/logs/measure_speed.log",
    conda:
        "../../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
    params:
        code=code("measure_speed", *sorted((HERE / "scripts/calbias/estimators").glob("*.py"))),
    shell:
        step("measure_speed", replicates=None, rounds=None, suffix=None)


rule measure_fit_times:
    output:
        "results/tables/fit_times.csv",
    log:
        "results/logs/measure_fit_times.log",
    conda:
        "../../../envs/environment.yaml"
    params:
        code=code("measure_fit_times"),
    shell:
        step("measure_fit_times")
