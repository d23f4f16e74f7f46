"""What results were made from and with: configuration, data, packages, machine, CPU time.

Bytes of tables and figures are a function of configuration and code alone, so nothing of this is
written into them. One record next to them holds it all, and ties it to them by their checksums.
"""

import hashlib
import json
import os
import platform
import re
import resource
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from calbias import __version__
from calbias.errors import InputError
from pipeline import CHECKOUT
from pipeline.step_command import USED
from pipeline.tables import read_rows, validate_unchanged
from pipeline.versions import packages, versions_of
from pipeline.write_results import made_by, record_of

Record = dict[str, Any]

# Keys of the configuration that change no result.
WITHOUT_EFFECT = ("shards", "mirrors")
_USED = re.compile(re.sub(r"{[^}]*}", r"([\\d.]+)", USED))


def provenance(config: Record, files: Sequence[Path], inputs: Sequence[Path] = ()) -> Record:
    """Return the record, for JSON, of result ``files`` and the ``inputs`` that a config names."""
    file_digests, input_digests = (
        {path: checked_digest(path) for path in sorted(map(str, paths))}
        for paths in (files, inputs)
    )
    return {
        "project": {"name": "calbias", "version": __version__, **checkout(CHECKOUT)},
        "configuration": {"sha256": config_digest(config), "seed": config["seed"]},
        "sources": sources(files),
        "packages": packages(),
        "made_with": {str(path): versions_of(record_of(path)) for path in sorted(files)},
        "made_by": {str(path): made_by(record_of(path)) for path in sorted(files)},
        "machine": machine(),
        "inputs": input_digests,
        "files": file_digests,
        "config": config,
    }


def config_digest(config: Record) -> str:
    """Return the SHA-256 of the keys that results depend on, in a canonical form."""
    kept = {key: value for key, value in config.items() if key not in WITHOUT_EFFECT}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def checked_digest(path: Path | str) -> str:
    """Return the SHA-256 of a result's bytes; InputError if there is none."""
    try:
        return validate_unchanged(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); run snakemake") from error


def read_record(path: Path) -> Record:
    """Return a record; InputError if it is absent or is not one."""
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
        record["files"].items()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path}: not a record of provenance ({type(error).__name__}); run snakemake {path}"
        ) from error
    return record


def checked_record(path: Path) -> Record:
    """Return a record; InputError for the first file that differs from it."""
    record = read_record(path)
    for name, digest in record["files"].items():
        if checked_digest(name) != digest:
            raise InputError(f"{name}: differs from {path}; delete it and run snakemake")
    return record


def sources(files: Sequence[Path]) -> dict[str, list[str]]:
    """Return {table: sources of its rows} of the CSV tables in ``files`` that name a source."""
    sources_of_table = {}
    for path in sorted(map(Path, files)):
        if path.suffix == ".csv":
            rows = [row for _, row in read_rows(path)]
            if rows and "source" in rows[0]:
                sources_of_table[path.stem] = sorted({row["source"] for row in rows} - {""})
    return sources_of_table


def checkout(folder: Path) -> Record:
    """Return the git commit of ``folder`` and whether files differ from it; empty without git."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(folder), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        if Path(git("rev-parse", "--show-toplevel")).resolve() != Path(folder).resolve():
            return {}
        edited = git("status", "--porcelain")  # new files too: an estimator may be one
        return {"commit": git("rev-parse", "HEAD"), "edited": bool(edited)}
    except (OSError, subprocess.CalledProcessError):
        return {}


def machine() -> Record:
    """Return operating system, processor, number of cores and memory in GB."""
    return {
        "system": platform.platform(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
    }


def processor() -> str:
    """Return the processor's name."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def compiled_for() -> str:
    """Return the processor's name and what numba compiles for."""
    from llvmlite.binding import get_host_cpu_name

    return f"{processor()} ({get_host_cpu_name()})"


def timed(function: Callable[[], object]) -> float:
    """Return the CPU seconds of a call, those of its subprocesses included."""
    started = _spent()
    function()
    return _spent() - started


def _spent() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def cost_by_rule(logs: Path) -> dict[str, dict[str, float]]:
    """Return {rule: jobs, CPU seconds in all, and MB of the largest job}, the dearest rule first.

    ``logs`` is the folder of ``{rule}.log`` and ``{rule}/….log``, of which a job that ran again
    has replaced its own. A log without such a line is not counted.
    """
    used = defaultdict(list)
    for path in Path(logs).rglob("*.log"):
        if lines := _USED.findall(_text([path])):
            used[path.relative_to(logs).parts[0].removesuffix(".log")].append(lines[-1])
    costs = {
        rule: {
            "jobs": len(jobs),
            "cpu_seconds": round(sum(float(seconds) for seconds, _ in jobs), 1),
            "peak_mb": max(int(peak) for _, peak in jobs),
        }
        for rule, jobs in used.items()
    }
    return dict(sorted(costs.items(), key=lambda item: (-item[1]["cpu_seconds"], item[0])))


def _text(paths: Iterable[Path]) -> str:
    return "\n".join(Path(path).read_text(encoding="utf-8", errors="replace") for path in paths)
