# Simulations whose numbers other papers print, drawn again: a job a paper.

PAPERS = sorted(path.stem for path in (HERE / "scripts/evidence/papers").glob("[a-z]*.py"))
PRINTED_BY = {
    paper: sorted(path.name for path in (HERE / "resources/published").glob(f"{paper}*.csv"))
    for paper in PAPERS
}


rule compare_simulations:
    input:
        printed=lambda wildcards: [data(f"published/{x}") for x in PRINTED_BY[wildcards.paper]],
    output:
        "results/printed_simulations/{paper}.parquet",
    log:
        "results/logs/compare_simulations/{paper}.log",
    wildcard_constraints:
        paper=one_of(PAPERS),
    params:
        **given(
            "compare_simulations",
            loaded=lambda wildcards: [HERE / f"scripts/evidence/papers/{wildcards.paper}.py"],
            data_sets=config["printed_simulations"],
            seed=config["seed"],
        ),
    shell:
        step("compare_simulations", paper="{wildcards.paper}")
