"""The command line of download_logits.py, against a server on the loopback address."""

import hashlib

import pytest
from mirror import CONTENT, serving, urls

import download_logits


@pytest.fixture
def mirror(monkeypatch):
    """The URL template of a server that has ``m.p``."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as server:
        yield urls(server, "right")[0]


@pytest.fixture
def manifest(tmp_path):
    path = tmp_path / "manifest.csv"
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    path.write_text(
        "model,file,sha256,bytes,dataset,n_classes,n_validation,n_test\n"
        f"m,m.p,{sha256},{len(CONTENT)},CIFAR-10,10,5000,10000\n"
    )
    return path


def run(manifest, output, *options, model="m"):
    required = ["--model", model, "--manifest", manifest, "--output", output, "--backoff", 0.001]
    download_logits.main([*map(str, required), *options])


def test_mirrors_in_order(mirror, manifest, tmp_path):
    output = tmp_path / "out" / "m.p"
    absent = mirror.replace("right", "missing")
    run(manifest, output, "--mirrors", absent, "--mirrors", mirror)
    assert output.read_bytes() == CONTENT


def test_mirrors_from_a_file(mirror, manifest, tmp_path):
    (tmp_path / "mirrors.csv").write_text(f"url,note\n{mirror},loopback\n")
    run(manifest, tmp_path / "m.p", "--mirrors-file", str(tmp_path / "mirrors.csv"))
    assert (tmp_path / "m.p").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("options", "model", "message"),
    [
        (["--mirrors", "{missing}"], "m", "m.p could not be downloaded: http://127.0.0.1:"),
        (["--mirrors", "{mirror}"], "other", "no model other; only published files"),
        (["--mirrors", "no-url"], "m", "--mirrors: mirror 'no-url' is no http(s) URL"),
    ],
)
def test_failures_are_one_line(mirror, manifest, tmp_path, refused, options, model, message):
    missing = mirror.replace("right", "missing")
    options = [o.replace("{mirror}", mirror).replace("{missing}", missing) for o in options]
    with refused(message):
        run(manifest, tmp_path / "out" / "m.p", *options, model=model)
    assert not (tmp_path / "out" / "m.p").exists()
