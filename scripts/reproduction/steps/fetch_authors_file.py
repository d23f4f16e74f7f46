"""Download a file of the authors' results; no checksum of it is published."""

import sys
from pathlib import Path

import requests

from calbias.errors import InputError
from calbias.io.files import file_digest, placeholder
from pipeline.results import written_whole
from pipeline.steps.download_logits import read_mirrors
from reproduction.authors_files import FILES, contents

_MOST_BYTES = 100_000_000
_BLOCK_BYTES = 2**16


def fetch_authors_file(*, mirrors_file: Path, mirrors: list[str], file: str, output: Path) -> None:
    """Download a file of the authors' fits or biases from the first mirror that has it.

    It is kept only if it can be read; its sha256 is printed.

    mirrors_file: CSV with a column url
    mirrors: URLs with {file} in them, instead
    file: the file's name
    output: the file
    """
    if file not in FILES:
        raise InputError(f"--file: {file} is none of {', '.join(FILES)}")
    answers = []
    for mirror in read_mirrors(mirrors_file, mirrors):
        url = mirror.replace("{file}", file)
        try:
            with written_whole(output) as temporary:
                _fetch(url, temporary)
                contents(temporary)  # InputError unless it is of the form that its name promises
                print(f"{url}: sha256 {file_digest(temporary)}", file=sys.stderr)
            return
        except (requests.RequestException, InputError) as error:
            answers.append(f"{url}: {error}")
    raise InputError(
        f"{file} could not be downloaded: {'; '.join(answers)}. Place it at {output} by hand, or "
        "go on without it: no other result needs it"
    )


def _fetch(url: str, path: Path) -> None:
    """Write what a mirror answers to ``path``; InputError for an answer that is no file."""
    with requests.get(url, stream=True, timeout=30) as response:
        response.raise_for_status()
        with open(path, "wb") as file:
            for block in response.iter_content(_BLOCK_BYTES):
                content = placeholder(block) if not file.tell() else None
                if content:
                    raise InputError(f"sent {content} instead of the file")
                file.write(block)
                if file.tell() > _MOST_BYTES:
                    raise InputError(f"sent more than {_MOST_BYTES} bytes")
