"""A run as a Workflow Run RO-Crate: metadata in the words of schema.org for a provenance record.

References: RO-Crate 1.1, https://w3id.org/ro/crate/1.1; Workflow Run Crate 0.5,
https://w3id.org/ro/wfrun/workflow/0.5.
"""

import mimetypes
from urllib.parse import quote

METADATA, WORKFLOW = "ro-crate-metadata.json", "Snakefile"
CRATE = "https://w3id.org/ro/crate/1.1"
TERMS = "https://w3id.org/ro/terms/workflow-run/context"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
SNAKEMAKE, SNAKEMAKE_PAGE = f"{[*PROFILES][2][:-4]}#snakemake", "https://snakemake.github.io"
TYPES = {bool: "Boolean", int: "Integer", float: "Float", str: "Text"}


def crate_metadata(record, about, packed, results, ended):
    """Return the metadata of a crate, a dict for JSON.

    ``record`` is the provenance; ``about`` is codemeta.json; ``packed`` is {path: (SHA-256,
    bytes)} of all files of the crate, ``results`` the paths of those that the run made; ``ended``
    is the time of the last one, in ISO 8601. Inputs that are not packed, such as a user's own model
    outputs, are described by name and checksum.
    """
    packages = {_package(*item): item for item in record["packages"].items()}
    settings = {key: value for key, value in record["config"].items() if type(value) in TYPES}
    inputs = {path: path if path in packed else f"#{quote(path)}" for path in record["inputs"]}
    project, licence = record["project"], about["license"]
    shared = {"license": _ref(licence), "description": about["description"]}
    version = " ".join([project["version"], project.get("commit", "")]).strip()
    root = _entity("./", "Dataset", f"A run of {about['name']} {project['version']}", **shared)
    root |= {
        "datePublished": ended,
        "conformsTo": [_ref(url) for url in PROFILES],
        "mainEntity": _ref(WORKFLOW),
        "mentions": _ref("#run"),
        "author": _ref("#authors"),
        "hasPart": [_ref(path) for path in packed],
    }
    files = {path: _file(path, *packed[path]) for path in packed}
    files["README.md"]["about"] = _ref("./")
    files[WORKFLOW] |= _entity(
        WORKFLOW, ["File", "SoftwareSourceCode", "ComputationalWorkflow"], about["name"], **shared
    ) | {
        "version": version + " with edits" * project.get("edited", False),
        "author": _ref("#authors"),
        "programmingLanguage": _ref(SNAKEMAKE),
        "softwareRequirements": [_ref(name) for name in packages],
        "input": [_ref(f"#{key}-parameter") for key in settings],
    }  # fmt: skip
    machine = record["machine"]
    run = _entity("#run", "CreateAction", "The run of Snakemake that made the results") | {
        "description": f"{machine['cores']} cores, {machine['processor']}, {machine['system']}; "
        f"configuration with SHA-256 {record['configuration']['sha256']}",
        "endTime": ended,
        "instrument": _ref(WORKFLOW),
        "object": [*map(_ref, inputs.values()), *(_ref(f"#{key}") for key in settings)],
        "result": [_ref(path) for path in results],
    }
    context = [
        _entity("#authors", "Organization", about["author"][0]["name"]),
        _entity(licence, "CreativeWork", licence.rpartition("/")[2], identifier=licence),
        _entity(SNAKEMAKE, "ComputerLanguage", "Snakemake",
                identifier=_ref(SNAKEMAKE_PAGE), url=_ref(SNAKEMAKE_PAGE)),
        *(_entity(url, "CreativeWork", name, version=url.rpartition("/")[2])
          for url, name in PROFILES.items()),
        *(_entity(url, "SoftwareApplication", name, softwareVersion=number)
          for url, (name, number) in packages.items()),
        *(_entity(f"#{key}", "PropertyValue", key, value=str(value),
                  exampleOfWork=_ref(f"#{key}-parameter")) for key, value in settings.items()),
        *(_entity(f"#{key}-parameter", "FormalParameter", key, valueRequired=True,
                  additionalType=TYPES[type(value)]) for key, value in settings.items()),
        *(_entity(name, "CreativeWork", path, sha256=record["inputs"][path])
          for path, name in inputs.items() if name != path),
    ]  # fmt: skip
    descriptor = {"@id": METADATA, "@type": "CreativeWork", "about": _ref("./")}
    descriptor["conformsTo"] = [_ref(CRATE), _ref([*PROFILES][2])]
    graph = [descriptor, root, *files.values(), run, *context]
    return {"@context": [f"{CRATE}/context", TERMS], "@graph": graph}


def _package(name, version):
    """Return the package URL (ECMA-427) of a package of Python, or of Python itself."""
    return f"pkg:{'generic' if name == 'python' else 'pypi'}/{name}@{quote(version)}"


def _ref(name):
    return {"@id": name}


def _entity(name, kind, title, **properties):
    return {"@id": name, "@type": kind, "name": title, **properties}


def _file(path, digest, size):
    kind = mimetypes.guess_type(path)[0] or "text/plain"
    return _entity(path, "File", path, sha256=digest, contentSize=str(size), encodingFormat=kind)
