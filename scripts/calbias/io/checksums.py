"""The checksums by which files are told apart."""

import hashlib


def file_digest(path):
    """Return the SHA-256 of a file's bytes, in hexadecimal; OSError if it cannot be read."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_digest(paths):
    """Return the SHA-256 of several files' digests, in hexadecimal: their order counts."""
    return hashlib.sha256("".join(map(file_digest, paths)).encode()).hexdigest()
