# Beyond the paper: predicted against observed bias, the league of estimators, power of tests.
# `snakemake evidence` has a league of few data sets; `snakemake league` makes the full one,
# league_full.
from calbias.errors import looked_up
from calbias.estimation.registry import known_estimators
from calbias.io.python_files import literal
from pipeline.estimators import FOLDERS

LEAGUE, PREDICTED, POWER = (config[name] for name in ("league", "predicted_bias", "test_power"))
LEAGUES = {"league": LEAGUE["replicates"], "league_full": LEAGUE["full_replicates"]}
SCORE_STEMS = sorted(path.stem for path in (HERE / "resources/scores").glob("*.parquet"))
try:
    if PREDICTED["scores"] == "all":
        SCORE_STEMS.remove("snacks")  # 952 rows
    elif unknown := set(PREDICTED["scores"]) - set(SCORE_STEMS):
        raise InputError(
            f"predicted_bias.scores: no file {min(unknown)}.parquet in resources/scores"
        )
    else:
        SCORE_STEMS = PREDICTED["scores"]
    PREDICTED_FILES = estimator_paths(*PREDICTED["estimators"], "ece_debias_em")
    LEAGUE_NAMES = (
        known_estimators(estimator_folders(config))
        if LEAGUE["estimators"] == "all"
        else LEAGUE["estimators"]
    )
    # estimators of one target, but the user's, run together: a job takes longer to start than to run
    LEAGUE_FILES = {}
    for path in sorted(estimator_paths(*LEAGUE_NAMES), key=lambda path: Path(path).stem):
        of_file = literal(path, "TARGET", default="lp")
        target = of_file if isinstance(of_file, str) else sorted(of_file.values())[-1]
        target = target if Path(path).resolve().parent in FOLDERS else Path(path).stem
        files = LEAGUE_FILES.setdefault(target, [])
        files += [] if path in files else [path]
    POWER_TESTS = {*POWER["tests"], *POWER["slow_tests"]} - {"verdict"}
    REDRAWN = {name for name in POWER_TESTS if name.startswith("redraw_")}
    REDRAWN_FILES = estimator_paths(*(name.removeprefix("redraw_") for name in REDRAWN))
    own = literal(HERE / "scripts/evidence/calibration_tests.py", "NAMES")
    for name in sorted(POWER_TESTS - REDRAWN):
        looked_up("test", name, dict.fromkeys(own))
except InputError as error:
    sys.exit(f"error: config: {error}")


rule league:
    input:
        "results/league_full.html",
        table("league_full_sensitivity"),
    localrule: True


rule predict_bias:
    input:
        scores=resource("scores/{scores}.parquet"),
        manifest=resource("manifest.json"),
    output:
        "results/predicted_bias/{scores}.parquet",
    log:
        "results/logs/predict_bias/{scores}.log",
    wildcard_constraints:
        scores=one_of(SCORE_STEMS),
    conda:
        "../../../envs/environment.yaml"
    params:
        code=code("predict_bias", *PREDICTED_FILES),
        estimators=PREDICTED["estimators"],
        n_samples=PREDICTED["n_samples"],
        subsamples=PREDICTED["subsamples"],
        refits=PREDICTED["refits"],
        seed=config["seed"],
    shell:
        step("predict_bias")


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
    conda:
        "../../../envs/environment.yaml"
    resources:
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        code=lambda wildcards: code("run_league", *LEAGUE_FILES[wildcards.target]),
        models=LEAGUE["models"],
        n_samples=LEAGUE["n_samples"],
        replicates=lambda wildcards: LEAGUES[wildcards.league],
        seed=config["seed"],
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
    conda:
        "../../../envs/environment.yaml"
    params:
        code=code("rank_league"),
    shell:
        step("rank_league")


rule time_league:
    output:
        "results/tables/league_times.csv",
    log:
        "results/logs/time_league.log",
    conda:
        "../../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
    params:
        code=code("time_league", *sum(LEAGUE_FILES.values(), [])),
        estimators=[*LEAGUE_NAMES],
        folders=estimator_folders(config),
        n_samples=[1000, 100000],
    shell:
        step("time_league")


rule write_league_page:
    input:
        tables=lambda wildcards: [
            table(name)
            for name in (
                *(f"{wildcards.league}{rest}" for rest in ("", "_ranking", "_sensitivity")),
                *("test_power", "test_detection", "subsampled"),
                *(["league_times"] if wildcards.league == "league_full" else []),
            )
        ],
        figures=["results/figures/{league}_errors.png", "results/figures/test_power.png"],
        templates=page_files("league.html.j2"),
    output:
        report(
            "results/{league}.html",
            caption="../../report/league.rst",
            category="1. Ledger of claims",
            labels={"page": "{league}: which measure, which test"},
        ),
    log:
        "results/logs/write_league_page/{league}.log",
    wildcard_constraints:
        league=one_of(LEAGUES),
    localrule: True
    conda:
        "../../../envs/environment.yaml"
    params:
        code=code("write_evidence_page"),
        page="league",
        audits=[],
        tables=lambda wildcards, input: [
            f"{Path(path).stem.replace(wildcards.league, 'league')}={path}"
            for path in input.tables
        ],
        figures=lambda wildcards, input: [f"{Path(path).stem}={path}" for path in input.figures],
    shell:
        step("write_evidence_page")


rule measure_power:
    output:
        power=tabled("test_power"),
        detection=tabled("test_detection"),
    log:
        "results/logs/measure_power.log",
    priority: 60
    conda:
        "../../../envs/environment.yaml"
    resources:
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        code=code("measure_power", *REDRAWN_FILES),
        tests=POWER["tests"],
        slow_tests=POWER["slow_tests"],
        n_samples=POWER["n_samples"],
        replicates=POWER["replicates"],
        seed=config["seed"],
    shell:
        step("measure_power", null_replicates=None)


rule measure_monitor:
    input:
        streams=[
            resource(f"{folder}/{name}.parquet")
            for folder, name in (
                ("forecasts", "mlb_games"),
                ("forecasts", "nba_games"),
                ("forecasts", "march_madness_in_game_men"),
                ("answers", "gpt_4_turbo"),
            )
        ],
    output:
        tabled("monitor"),
    log:
        "results/logs/measure_monitor.log",
    conda:
        "../../../envs/environment.yaml"
    resources:
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        code=code("measure_monitor"),
        replicates=config["monitor"]["streams"],
        n_rows=config["monitor"]["rows"],
        seed=config["seed"],
    shell:
        step("measure_monitor", pictures=None)


# The tables that documents quote, next to this run's.
KEPT = sorted(path.stem for path in (HERE / "resources/evidence/tables").glob("*.csv"))


rule compare_evidence:
    input:
        kept=[resource(f"evidence/tables/{name}.csv") for name in KEPT],
        fresh=[table(name) for name in KEPT],
    output:
        "results/evidence_differences.csv",
    log:
        "results/logs/compare_evidence.log",
    localrule: True
    conda:
        "../../../envs/environment.yaml"
    params:
        code=code("compare_evidence"),
    shell:
        step("compare_evidence")
