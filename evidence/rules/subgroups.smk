# Whom does it fail? Language models by subject, and the cells that the test over all subgroups is
# measured on.

SUBJECT_FILES = sorted((HERE / "resources/subjects").glob("*.parquet"))
PRINTED_FILES = sorted((HERE / "resources/subjects/printed").glob("*.parquet"))
if config["answers"] != "all":
    SUBJECT_FILES = SUBJECT_FILES[:2]


rule summarise_subjects:
    input:
        files=[data(f"subjects/{path.name}") for path in SUBJECT_FILES],
        printed_files=[data(f"subjects/printed/{path.name}") for path in PRINTED_FILES],
        manifest=data("subjects/manifest.json"),
        printed=data("published/tao2025.csv"),
    output:
        subjects=tabled("subjects"),
        printed=tabled("tao2025"),
        compared=tabled("verbal_confidence"),
    log:
        "results/logs/summarise_subjects.log",
    params:
        **given(
            "summarise_subjects",
            seed=config["seed"],
        ),
    shell:
        step("summarise_subjects")


rule measure_subgroups:
    output:
        tabled("subgroup_cells"),
    log:
        "results/logs/measure_subgroups.log",
    params:
        **given(
            "measure_subgroups",
            data_sets=config["subgroup_cells"],
            seed=config["seed"],
        ),
    shell:
        step("measure_subgroups")
