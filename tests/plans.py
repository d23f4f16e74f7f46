"""Changes of the small configuration, one at a time, and what Snakemake plans after each of them.

``expected`` says which jobs a change concerns by what Snakemake does not look at: the command line
of a job. A job runs again if its command line differs, the list of its inputs, or the content of an
input, and so does all that reads its outputs.
"""

import contextlib
import copy
import hashlib
import itertools
import json
import os
import shlex
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

import yaml
from checkout import ROOT, SMOKE, fork_server
from fork_client import asked

TABLE_2 = "resources/published/roelofs2022_table2_beta_fits.csv"
TABLE_3 = "resources/published/roelofs2022_table3_glm_fits.csv"
MODELS = "config/smoke_models.csv"
OTHER = "resnet110_brier_c10"


class Change(NamedTuple):
    """What is laid over the configuration, and {file: (old, new) text}."""

    config: dict
    edits: dict


NOTHING = Change({}, {})


def smoke():
    """Return the small configuration, complete with the default one."""
    default, small = (yaml.safe_load((ROOT / name).read_text("utf-8")) for name in (DEFAULT, SMOKE))
    return laid_over(default, small)


DEFAULT = "config/config.yaml"


def laid_over(config, other):
    """Return a nested mapping with another one laid over it."""
    result = copy.deepcopy(config)
    for key, value in other.items():
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = laid_over(result[key], value) if both else copy.deepcopy(value)
    return result


def nested(keys, value):
    """Return {first key: {second key: … value}}."""
    for key in reversed(keys):
        value = {key: value}
    return value


def leaves(config, keys=()):
    """Yield (keys, value) of all values of a nested mapping; a list is a value."""
    for key, value in config.items():
        if isinstance(value, dict):
            yield from leaves(value, (*keys, key))
        else:
            yield (*keys, key), value


