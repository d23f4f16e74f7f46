"""JSON as records: an object a line, a list of objects, or the log of a language model harness."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from calbias.errors import InputError
from calbias.io.files import not_utf8
from calbias.reading.harness_logs import flattened
from calbias.reading.output_file import Place

_Records = list[dict[str, Any]]


def read_records(path: Path, data: bytes) -> tuple[_Records, Place]:
    """Return (records, Place) of the bytes of a file; InputError, with its line, for no JSON."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise not_utf8(path, data) from None
    lines = [(k, line) for k, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not lines:
        raise InputError(f"{path}: the file is empty; write one JSON object a line")
    location = Place(path, "the table")
    records: Any = None
    if lines[0][1].lstrip().startswith("["):
        records = _loaded(path, text)
        if not records or not all(isinstance(record, dict) for record in records):
            raise InputError(f"{path}: no list of JSON objects; write one object a line")
    elif lines[0][1].strip() == "{":
        with suppress(Exception):  # no object as a whole: one a line
            records = [json.loads(text)]
    if records is None:
        numbers = [k for k, _ in lines]
        location = location._replace(where=lambda row: f"{path}, line {numbers[row]}")
        records = [_object(f"{path}, line {number}", line) for number, line in lines]
    if len(records) == 1 and records[0]:
        record = records[0]
        if "samples" not in record and all(isinstance(v, list | dict) for v in record.values()):
            raise location.error(
                "one object with all rows in it; write one object a row, as pandas does by "
                "to_json(orient='records', lines=True)"
            )
    return flattened(records, location)


def _object(where: str, line: str) -> dict[str, Any]:
    record = _loaded(where, line)
    if not isinstance(record, dict):
        raise InputError(
            f'{where}: no JSON object; write one object a line, such as {{"score": 0.9, "hit": 1}}'
        )
    return record


def _loaded(where: object, text: str) -> Any:
    """Return what a JSON text holds."""
    try:
        return json.loads(text)
    except Exception as error:  # also of too deep a nesting, and of too many digits
        reason = getattr(error, "msg", error)
        raise InputError(f"{where}: no JSON ({reason}); write one object a line") from None
