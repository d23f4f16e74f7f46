"""Write what Snakemake would do with a configuration, all jobs and which of them it runs, as JSON.

``plan_of.py CONFIGURATION OUTPUT TARGET …`` in a checkout; the fork server has the imports.
"""

import contextlib
import json
import os
import sys
from pathlib import Path

from snakemake.api import SnakemakeApi
from snakemake.settings.enums import Quietness
from snakemake.settings.types import ConfigSettings, DAGSettings, OutputSettings, ResourceSettings


def main(configuration, output, *targets):
    """Plan in this folder; jobs are in an order in which they can run."""
    settings = OutputSettings(dryrun=True, quiet={Quietness.ALL})
    with SnakemakeApi(settings) as api, open(os.devnull, "w") as nothing:
        with contextlib.redirect_stdout(nothing):
            workflow = api.workflow(
                resource_settings=ResourceSettings(cores=2),
                config_settings=ConfigSettings(configfiles=[Path(configuration)]),
                snakefile=Path("Snakefile"),
            )
            dag = workflow.dag(dag_settings=DAGSettings(targets={*targets}))
            dag.execute_workflow(executor="dryrun")
        dag = workflow._workflow.dag
        planned = {*dag.needrun_jobs(exclude_finished=False)}
        jobs = [
            {
                "rule": job.rule.name,
                "wildcards": dict(job.wildcards.items()),
                "inputs": [str(path) for path in job.input],
                "ancient": [str(path) for path in job.input if path.is_ancient],
                "outputs": [str(path) for path in job.output],
                "logs": [str(path) for path in job.log],
                "command": job.shellcmd or "",
                "mem_mb": job.resources.get("mem_mb"),
                "planned": job in planned,
            }
            for level in dag.toposorted()
            for job in sorted(level, key=str)
        ]
    Path(output).write_text(json.dumps(jobs), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