def is_number(value):
    """Return whether a value is a number, and not a truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool)


# keys whose other value does not follow from the present one
OTHERS = {
    "softmax": ["float32_2020"],
    "fits": ["published", "refitted", "own_scores"],
    "logits_dir": ["resources/outputs"],
    "estimator_dir": ["mine"],
    "mirrors": [["https://example.org/{file}"]],
    "models": ["config/models.csv"],
    "download": [True],
    "shards": [2],
    "norm": [1, 3],
    "score_precision": ["float64", "float32"],
    "audit.norm": [2],
    "audit.n_bins": [10],
    "coverage_of": [["saturated"]],
}
ABSENT = {  # defaults of keys that no configuration file has
    "estimator_dir": None,
    "shards": None,
    "download": False,
    "mirrors": [],
    "norm": 2,
    "score_precision": "exact",
    "audit": {"norm": 1, "n_bins": 15},
}
NAMES = {
    "estimators": ["ece_label_binned_em"],
    "replication": [OTHER],
    "curves": ["logistic", "identity"],
    "models": ["resnet110_c100"],
}


def changes():
    """Return {name: Change}: every key alone, lists, experiments, estimators, models, digits."""
    config = laid_over(ABSENT, smoke())
    result = {}
    for keys, value in leaves(config):
        name = ".".join(keys)
        if name in OTHERS:
            values = OTHERS[name]
        elif isinstance(value, bool):
            values = [not value]
        elif isinstance(value, list):
            values = _other_lists(keys[-1], value)
        elif is_number(value):
            values = [value + 1]
        else:
            values = [{"fitted": "identity", "identity": "fitted"}.get(value)]
        for number, other in enumerate(other for other in values if other not in (None, [])):
            result[f"{name} {number}" if number else name] = Change(
                _changed(keys, value, other), {}
            )
    for name, settings in config["experiments"].items():
        result[f"without {name}"] = Change({"experiments": {name: None}}, {})
        if "estimators" not in settings:
            result[f"{name} of one estimator"] = Change(
                {"experiments": {name: {"estimators": ["kde"]}}}, {}
            )
    added = {"scores": [[2, 1]], "curves": ["identity"], "n_samples": [50]}
    result["one more experiment"] = Change({"experiments": {"mine": added}}, {})
    fitted = {"scores": [[2, 1]], "glms": [["logit_logit_b0_b1", -0.9, 0.5]]}
    result["experiments.mine.glms"] = Change({"experiments": {"mine": added | fitted}}, {})
    result |= digits()
    line = "resnet110_c100,CIFAR-100,100,probs_resnet110_c100_logits.p\n"
    result["a model removed"] = Change({}, {MODELS: (line, "")})
    result["a model added"] = Change(
        {}, {MODELS: (line, f"{line}densenet40_c10,CIFAR-10,10,probs_densenet40_c10_logits.p\n")}
    )
    return result


def _changed(keys, value, other):
    """Return a change of one key, and of the null where it must have what the detection has."""
    change = nested(keys, other)
    if keys[-1] in ("estimators", "n_samples"):
        detection, null = (
            ("experiments", name, keys[-1]) for name in ("detection", "detection_null")
        )
        if keys == detection and len(other) > len(value):
            return laid_over(change, nested(null, other))
        if keys == null and len(other) < len(value):
            return laid_over(change, nested(detection, other))
    return change


def _other_lists(key, value):
    """Return a list in another order, without its last item, and with one more."""
    more = [value[-1] + 1] if value and is_number(value[-1]) else NAMES.get(key, [])
    more = [item for item in more if item not in value]
    return [value[::-1] if len(value) > 1 else [], value[:-1], [*value, *more] if more else []]


def digits():
    """Return {name: Change} of a value of each published table, by model for Tables 2 and 3."""
    result = {}
    for path in sorted((ROOT / "resources/published").glob("*.csv")):
        lines = path.read_text("utf-8").splitlines(keepends=True)
        rows = {"": lines[1]}
        if path.name in (Path(TABLE_2).name, Path(TABLE_3).name):
            rows = {line.split(",")[0]: line for line in reversed(lines[1:])}
            rows = {name: rows[name] for name in ("resnet110_c10", "densenet40_c10")}
        for name, line in rows.items():
            if other := _with_another_value(line):
                key = f"{path.stem} {name}".strip()
                result[key] = Change({}, {f"resources/published/{path.name}": (line, other)})
    return result


def _with_another_value(line):
    """Return a row with another last decimal number, else another truth value, else None."""
    cells = line.rstrip("\r\n").split(",")
    for other in (_with_another_digit, {"True": "False", "False": "True"}.get):
        for place in reversed(range(len(cells))):
            text = cells[place].strip()
            if changed := other(text):
                cells[place] = cells[place].replace(text, changed)
                return ",".join(cells) + line[len(line.rstrip("\r\n")) :]
    return None


def _with_another_digit(text):
    """Return a decimal number with another last digit; None for another text."""
    if "." in text and text.replace(".", "").lstrip("-").isdigit():
        return f"{text[:-1]}{(int(text[-1]) + 1) % 10}"
    return None


def exchanges():
    """Return {name: Change}: each pair of numbers of the configuration exchanged."""
    numbers = [(keys, x) for keys, x in leaves(laid_over(ABSENT, smoke())) if is_number(x)]
    return {
        f"{'.'.join(a)} and {'.'.join(b)}": Change(laid_over(nested(a, y), nested(b, x)), {})
        for (a, x), (b, y) in itertools.combinations(numbers, 2)
        if x != y
    }


@contextlib.contextmanager
def edited(checkout, edits):
    """Replace texts of files; afterwards the files are as before, their times too."""
    paths = [checkout / name for name in edits]
    before = [(path, path.read_bytes(), path.stat()) for path in paths]
    try:
        for name, (old, new) in edits.items():
            checkout.edit(name, old, new)
        yield
    finally:
        for path, content, state in before:
            path.write_bytes(content)
            os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def plan(checkout, change=NOTHING, targets=("all",)):
    """Return the jobs of a changed configuration as ``plan_of`` writes them, or its refusal."""
    overlaid = laid_over(yaml.safe_load((checkout / SMOKE).read_text("utf-8")), change.config)
    with tempfile.TemporaryDirectory() as folder, edited(checkout, change.edits):
        configuration, output = Path(folder, "config.yaml"), Path(folder, "jobs.json")
        configuration.write_text(yaml.safe_dump(overlaid), "utf-8")
        words = [str(ROOT / "tests/plan_of.py"), str(configuration), str(output), *targets]
        status, text = _run(checkout, words)
        if status:
            return next((line for line in text.splitlines() if line.startswith("error: ")), text)
        return json.loads(output.read_text("utf-8"))


def _run(checkout, words):
    """Return the status of a command line of Python, and what it prints."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as log:
        where = str(checkout.path), checkout.environment()
        status = asked(fork_server(), words, *where, log.fileno(), log.fileno())
        log.seek(0)
        return status, log.read()


