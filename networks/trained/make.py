"""Train networks, measure their true calibration error, and write what ships.

``make train-networks`` runs this for all configurations. A network that is complete in the build
folder is not trained again, so that an interrupted run goes on where it stopped.
"""

import argparse
import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.optimize import bisect

from calbias.engine.seeding import stream
from trained.configuration import Configuration, read_configuration
from trained.populations import Outputs, joined, outputs_of, sketch
from trained.tasks import Rows, Task, load_task
from trained.training import Predict, train
from trained.truth import measure_truth, scores_of

BLOCK_ROWS = 100_000
VALIDATION_ROWS, TEST_ROWS = 5_000, 10_000
ROWS_BY_EPOCH, FACTOR_ROWS = 10_000, 50_000
LOGIT_BLOCKS = 5  # blocks of fresh rows whose logits stay in the build folder, for recalibration
MOST_LOGITS = 20_000_000  # numbers of them


def main(argv: list[str] | None = None) -> int:
    """Train what the command line names; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("configurations", nargs="+", type=Path, help="files, one for each network")
    parser.add_argument("--build", type=Path, required=True, help="folder for fresh rows")
    parser.add_argument("--smoke", action="store_true", help="two epochs and few rows")
    options = parser.parse_args(argv)
    try:
        configurations = [read_configuration(path) for path in options.configurations]
    except ValueError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    started = time.monotonic()
    for number, configuration in enumerate(configurations, 1):
        folder = options.build / configuration.name
        if (folder / "summary.json").exists():
            continue
        summary = make_network(_smaller(configuration) if options.smoke else configuration, folder)
        print(
            f"{number}/{len(configurations)} {configuration.name}: "
            f"error {100 * summary['error']:.2f} %, l2 {100 * summary['l2']:.2f} ± "
            f"{100 * summary['l2_se']:.2f} %, after {(time.monotonic() - started) / 60:.1f} min",
            flush=True,
        )
    return 0


def _smaller(configuration: Configuration) -> Configuration:
    """Return the configuration of the smoke size."""
    return replace(
        configuration,
        n_train=min(configuration.n_train, 512),
        epochs=min(configuration.epochs, 2),
        fresh_rows=BLOCK_ROWS,
    )


def make_network(configuration: Configuration, folder: Path) -> dict[str, Any]:
    """Train a network, write its fresh rows, folds and summary to a folder; return the summary."""
    folder.mkdir(parents=True, exist_ok=True)
    task = load_task(configuration.task, configuration.task_seed, configuration.sharpness)
    started = time.process_time()
    predict, history = _trained(task, configuration)
    trained_in = time.process_time() - started
    _write_folds(task, configuration, predict, folder)
    fresh = _fresh_rows(task, configuration, predict, folder)
    arrays: dict[str, Any] = {"log_odds": fresh.log_odds, "hits": fresh.hits}
    if fresh.chances is not None:
        arrays["chances"] = fresh.chances
    np.savez(folder / "fresh.npz", **arrays)
    cells = sketch(fresh.log_odds, fresh.hits)
    pq.write_table(cells, folder / "sketch.parquet", compression="zstd")
    summary = summarise(fresh)
    summary |= {"train_seconds": trained_in, "seconds": time.process_time() - started}
    (folder / "history.json").write_text(json.dumps(history))
    (folder / "summary.json").write_text(json.dumps(summary, indent=1))
    return summary


def _trained(task: Task, configuration: Configuration) -> tuple[Predict, list[dict[str, Any]]]:
    """Return the trained network's logits, and error and loss on fresh rows every two epochs."""
    if configuration.network == "bayes":
        if task.logits is None:
            raise ValueError(f"{configuration.name}: the law of {task.name}'s labels is not known")
        return task.logits, []
    history = []
    for epoch, predict in train(task, configuration):
        if epoch % 2 == 0:
            rows = _draw(task, configuration, f"epoch {epoch}", ROWS_BY_EPOCH)
            outputs = outputs_of(predict(rows.inputs), rows)
            error, nll = float(1 - outputs.hits.mean()), float(outputs.losses.mean())
            history.append({"epoch": epoch, "error": error, "nll": nll})
    if not configuration.share_above_99:
        return predict, history
    factor = factor_for(
        configuration.share_above_99, predict, _draw(task, configuration, "factor", FACTOR_ROWS)
    )
    return (lambda inputs: factor * predict(inputs)), history


def factor_for(share: float, predict: Predict, rows: Rows) -> float:
    """Return the factor of the logits that puts this share of the rows' scores above 0.99."""
    logits = predict(rows.inputs)

    def share_above(log_factor: float) -> float:
        scores = scores_of(outputs_of(np.float32(np.exp(log_factor)) * logits, rows).log_odds)
        return float((scores > 0.99).mean())

    return float(np.exp(bisect(lambda x: share_above(x) - share, -5.0, 5.0, xtol=1e-4)))


def _draw(task: Task, configuration: Configuration, purpose: str, n: int) -> Any:
    return task.draw(n, stream(configuration.seed, "networks", configuration.name, purpose))


def _write_folds(task: Task, configuration: Configuration, predict: Predict, folder: Path) -> None:
    """Write the logits of a validation and a test fold, and the test fold's top labels."""
    arrays: dict[str, Any] = {}
    for fold, n in (("validation", VALIDATION_ROWS), ("test", TEST_ROWS)):
        rows = _draw(task, configuration, f"{fold} fold", n)
        logits = predict(rows.inputs)
        arrays[f"{fold}_logits"] = (logits - logits.max(1, keepdims=True)).astype(np.float16)
        arrays[f"{fold}_labels"] = rows.labels.astype(np.uint8)
    outputs = outputs_of(logits, rows)
    table = pa.table({"log_odds": outputs.log_odds, "hit": outputs.hits.astype(np.uint8)})
    pq.write_table(table, folder / "top_labels.parquet", compression="zstd")
    np.savez_compressed(folder / "folds.npz", **arrays)


def _fresh_rows(
    task: Task, configuration: Configuration, predict: Predict, folder: Path
) -> Outputs:
    """Return the Outputs of all fresh rows; logits of the first blocks go to the folder."""
    parts, logits_kept, labels_kept = [], [], []
    for block in range(max(1, configuration.fresh_rows // BLOCK_ROWS)):
        rows = _draw(task, configuration, f"fresh rows {block}", BLOCK_ROWS)
        logits = predict(rows.inputs)
        parts.append(outputs_of(logits, rows))
        if block < min(LOGIT_BLOCKS, MOST_LOGITS // logits.size):
            logits_kept.append(logits)
            labels_kept.append(rows.labels)
    if logits_kept:
        np.savez(
            folder / "fresh_logits.npz",
            logits=np.concatenate(logits_kept),
            labels=np.concatenate(labels_kept),
        )
    return joined(parts)


def summarise(fresh: Outputs) -> dict[str, Any]:
    """Return a network's truth and what describes its scores; fractions."""
    scores = scores_of(fresh.log_odds)
    summary = {
        "n_rows": len(scores),
        "error": 1 - float(fresh.hits.mean()),
        "nll": float(fresh.losses.mean(dtype=np.float64)),
        "mean_score": float(scores.mean()),
        "share_above_99": float((scores > 0.99).mean()),
        **measure_truth(fresh.log_odds, fresh.hits)._asdict(),
    }
    if fresh.chances is not None:
        exact = measure_truth(fresh.log_odds, fresh.chances)._asdict()
        summary |= {f"{key}_by_chances": value for key, value in exact.items()}
    return summary


if __name__ == "__main__":
    sys.exit(main())
