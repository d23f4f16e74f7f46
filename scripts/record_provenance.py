"""Record what the results were made from and with, and the checksum of each table and figure."""

import json

from calbias.errors import InputError
from calbias.io.command_line import option, script, written_whole
from calbias.pipeline.provenance import checked_digest, provenance


@script(
    option("--inputs", "what the results were made from", many=True, default=[]),
    option("--files", "tables and figures to record", many=True, default=[]),
    option("--config", "the complete configuration, as JSON", default=None),
    option("--check", "record to compare the files it lists with, instead", default=None),
    option("--output", "record to write (JSON)", default=None),
)
def main(options):
    if options.check:
        print(f"{check(options.check)} files are as recorded")
        return
    if not (options.config and options.output):
        raise InputError("--config and --output are needed, or --check")
    record = provenance(json.loads(options.config), options.files, options.inputs)
    with written_whole(options.output) as temporary:
        temporary.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def check(path):
    """Return how many files a record lists; InputError for the first that differs from it.

    InputError too if the record itself is absent or is not one.
    """
    try:
        with open(path, encoding="utf-8") as file:
            files = json.load(file)["files"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path}: not a record of provenance ({type(error).__name__}); run snakemake {path}"
        ) from error
    for name, digest in files.items():
        if checked_digest(name) != digest:
            raise InputError(f"{name}: differs from {path}; delete it and run snakemake")
    return len(files)


if __name__ == "__main__":
    main()