class Scratch:
    """Runs from scratch in a checkout of its own.

    A job is not run twice with one command line and inputs of the same bytes; where a file of the
    checkout is edited, which a step may read without a word, every job is run.
    """

    def __init__(self, checkout):
        """Keep the checkout, which has no results."""
        self.checkout, self._made = checkout, {}

    def made(self, change=NOTHING):
        """Return {outputs of a job: digests of their bytes}, without the record of provenance."""
        folder = self.checkout / "results"
        for path in folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
        jobs = plan(self.checkout, change)
        assert isinstance(jobs, list), jobs
        result = {}
        with edited(self.checkout, change.edits):
            for job in jobs:
                if job["command"] and not {job["rule"]} & LAST:
                    result[tuple(job["outputs"])] = self._outputs(job, repr(change.edits))
        return result

    def _outputs(self, job, salt):
        files = [(name, _digest(self.checkout / name)) for name in job["inputs"]]
        key = repr((job["command"], files, salt))
        paths = [self.checkout / name for name in job["outputs"]]
        for path in (*paths, *(self.checkout / name for name in job["logs"])):
            path.parent.mkdir(parents=True, exist_ok=True)
        if key not in self._made:
            words = list(itertools.takewhile(lambda word: word not in END, _words(job)))
            status, text = _run(self.checkout, [str(self.checkout / words[0]), *words[1:]])
            assert status == 0, text[-3000:]
            self._made[key] = [path.read_bytes() for path in paths]
        for path, content in zip(paths, self._made[key], strict=True):
            path.write_bytes(content)
        return [_digest(path) for path in paths]


LAST = {"record_provenance", "write_pages"}  # run after any other, and tell of the run itself
END = {"2>&1", ">", "|"}


def _words(job):
    words = shlex.split(job["command"])
    return words[words.index("python") + 1 :]


def _digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def expected(before, after, edits=(), ancient=False):
    """Return the outputs of the jobs that must run, a set of tuples; see the module.

    With ``ancient`` also those of which a file counts by rows alone: they may run.
    """
    earlier_jobs = {tuple(job["outputs"]): job for job in before}
    changed, files = set(), {*edits}
    for job in after:
        outputs = tuple(job["outputs"])
        earlier = earlier_jobs.get(outputs)
        counted = {*job["inputs"]} - ({*job["ancient"]} if not ancient else set())
        if (
            earlier is None
            or any(job[key] != earlier[key] for key in ("command", "inputs"))
            or counted & files
        ):
            changed.add(outputs)
            files |= {*outputs}
    return changed


def planned(jobs):
    """Return the outputs of the jobs that Snakemake runs, a set of tuples."""
    return {tuple(job["outputs"]) for job in jobs if job["planned"]}


def named(jobs, outputs):
    """Return these jobs as words, such as ``fit_model resnet110_c10``."""
    return sorted(
        " ".join([job["rule"], *job["wildcards"].values()])
        for job in jobs
        if tuple(job["outputs"]) in outputs
    )
