# Power: which faults the tests of calibration find, on a data set and on a stream.

POWER = config["test_power"]
POWER_TESTS = {*POWER["tests"], *POWER["slow_tests"]} - {"verdict"}
REDRAWN = {name for name in POWER_TESTS if name.startswith("redraw_")}
try:
    REDRAWN_FILES = estimator_paths(*(name.removeprefix("redraw_") for name in REDRAWN))
    own = literal(HERE / "scripts/evidence/calibration_tests.py", "NAMES")
    for name in sorted(POWER_TESTS - REDRAWN):
        looked_up("test", name, dict.fromkeys(own))
except InputError as error:
    sys.exit(f"error: config: {error}")


rule measure_power:
    output:
        power=tabled("test_power"),
        detection=tabled("test_detection"),
    log:
        "results/logs/measure_power.log",
    priority: 60
    resources:
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        **given(
            "measure_power",
            loaded=REDRAWN_FILES,
            tests=POWER["tests"],
            slow_tests=POWER["slow_tests"],
            n_samples=POWER["n_samples"],
            replicates=POWER["replicates"],
            seed=config["seed"],
        ),
    shell:
        step("measure_power", null_replicates=None)


rule measure_monitor:
    input:
        streams=[
            *(
                resource(f"forecasts/{name}.parquet")
                for name in ("mlb_games", "nba_games", "march_madness_in_game_men")
            ),
            data("answers/gpt_4_turbo.parquet"),
        ],
    output:
        tabled("monitor"),
    log:
        "results/logs/measure_monitor.log",
    resources:
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        **given(
            "measure_monitor",
            replicates=config["monitor"]["streams"],
            n_rows=config["monitor"]["rows"],
            seed=config["seed"],
        ),
    shell:
        step("measure_monitor", pictures=None)
