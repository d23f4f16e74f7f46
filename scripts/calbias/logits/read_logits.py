"""Read a model's logits from whatever file holds them into the canonical form.

The published files are pickles, verified against the manifest; a user's own outputs may be a
pickle of the same form, NPZ (``calbias.logits.read_npz``), CSV or Parquet
(``calbias.logits.read_csv_parquet``), logits or probabilities, with or without a split.
"""

import warnings
from pathlib import Path

import numpy as np

from calbias.engine.seeding import stream
from calbias.errors import InputError
from calbias.logits import checks
from calbias.logits import plausibility as suspicions
from calbias.logits.checks import Place, RawFold
from calbias.logits.manifest import validate_file_exists, validate_no_placeholder, verify
from calbias.logits.pickles import read_pickle
from calbias.logits.read_csv_parquet import read_csv, read_parquet
from calbias.logits.read_npz import read_npz
from calbias.logits.store import Fold, Logits
from calbias.logits.top_label import top_label


def read_logits(path, model, manifest, seed=0, n_classes=None):
    """Return the ``Logits`` of a model, read from ``path``; their source is ``real_logits``.

    A model that ``manifest`` (``{model: PublishedFile}``) lists must have the size and sha256 given
    there before anything is parsed. Any other model is the user's own: what is legal but
    suspicious is warned of. Without a split, half of the rows, drawn by ``seed`` and their number
    (models of the same samples share it), become the validation fold, and a warning says so.
    Raises InputError for all that ``calbias.logits.checks`` and the readers refuse, and for
    another number of classes than ``n_classes``, if that is given.
    """
    path = Path(path)
    published = manifest.get(model)
    if published:
        verify(path, published)
    validate_file_exists(path)
    validate_no_placeholder(path)
    raw, declared = _reader(path)(path)
    folds = {name: _checked(fold) for name, fold in raw.items()}
    if "all" in folds:
        folds = _split(folds["all"], seed)
    validation, test = folds["validation"], folds["test"]
    classes = validation.values.shape[1], test.values.shape[1]
    if classes[0] != classes[1]:
        raise InputError(
            f"{path}: {classes[0]} classes for validation but {classes[1]} for test; "
            "give both folds the same"
        )
    if n_classes and classes[0] != n_classes:
        raise InputError(
            f"{path}: {classes[0]} columns of classes, but the models table says n_classes "
            f"{n_classes}; drop what is no class, or mend n_classes"
        )
    probabilities = declared or checks.are_probabilities((validation, test))
    logits = _logits(path, validation, test, probabilities)
    if not published:
        _warn_of_suspicions(path, logits, (validation, test), probabilities)
    return logits


def _reader(path):
    readers = {
        ".p": _read_pickle,
        ".pkl": _read_pickle,
        ".pickle": _read_pickle,
        ".npz": read_npz,
        ".csv": read_csv,
        ".parquet": read_parquet,
    }
    if path.suffix.lower() not in readers:
        raise InputError(
            f"{path}: suffix {path.suffix!r} is unknown; give one of {', '.join(readers)}"
        )
    return readers[path.suffix.lower()]


def _read_pickle(path):
    pairs = zip(("validation", "test"), read_pickle(path), strict=True)
    return {fold: RawFold(*pair, Place(path, f"fold {fold}")) for fold, pair in pairs}, False


def _checked(fold):
    values = checks.checked_values(fold.values, fold.place)
    labels = checks.checked_labels(fold.labels, *values.shape, fold.place)
    return RawFold(values, labels, fold.place)


def _split(whole, seed):
    """Draw half of the rows (the smaller half) as validation fold; both keep the file's order."""
    n = len(whole.labels)
    if n < 2:
        raise whole.place.error("one row cannot be split in two folds; give more")
    warnings.warn(
        f"{whole.place.file}: no split; {n // 2} of {n} rows, drawn with seed {seed}, serve as "
        "validation fold, the others as test fold",
        stacklevel=3,
    )
    order = stream(seed, str(n), "split").permutation(n)
    rows = {"validation": np.sort(order[: n // 2]), "test": np.sort(order[n // 2 :])}
    return {
        fold: RawFold(
            whole.values[chosen],
            whole.labels[chosen],
            Place(whole.place.file, f"fold {fold}", chosen),
        )
        for fold, chosen in rows.items()
    }


def _logits(path, validation, test, probabilities):
    folds = (validation, test)
    if not probabilities:
        checks.validate_scaled_probabilities(folds)
        made = [np.ascontiguousarray(fold.values, dtype=np.float32) for fold in folds]
    else:
        for fold in folds:
            checks.check_probabilities(fold)
        warnings.warn(
            f"{path}: the values are probabilities; their logarithms serve as logits",
            stacklevel=3,
        )
        floor = checks.zero_floor(folds)
        made = [checks.log_probabilities(fold.values, floor) for fold in folds]
    return Logits(Fold(made[0], validation.labels), Fold(made[1], test.labels), "real_logits")


def _warn_of_suspicions(path, logits, folds, probabilities):
    if not probabilities:
        suspicions.warn_of_whole_numbers(path, [fold.values for fold in folds])
    suspicions.warn_of_repeats(path, logits.validation.logits, logits.test.logits)
    for name, fold in zip(("validation", "test"), folds, strict=True):
        top = top_label(*getattr(logits, name))
        suspicions.warn_of_chance(path, name, top, fold.values.shape[1])
        suspicions.warn_of_one_outcome(path, name, top)
        ones = fold.values.max(axis=1) == 1 if probabilities else top.score == 1
        suspicions.warn_of_ones(path, name, ones)
