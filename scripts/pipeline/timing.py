"""CPU time of calls: the time that other processes take is not counted."""

import resource
import time
from collections.abc import Callable

from pipeline import provenance


def timed(function: Callable[[], object]) -> float:
    """Return the CPU seconds of a call, those of its subprocesses included."""
    started = _spent()
    function()
    return _spent() - started


def _spent() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def processor() -> str:
    """Return the processor's name and what numba compiles for."""
    from llvmlite.binding import get_host_cpu_name

    return f"{provenance.processor()} ({get_host_cpu_name()})"
