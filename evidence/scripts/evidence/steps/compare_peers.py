import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from calbias.engine.sorted_batch import sorted_data_set
from calbias.errors import InputError
from evidence.calibration_tests import load_test
from evidence.estimators import estimate
from evidence.peers.causes import CAUSES, TOLERANCE
from pipeline import CHECKOUT
from pipeline.tables import write_table

COLUMNS = [
    "data_set", "n_samples", "quantity", "peer", "version", "printed", "calbias", "difference",
    "cause", "cause_established",
]  # fmt: skip
EVIDENCE = Path(__file__).parents[3]
BUILD_LOCK = CHECKOUT / "envs/requirements-build.lock"
SAME = 2e-6  # float32 inside a peer, and scores clipped by it, stay below this
# quantity: the estimator of calbias that means the same, and its norm
OURS = {
    "ece_width": ("ece_bin_ew", 1),
    "ece_top_label": ("ece_bin_ew", 1),
    "ece_width_l2": ("ece_bin_ew", 2),
    "ece_mass": ("ece_bin_em", 1),
    "ece_mass_l2": ("ece_bin_em", 2),
    "debiased_mass_l2": ("ece_debias_em", 2),
    "sweep_mass_l2": ("ece_sweep_em", 2),
    "mce_width": ("mce_ew", 1),
    "smece": ("smece", 1),
    "smece_top_label": ("smece", 1),
    "range": ("ecce_r", 1),
    "corp_mcb": ("corp_mcb", 2),
    "mmce": ("mmce", 2),
}
# quantity: the test of calbias whose p-value means the same
TESTS = {
    "spiegelhalter_p": "spiegelhalter",
    "mad_p": "ecce_mad_series",
    "range_p": "ecce_r_series",
    "hosmer_lemeshow_p": "hosmer_lemeshow",
}


def data_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return {name: (scores, hits)}: calibrated, saturated, tied, small, multi-class."""
    rng = np.random.default_rng(2022)

    def with_hits(scores: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return scores, (rng.random(scores.size) < share).astype(np.int64)

    scores = rng.beta(2, 1, 1000)
    data = {"calibrated": with_hits(scores, scores)}
    scores = rng.beta(2.8, 0.05, 1000).astype(np.float32).astype(float)  # 463 of them are 1
    data["saturated"] = with_hits(scores, scores**2)
    scores = rng.integers(1, 20, 500) / 20
    data["tied"] = with_hits(scores, scores)
    scores = rng.random(20)
    data["small"] = with_hits(scores, scores)
    probabilities = np.exp(2 * rng.normal(size=(500, 5)))
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    labels = np.array([rng.choice(5, p=row) for row in probabilities])
    hits = (probabilities.argmax(axis=1) == labels).astype(np.int64)
    data["multi-class"] = probabilities.max(axis=1), hits
    return data


def values_of_peers(
    folder: Path, data: Mapping[str, tuple[np.ndarray, np.ndarray]], chosen: Sequence[str] = ()
) -> Iterator[tuple[str, str, dict[str, dict[str, Any]]]]:
    """Yield (peer, version, {data set: {quantity: value}}) of each peer, or of the chosen ones.

    ``data`` is {name: (scores, hits)}.
    """
    folder.mkdir(exist_ok=True)
    arrays = folder / "data.npz"
    parts = {name: zip(("scores", "hits"), pair, strict=True) for name, pair in data.items()}
    named: dict[str, Any] = {
        f"{name}_{part}": x for name, pairs in parts.items() for part, x in pairs
    }
    np.savez(arrays, **named)
    for requirements in sorted((EVIDENCE / "envs/peers").glob("*.txt")):
        peer = requirements.stem
        if not chosen or peer in chosen:
            version = requirements.read_text().split("==")[1].split()[0]
            python = environment(folder / peer, requirements.with_suffix(".lock"))
            yield peer, version, printed(peer, python, arrays)
            print(f"{peer} {version}: {len(data)} data sets", file=sys.stderr)


def environment(folder: Path, lock: Path) -> Path:
    """Return the Python of an environment with exactly a lock in it; make it where it is missing.

    pip resolves nothing, as in the Makefile; what has no wheel is built by the locked setuptools.
    """
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        install = ["install", "--quiet", "--no-deps", "--no-build-isolation", "-r"]
        for words in ([*install, BUILD_LOCK], [*install, lock], ["check"]):
            command: list[Any] = [str(python), "-m", "pip", *words]
            if subprocess.run(command, check=False).returncode:
                shutil.rmtree(folder)
                raise InputError(f"{lock}: cannot be installed; see pip's message above")
    return python


def printed(peer: str, python: Path, arrays: Path) -> dict[str, dict[str, Any]]:
    """Return {data set: {quantity: number, or text of a refusal}} as a peer prints them."""
    command: list[Any] = [
        str(python),
        EVIDENCE / "scripts/evidence/peers/print_values.py",
        peer,
        arrays,
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        raise InputError(f"{peer} failed: {run.stderr.strip().splitlines()[-1]}")
    values: dict[str, dict[str, Any]] = json.loads(run.stdout.splitlines()[-1])
    return values


def _row(name: str, data: Any, quantity: str, peer: str, version: str, value: Any) -> list[Any]:
    scores, hits = data
    value_here = ours(quantity, scores, hits)
    row = [name, scores.size, quantity, peer, version]
    if isinstance(value, str):
        return [*row, "", value_here, "", f"refused: {value}", ""]
    difference = value - value_here
    if abs(difference) <= SAME:
        return [*row, value, value_here, difference, "", ""]
    return [*row, value, value_here, difference, *cause_of(peer, quantity, scores, hits, value)]


def cause_of(
    peer: str, quantity: str, scores: np.ndarray, hits: np.ndarray, value: float
) -> tuple[str, bool]:
    """Return why a peer prints another value, and whether its definition returns that value."""
    causes: Any = CAUSES
    cause, definition = causes.get((peer, quantity), ("unknown", lambda *_: np.nan))
    tolerance = TOLERANCE.get((peer, quantity), 1e-6)
    return cause, abs(definition(scores, hits) - value) <= tolerance


def ours(quantity: str, scores: np.ndarray, hits: np.ndarray) -> float:
    """Return calbias's value of a quantity."""
    if quantity in TESTS:
        return float(load_test(TESTS[quantity]).values(sorted_data_set(scores, hits))[0])
    name, norm = OURS[quantity]
    return estimate(name, scores, hits, n_bins=15, norm=norm).value


def compare_peers(
    *,
    environments: Path = Path(".venv-peers"),
    output: Path = Path("evidence/resources/peers/values.csv"),
) -> None:
    """Put what other packages print next to calbias's values, with the cause of each difference.

    Each peer runs in an environment of its own, which this script makes from envs/peers/<peer>.lock
    where it is missing. Nothing else of the project needs these environments.

    environments: folder of environments
    output: table to write
    """
    data = data_sets()
    rows = [
        _row(name, data[name], quantity, peer, version, value)
        for peer, version, values in values_of_peers(environments, data)
        for name, quantities in values.items()
        for quantity, value in quantities.items()
    ]
    write_table(output, COLUMNS, rows)
