"""The command line of download_logits.py, against a server on the loopback address."""

import functools
import hashlib
import http.server
import threading

import pytest

import download_logits

CONTENT = b"logits" * 1000


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """The URL template of a server that has ``m.p``."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "m.p").write_bytes(CONTENT)

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Quiet, directory=str(tmp_path / "served"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/{{file}}"
    server.shutdown()
    thread.join()
    server.server_close()


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
    download_logits.main(
        [
            "--model",
            model,
            "--manifest",
            str(manifest),
            "--output",
            str(output),
            "--backoff",
            "0.001",
            *options,
        ]
    )


def test_mirrors_in_order(mirror, manifest, tmp_path):
    output = tmp_path / "out" / "m.p"
    absent = mirror.replace("{file}", "absent/{file}")
    run(manifest, output, "--mirrors", absent, "--mirrors", mirror)
    assert output.read_bytes() == CONTENT


def test_mirrors_from_a_file(mirror, manifest, tmp_path):
    (tmp_path / "mirrors.csv").write_text(f"url,note\n{mirror},loopback\n")
    run(manifest, tmp_path / "m.p", "--mirrors-file", str(tmp_path / "mirrors.csv"))
    assert (tmp_path / "m.p").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("options", "model", "message"),
    [
        (["--mirrors", "{mirror}x"], "m", "m.p could not be downloaded: http://127.0.0.1:"),
        (["--mirrors", "{mirror}"], "other", "no model other; only published files"),
        (["--mirrors", "no-url"], "m", "--mirrors: mirror 'no-url' is no http(s) URL"),
    ],
)
def test_failures_are_one_line(mirror, manifest, tmp_path, capsys, options, model, message):
    options = [option.replace("{mirror}", mirror) for option in options]
    with pytest.raises(SystemExit) as exit_:
        run(manifest, tmp_path / "out" / "m.p", *options, model=model)
    assert exit_.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert not (tmp_path / "out" / "m.p").exists()
