# The papers' statements, judged on the kept networks: a minute. The figures show the paper's fits
# next to the networks, so they need the papers' run.

MEASURED = [name for name in TABLES if name not in ("network_claims", "network_measurements")]
CLAIMS = sorted((HERE / "scripts/networks/claims").glob("*.py"))  # found there, not imported


rule networks:
    input:
        [table(name) for name in TABLES],
        "results/networks.html",
        "results/tables/README_networks.csv",
    localrule: True


rule judge_networks:
    input:
        tables=[table(name) for name in MEASURED],
    output:
        claims=tabled("network_claims"),
        measurements=tabled("network_measurements"),
    log:
        "results/logs/judge_networks.log",
    localrule: True
    params:
        **given(
            "judge_networks",
            loaded=CLAIMS,
            tables=MEASURED,
        ),
    shell:
        step("judge_networks")


rule write_networks_page:
    input:
        claims=table("network_claims"),
        measurements=table("network_measurements"),
        templates=[*papers.page_files(), local(os.path.relpath(HERE / "report/networks.html.j2"))],
    output:
        report(
            "results/networks.html",
            caption="../report/networks.rst",
            category="1. Ledger of claims",
            labels={"page": "the papers' statements on networks of known truth"},
        ),
    log:
        "results/logs/write_networks_page.log",
    localrule: True
    params:
        **given("write_networks_page"),
    shell:
        step("write_networks_page")
