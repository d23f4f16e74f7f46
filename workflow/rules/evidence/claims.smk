# Evidence: what backs calbias's own promises, all of it, and the claims that are judged by it.

BACKING = ("predicted_bias", "interval_coverage", "league", "kull2019_table3")
OWN_CLAIMS = sorted((HERE / "scripts/evidence/claims").glob("*.py"))  # found there, not imported


rule evidence:
    input:
        [table(name) for name in (*EVIDENCE_TABLES, *AUDITS)],
        [f"results/figures/{figure}.png" for figure in EVIDENCE_FIGURES],
        MODEL_FIGURES,
        [f"results/audit/{name}.html" for name in AUDITED],
        "results/league.html",
    localrule: True


rule judge_own_claims:
    input:
        tables=[table(name) for name in BACKING],
    output:
        claims=tabled("own_claims"),
        measurements=tabled("own_measurements"),
    log:
        "results/logs/judge_own_claims.log",
    localrule: True
    conda:
        "../../../envs/environment.yaml"
    params:
        code=code("judge_own_claims", *OWN_CLAIMS),
        columns=[columns_of(name) for name in ("own_claims", "own_measurements")],
        tables=named("tables", BACKING),
    shell:
        step("judge_own_claims")
