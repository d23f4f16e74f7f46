"""JSON as records: an object a line, a list of objects, or the log of a language model harness."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from calbias.errors import InputError
from calbias.io.files import not_utf8
from calbias.logits.harness_logs import flattened
from calbias.logits.output_file import Place

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
    records = _array(path, text)
    if records is not None:
        location = Place(path, "the table")
    else:
        numbers = [k for k, _ in lines]
        location = Place(path, "the table", None, lambda row: f"{path}, line {numbers[row]}")
        records = [_object(path, *line) for line in lines]
    if len(records) == 1 and records[0]:
        record = records[0]
        if "samples" not in record and all(isinstance(v, list | dict) for v in record.values()):
            raise location.error(
                "one object with all rows in it; write one object a row, as pandas does by "
                "to_json(orient='records', lines=True)"
            )
    return flattened(records, location)


def _array(path: Path, text: str) -> _Records | None:
    """Return the objects of a list, or the one object of many lines; None for an object a line."""
    is_list = text.lstrip().startswith("[")
    if not is_list and not text.lstrip().startswith("{\n"):
        return None
    try:
        records = json.loads(text)
    except Exception as error:
        if not is_list:
            return None
        raise InputError(f"{path}: no JSON ({error}); write one object a line") from None
    if not is_list:
        return [records]
    if not records or not all(isinstance(record, dict) for record in records):
        raise InputError(f"{path}: no list of JSON objects; write one object a line")
    return records


def _object(path: Path, number: int, line: Any) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except Exception as error:
        reason = getattr(error, "msg", error)
        raise InputError(
            f"{path}, line {number}: no JSON ({reason}); write one object a line"
        ) from None
    if not isinstance(record, dict):
        raise InputError(
            f"{path}, line {number}: no JSON object; write one object a line, such as "
            '{"score": 0.9, "hit": 1}'
        )
    return record
