# Defaults: what no rule states, since it is the same for all: environment, log, tables' columns.
# Memory and time that a rule does not state are the profile's default-resources (../profiles).
import atexit

from calbias.pipeline.failures import show_errors

for each in workflow.rules:
    if each.shellcmd:
        each.conda_env = "../../envs/environment.yaml"
        of_job = [f"{{{name}}}" for name in sorted(each.wildcard_names)]
        each.log_modifier = each.output_modifier  # log: does the same
        each.set_log(os.path.join("results/logs", each.name, *of_job) + ".log")
        if own := [columns_of(name) for name in tables() if tables()[name]["rule"] == each.name]:
            each.set_params(columns=own)  # a table whose columns change is made again


onerror:
    # the cause is the last thing on the screen, below Snakemake's own closing lines
    if workflow.is_main_process:
        atexit.register(show_errors, log)
