# calbias: every figure, table and claim of Roelofs et al. (2022), from logits to report.
import atexit

from snakemake.utils import min_version

min_version("9.0")


configfile: f"{workflow.basedir}/config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/logits.smk"
include: "workflow/rules/fits.smk"
include: "workflow/rules/simulate.smk"
include: "workflow/rules/summarise.smk"
include: "workflow/rules/sensitivity.smk"
include: "workflow/rules/recalibrate.smk"
include: "workflow/rules/measure.smk"
include: "workflow/rules/replication.smk"
include: "workflow/rules/audit.smk"
include: "workflow/rules/beyond.smk"
include: "workflow/rules/answers.smk"
include: "workflow/rules/multiclass.smk"
include: "workflow/rules/subgroups.smk"
include: "workflow/rules/join.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/benchmark.smk"
include: "workflow/rules/provenance.smk"


save()  # the digests of code that the rules asked for


rule all:
    default_target: True
    input:
        results(),
    localrule: True


onerror:
    # the cause is the last thing on the screen, below Snakemake's own closing lines
    if workflow.is_main_process:
        atexit.register(show_errors, log)
