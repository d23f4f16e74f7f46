"""Record what the results were made from and with, and the checksum of each table and figure."""

import argparse
import json

from calbias.errors import InputError
from calbias.io.command_line import command, written_whole
from calbias.pipeline.provenance import checked_digest, provenance


@command
def main(argv=None):
    """Write the record, or compare the files with an earlier one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", nargs="*", default=[], help="tables and figures to record")
    parser.add_argument(
        "--inputs", nargs="*", default=[], help="what they were made from: models, logits, own code"
    )
    parser.add_argument("--config", help="the complete configuration, as JSON")
    parser.add_argument("--output", help="record to write (JSON)")
    parser.add_argument("--check", help="record to compare the files it lists with, instead")
    options = parser.parse_args(argv)
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
