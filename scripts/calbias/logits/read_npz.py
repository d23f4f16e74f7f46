"""Read a user's NPZ file of model outputs.

With a split: ``validation_logits, validation_labels, test_logits, test_labels``. Without:
``logits, labels``, and optionally ``fold``, one of the texts ``validation`` and ``test`` per row.
``probabilities`` may stand for ``logits``, ``label`` for ``labels``; other arrays are ignored.
Arrays of Python objects are refused: they would need the unpickler.
"""

import zipfile
import zlib
from pathlib import Path

import numpy as np

from calbias.errors import InputError
from calbias.logits.checks import Place, RawFold
from calbias.logits.read_csv_parquet import split_by_fold
from calbias.logits.store import FOLDS

_VALUES = ("logits", "probabilities")
_LABELS = ("labels", "label")


def read_npz(path):
    """Return ``({fold: RawFold}, declared)`` of an NPZ file.

    The folds are ``validation`` and ``test``, or ``all`` without a split; ``declared`` tells
    whether the keys call the values probabilities. Raises InputError for a file that is damaged or
    lacks the arrays above.
    """
    try:
        with open(path, "rb") as file:
            archive = np.load(file, allow_pickle=False)
            if isinstance(archive, np.ndarray):
                raise InputError(f"{path}: one array, no NPZ; write it again with numpy.savez")
            return _folds(Path(path), archive)
    except InputError:
        raise
    except (OSError, ValueError, EOFError, MemoryError, zipfile.BadZipFile, zlib.error) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        if "allow_pickle" in reason:  # numpy's advice, which would run what is in the file
            archive = zipfile.is_zipfile(path)
            reason = "an array of Python objects" if archive else "not one by its first bytes"
        raise InputError(
            f"{path}: no readable NPZ file: {reason}; write it again with numpy.savez"
        ) from error


def _folds(path, archive):
    prefixes = {fold: f"{fold}_" for fold in FOLDS}
    if not any(_find(archive, prefix, _VALUES) for prefix in prefixes.values()):
        prefixes = {"all": ""}
    folds = {}
    declared = False
    for fold, prefix in prefixes.items():
        values, labels = _find(archive, prefix, _VALUES), _find(archive, prefix, _LABELS)
        if not values or not labels:
            missing = prefix + ("labels" if values else "logits")
            raise InputError(
                f"{path}: no array {missing}, only {', '.join(archive.files) or 'nothing'}; "
                "name the arrays validation_logits, validation_labels, test_logits, test_labels, "
                "or logits and labels"
            )
        declared |= values.endswith("probabilities")
        folds[fold] = RawFold(archive[values], archive[labels], Place(path, values))
    if "all" in folds and "fold" in archive:
        folds = split_by_fold(folds["all"], archive["fold"])
    return folds, declared


def _find(archive, prefix, names):
    return next((prefix + name for name in names if prefix + name in archive), None)
