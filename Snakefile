# The papers; and, where their folders are there, the guests, which use the papers as a module.
import sys
from pathlib import Path

HERE = Path(str(workflow.current_basedir))
sys.path.insert(0, str(HERE / "scripts"))
GUESTS = [
    path.parent for name in ("evidence", "networks") for path in HERE.glob(f"{name}/Snakefile")
]

# a guest's configuration, and its part of a configuration that --configfile names
for guest in GUESTS:
    for name in ("config.yaml", *(Path(file).name for file in workflow.overwrite_configfiles)):
        if (guest / name).is_file():

            configfile: str(guest / name)


report: "workflow/report/workflow.rst"


module papers:
    snakefile:
        "workflow/Snakefile"
    config:
        {**config, "guests": [str(guest) for guest in GUESTS]}


use rule * from papers


if HERE / "evidence" in GUESTS:

    module evidence:
        snakefile:
            "evidence/Snakefile"
        config:
            {"papers": papers}

    use rule * from evidence


if HERE / "networks" in GUESTS:

    module networks:
        snakefile:
            "networks/Snakefile"
        config:
            {"papers": papers}

    use rule * from networks


papers.save()  # the digests of code that all rules asked for
workflow.default_target = "all"


onerror:
    papers.onerror()
