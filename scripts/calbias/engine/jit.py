"""numba's ``njit`` with an on-disk JIT cache that is invalidated correctly and is safe to share.

numba identifies a cached function by its own file. After an edit of a function that it calls in
another file, numba would run the old machine code; two processes that fill an empty cache at once
may mix up two signatures of one function (numba issues 4807 and 10128). Here the folder of a
file's cache is named by a digest of the file and of all project files that it imports. A function
is compiled and stored under a lock: of processes that start together one compiles, and the others
wait and load.
"""

import contextlib
import fcntl
import gc
import inspect
import os
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, overload

from calbias.errors import of_extra
from calbias.io.files import files_digest
from calbias.io.python_files import PACKAGE, code_files

try:
    import numba
    from numba import float64 as float64
    from numba import int64 as int64
    from numba import uint32 as uint32
    from numba import uint64 as uint64
except (ImportError, AttributeError, SystemError):
    of_extra("a compiled estimator, a simulation or a class-wise error", "numba")  # says why
    raise


try:  # private parts of numba: without them each process compiles for itself
    from numba.core.caching import FunctionCache, _CacheLocator
    from numba.core.runtime.nrt import rtsys

    _shares = all(
        hasattr(FunctionCache, name)
        for name in ("_load_overload", "_guard_against_spurious_io_errors")
    )
except ImportError:
    FunctionCache = _CacheLocator = object
    _shares = False

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


@overload
def njit(function: Kernel) -> Kernel: ...
@overload
def njit(function: None = None, **options: Any) -> Callable[[Kernel], Kernel]: ...
def njit(function: Any = None, **options: Any) -> Any:
    """Decorate a function like ``numba.njit(**options)``, with its machine code cached on disk.

    The cache is in the first folder that can be written: NUMBA_CACHE_DIR, the package's
    ``__pycache__``, the user's cache folder. If none can, or if numba's parts that the cache stands
    on are gone, each process compiles for itself.
    """
    if function is None:
        return lambda function: njit(function, **options)
    kernel = numba.njit(no_cfunc_wrapper=True, **options)(function)
    if _shares and _folder(inspect.getfile(function), function.__module__) is not None:
        kernel._cache = _SharedCache(function)
    return kernel


class _Locator(_CacheLocator):
    """Where one function is cached: the digest in the folder's name stands for path and time."""

    def __init__(self, function: Any, file: str) -> None:
        self._folder = _folder(file, function.__module__)
        self._line = function.__code__.co_firstlineno

    from_function = classmethod(lambda cls, function, file: cls(function, file))

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return ""

    def get_disambiguator(self) -> str:
        return str(self._line)


class _Implementation(getattr(FunctionCache, "_impl_class", object)):  # type: ignore[misc]
    _locator_classes = (_Locator,)


class _SharedCache(FunctionCache):
    """Look-up, compilation and storing of one function, under the lock of its folder."""

    _impl_class = _Implementation

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        # numba would first import all that compiling needs, a quarter of a second
        rtsys.initialize(target_context)
        stored = self._stored(signature, target_context)
        if stored is None:
            _lock(self.cache_path)
            stored = self._stored(signature, target_context)  # stored while this one waited
            if stored is not None:
                _unlock(self.cache_path)
        return stored

    def _stored(self, signature: Any, target_context: Any) -> Any:
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, target_context)

    def save_overload(self, signature: Any, data: Any) -> None:
        try:
            super().save_overload(signature, data)
        finally:
            _unlock(self.cache_path)


_held: dict[str, list[Any]] = {}  # folder: [locked file, depth of nested compilations]
_collects = [True]  # is garbage collected when no kernel is compiled?
_patience = [120.0]  # seconds to wait for another process; 0 after the first wait in vain


def _lock(folder: str) -> None:
    """Lock a folder for this process. Best effort: after a long wait continue without the lock."""
    if folder in _held:
        _held[folder][1] += 1
        return
    if not _held:  # garbage collection would take a tenth of the time of compiling
        _collects[0] = gc.isenabled()
        gc.disable()
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


def _unlock(folder: str) -> None:
    if folder in _held:
        _held[folder][1] -= 1
        if _held[folder][1] == 0:
            _held.pop(folder)[0].close()
        if not _held and _collects[0]:
            gc.enable()


@cache
def _folder(file: str, module: str) -> Path | None:
    """Return the folder of a file's kernels; they name the module that compiled them."""
    name = f"{module.rpartition('.')[2]}-{files_digest(code_files(file))[:16]}"
    name += "-checked" if numba.config.BOUNDSCHECK else ""
    given = os.environ.get("NUMBA_CACHE_DIR")
    for base in (given, PACKAGE / "__pycache__", Path.home() / ".cache" / "calbias"):
        if base:
            folder = Path(base) / name
            with contextlib.suppress(OSError):
                folder.mkdir(parents=True, exist_ok=True)
                if os.access(folder, os.W_OK):
                    return folder
    return None
