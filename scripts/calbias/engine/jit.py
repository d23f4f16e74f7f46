"""numba's ``njit`` with a cache of compiled kernels that stays true, also when jobs share it.

numba knows a cached kernel by the text of its own file. An edit of a kernel that it calls in
another file would leave the old machine code in use, and two processes that fill an empty cache at
once may mix up two signatures of one kernel. Here each file's kernels are kept in a folder named by
a digest of that file and of all project files it imports, and are compiled and stored under a
lock: of processes that start together one compiles, the others wait and load.
"""

import contextlib
import fcntl
import inspect
import os
import time
from functools import cache
from pathlib import Path

import numba
from numba.core.caching import FunctionCache

from calbias.io.checksums import files_digest
from calbias.io.code_files import PACKAGE, code_files


def njit(function=None, **options):
    """Decorate a function like ``numba.njit(**options)``, its machine code cached on disk.

    The cache is in NUMBA_CACHE_DIR, else in the package's ``__pycache__``, else in the user's cache
    folder, whichever can be written first; where none can, kernels are compiled in each process.
    """
    if function is None:
        return lambda function: njit(function, **options)
    kernel = numba.njit(**options)(function)
    folder = _folder(inspect.getfile(function))
    if folder is not None:
        usual, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
        try:
            kernel._cache = _SharedCache(function)
        finally:
            numba.config.CACHE_DIR = usual
    return kernel


class _SharedCache(FunctionCache):
    """numba looks a kernel up, compiles it if that finds none, and stores it."""

    def load_overload(self, signature, target_context):
        found = super().load_overload(signature, target_context)
        if found is None:
            _lock(self.cache_path)
            found = super().load_overload(signature, target_context)  # stored while this one waited
            if found is not None:
                _unlock(self.cache_path)
        return found

    def save_overload(self, signature, data):
        try:
            super().save_overload(signature, data)
        finally:
            _unlock(self.cache_path)


_held = {}  # folder: [locked file, how many kernels are being compiled, one within the other]
_patience = [120.0]  # seconds to wait for another process; none once it was in vain


def _lock(folder):
    """Lock a folder for this process; after a long wait go on without: a lock is a courtesy."""
    if folder in _held:
        _held[folder][1] += 1
        return
    file = open(Path(folder) / "lock", "w")  # noqa: SIM115
    _held[folder] = [file, 1]
    deadline = time.monotonic() + _patience[0]
    while time.monotonic() < deadline:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(0.02)
        except OSError:  # a file system without locks
            return
    _patience[0] = 0.0


def _unlock(folder):
    if folder in _held:
        _held[folder][1] -= 1
        if _held[folder][1] == 0:
            _held.pop(folder)[0].close()


@cache
def _folder(file):
    name = f"{Path(file).stem}-{files_digest(code_files(file))[:16]}"
    given = os.environ.get("NUMBA_CACHE_DIR")
    for base in (given, PACKAGE / "__pycache__", Path.home() / ".cache" / "calbias"):
        if base:
            folder = Path(base) / name
            with contextlib.suppress(OSError):
                folder.mkdir(parents=True, exist_ok=True)
                if os.access(folder, os.W_OK):
                    return folder
    return None
