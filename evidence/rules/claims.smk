# Evidence: what backs calbias's own promises, all of it, and the claims that are judged by it.

BACKING = ["predicted_bias", "league", "kull2019_table3", "printed_simulations"]
BACKING += ["interval_coverage"] if {*CELLS} == {*ALL_CELLS} else []  # C02 is about every cell
OWN_CLAIMS = sorted((HERE / "scripts/evidence/claims").glob("*.py"))  # found there, not imported


rule evidence:
    input:
        [table(name) for name in (*TABLES, *AUDITS, "noise_floors")],
        parts_of(TABLES),
        papers.of_outputs(REAL),
        [
            f"results/figures/{figure}.{kind}"
            for figure in (*FIGURES, *(f"models/{model}" for model in MEASURED))
            for kind in papers.KINDS
        ],
        [f"results/audit/{name}.{kind}" for name in AUDITED for kind in ("html", "json")],
        [
            f"results/audit/{part}/{name}.parquet"
            for part in ("estimates", "verdicts", "diagrams")
            for name in AUDITED
        ],
        "results/league.html",
        "results/evidence.html",
        "results/tables/README_evidence.csv",
    localrule: True


rule write_evidence_page:
    input:
        tables=[table(name) for name in TABLES],
        figures=[f"results/figures/{figure}.png" for figure in FIGURES],
        audits=[f"results/audit/{name}.html" for name in AUDITED if name not in OWN],
        league="results/league.html",
        templates=page_files("evidence.html.j2"),
    output:
        report(
            "results/evidence.html",
            caption="../report/evidence.rst",
            category="1. Ledger of claims",
            labels={"page": "calbias's own promises"},
        ),
    log:
        "results/logs/write_evidence_page.log",
    localrule: True
    params:
        **given(
            "write_evidence_page",
            tables=TABLES,
            figures=[*FIGURES],
            audits=[name for name in AUDITED if name not in OWN],
        ),
    shell:
        step("write_evidence_page", page="evidence")


rule judge_own_claims:
    input:
        tables=[table(name) for name in BACKING],
    output:
        claims=tabled("own_claims"),
        measurements=tabled("own_measurements"),
    log:
        "results/logs/judge_own_claims.log",
    localrule: True
    params:
        **given(
            "judge_own_claims",
            loaded=OWN_CLAIMS,
            tables=BACKING,
        ),
    shell:
        step("judge_own_claims")


# The tables that documents quote, next to this run's.
KEPT = sorted(path.stem for path in (papers.HERE / "resources/evidence/tables").glob("*.csv"))


rule compare_evidence:
    input:
        kept=[resource(f"evidence/tables/{name}.csv") for name in KEPT],
        fresh=[table(name) for name in KEPT],
    output:
        "results/evidence_differences.csv",
    log:
        "results/logs/compare_evidence.log",
    localrule: True
    params:
        **given("compare_evidence"),
    shell:
        step("compare_evidence")
