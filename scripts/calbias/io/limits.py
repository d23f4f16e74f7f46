"""How much a file may unpack to: a hundred times its bytes, or 64 MiB where that is more.

A few bytes can stand for gigabytes. What a file claims is compared before it is unpacked, and what
is unpacked without a claim is read up to the limit. Larger files can be unpacked by the user: a
plain file of any size is read.
"""

import gzip
import io
import zlib
from pathlib import Path

from calbias.errors import InputError

RATIO, FREE_BYTES = 100, 1 << 26


def most_bytes(n_packed: int) -> int:
    """Return how many bytes so many packed ones may become."""
    return max(FREE_BYTES, RATIO * n_packed)


def validate_unpacked(path: Path | str, n_bytes: int, n_packed: int) -> None:
    """Raise InputError where a file's contents are too large for its bytes."""
    if n_bytes > most_bytes(n_packed):
        raise InputError(
            f"{path}: {n_packed} bytes stand for more than {most_bytes(n_packed)}: a file may "
            f"unpack to {RATIO} times its size; save it again without compression"
        )


def gunzipped(path: Path | str, data: bytes) -> bytes:
    """Return the contents of gzip."""
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        contents = file.read(most_bytes(len(data)) + 1)
    validate_unpacked(path, len(contents), len(data))
    return contents


def inflated(name: str, data: bytes, most: int) -> bytes:
    """Return the contents of zlib, at most so many bytes."""
    stream = zlib.decompressobj()
    contents = stream.decompress(data, most + 1)
    if len(contents) > most or not stream.eof:
        raise InputError(f"{name}: it is cut, or unpacks to more than {most} bytes")
    return contents
