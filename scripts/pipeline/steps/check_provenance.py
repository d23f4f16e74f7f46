from pathlib import Path

from pipeline.provenance import checked_record


def check_provenance(*, record: Path) -> None:
    """Compare the tables and figures that a record of provenance lists with their checksums.

    record: the record (JSON)
    """
    print(f"{len(checked_record(record)['files'])} files are as recorded")
