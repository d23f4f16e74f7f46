"""What Snakemake records of a job's params: each under its name, and the code file by file.

Snakemake records the set of the values, so two numbers that change places are no change for it. It
leaves out params that are functions of inputs, and the order of the inputs. Here a recorded text is
``seed = 3`` or ``code of calbias/engine/seeding.py = 5d0c…``: the comparison is exact, and the
reason that Snakemake prints for a job names what changed.
"""

import hashlib
import warnings
from pathlib import Path
from typing import Any

import snakemake.persistence

from pipeline.code_digest import parts_of

CODE, PRINTED = "code of ", "printed "  # begin the names of digests of files, and of rows of tables
SHOWN = 200  # characters of a value that a reason shows; a digest stands for all of it


def record_by_name(checkout: Path) -> None:
    """Make Snakemake record the params of all rules in ``checkout`` by name.

    A workflow that uses this one as a module keeps Snakemake's record for its rules.
    """
    persistence = _persistence()
    if persistence is None:
        warnings.warn(
            "this version of Snakemake records params in another way: a changed configuration may "
            "rerun too little; install envs/requirements.lock",
            stacklevel=2,
        )
        return
    by_value = getattr(persistence._params, "by_value", persistence._params)

    def by_name(self: Any, job: Any) -> list[str]:
        is_ours = Path(job.rule.snakefile).resolve().is_relative_to(checkout.resolve())
        return recorded(job) if is_ours else by_value(self, job)

    by_name.by_value = by_value  # type: ignore[attr-defined]
    persistence._params = by_name


def recorded(job: Any) -> list[str]:
    """Return what is recorded of a job, a sorted list of texts NAME = VALUE."""
    texts = [f"order of inputs = {_digest(repr(list(map(str, job.input))))}"]
    for name, value in job.params.items():
        if isinstance(value, str) and (parts := parts_of(value)):
            texts += [f"{CODE}{part} = {digest}" for part, digest in parts.items()]
        elif isinstance(value, dict):
            texts += [f"{name} {key} = {_shortened(repr(part))}" for key, part in value.items()]
        else:
            texts.append(f"{name} = {_shortened(repr(value))}")
    return sorted(texts)


def _persistence() -> Any:
    """Return the class of Snakemake that records params; None where there is none."""
    classes = vars(snakemake.persistence).values()
    return next((each for each in classes if "_params" in getattr(each, "__dict__", {})), None)


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({_digest(text)})"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
