# The league: every estimator against its own target. `snakemake evidence` has a league of few data
# sets; `snakemake league` makes the full one, league_full.

LEAGUE = config["league"]
LEAGUES = {"league": LEAGUE["replicates"], "league_full": LEAGUE["full_replicates"]}
try:
    LEAGUE_NAMES = (
        known_estimators(FOLDERS) if LEAGUE["estimators"] == "all" else LEAGUE["estimators"]
    )
    # estimators of one target, but the user's, run together: a job takes longer to start than to run
    LEAGUE_FILES = {}
    for path in sorted(estimator_paths(*LEAGUE_NAMES), key=lambda path: Path(path).stem):
        of_file = literal(path, "TARGET", default="lp")
        target = of_file if isinstance(of_file, str) else sorted(of_file.values())[-1]
        target = target if Path(path).resolve().parent in FOLDERS[:2] else Path(path).stem
        files = LEAGUE_FILES.setdefault(target, [])
        files += [] if path in files else [path]
except InputError as error:
    sys.exit(f"error: config: {error}")


rule league:
    input:
        "results/league_full.html",
        table("league_full_sensitivity"),
    localrule: True


rule run_league:
    input:
        estimators=lambda wildcards: loaded(LEAGUE_FILES[wildcards.target]),
        beta_fits=published("table2_beta_fits"),
        glm_fits=published("table3_glm_fits"),
    output:
        "results/{league}/{target}.parquet",
    log:
        "results/logs/run_league/{league}/{target}.log",
    wildcard_constraints:
        league=one_of(LEAGUES),
        target=one_of(LEAGUE_FILES),
    resources:
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        **given(
            "run_league",
            loaded=lambda wildcards: LEAGUE_FILES[wildcards.target],
            models=LEAGUE["models"],
            n_samples=LEAGUE["n_samples"],
            replicates=lambda wildcards: LEAGUES[wildcards.league],
            seed=config["seed"],
        ),
    shell:
        step("run_league")


rule rank_league:
    input:
        league=table("{league}"),
    output:
        ranking=tabled("{league}_ranking"),
        sensitivity=tabled("{league}_sensitivity"),
    log:
        "results/logs/rank_league/{league}.log",
    wildcard_constraints:
        league=one_of(LEAGUES),
    localrule: True
    params:
        **given("rank_league"),
    shell:
        step("rank_league")


rule write_league_page:
    input:
        tables=lambda wildcards: [
            table(name)
            for name in (
                *(f"{wildcards.league}{rest}" for rest in ("", "_ranking", "_sensitivity")),
                *("test_power", "test_detection", "subsampled"),
            )
        ],
        figures=["results/figures/{league}_errors.png", "results/figures/test_power.png"],
        templates=page_files("league.html.j2"),
    output:
        report(
            "results/{league}.html",
            caption="../report/league.rst",
            category="1. Ledger of claims",
            labels={"page": "{league}: which measure, which test"},
        ),
    log:
        "results/logs/write_league_page/{league}.log",
    wildcard_constraints:
        league=one_of(LEAGUES),
    localrule: True
    params:
        **given(
            "write_evidence_page",
            rule="write_league_page",
            audits=[],
            tables=lambda wildcards, input: [
                f"{Path(path).stem.replace(wildcards.league, 'league')}={path}"
                for path in input.tables
            ],
            figures=lambda wildcards, input: [
                f"{Path(path).stem}={path}" for path in input.figures
            ],
        ),
    shell:
        step("write_evidence_page", page="league")
