"""Record what the results were made from and with, and the checksum of each table and figure."""

import json

from calbias.errors import InputError
from calbias.io.command_line import write_text
from pipeline.job_logs import cost_by_rule
from pipeline.provenance import checked_record, provenance
from pipeline.script import option, script


@script(
    option("--inputs", "what the results were made from", many=True, default=[]),
    option("--files", "tables and figures to record", many=True, default=[]),
    option("--logs", "folder of the jobs' logs, for what each rule used", default=None),
    option("--config", "the complete configuration, as JSON", default=None),
    option("--check", "record to compare the files it lists with, instead", default=None),
    option("--output", "record to write (JSON)", default=None),
)
def main(options):
    if options.check:
        print(f"{len(checked_record(options.check)['files'])} files are as recorded")
        return
    if not (options.config and options.output):
        raise InputError("--config and --output are needed, or --check")
    record = provenance(json.loads(options.config), options.files, options.inputs)
    if options.logs:
        record["cost"] = cost_by_rule(options.logs)
    write_text(options.output, json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
