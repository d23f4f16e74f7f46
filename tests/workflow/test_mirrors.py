"""The download as a user starts it: mirrors named in the config, on the loopback address."""

import http.server
import json
import threading
from functools import partial

import pytest
from checkout import GENUINE, errors

TARGET = "results/top_labels/resnet110_c10.parquet"


@pytest.fixture
def mirror(tmp_path):
    """The address of a server of the files in ``tmp_path``/mirror."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def download(checkout, *urls, ok=True):
    config = ("download=True", "logits_dir=my logits", f"mirrors={json.dumps(urls)}")
    environment = {"NO_PROXY": "127.0.0.1"}
    return checkout.run("--config", *config, "--", TARGET, ok=ok, environment=environment)


def test_the_file_comes_from_the_mirrors_of_the_config(fresh, mirror, tmp_path):
    (tmp_path / "mirror" / GENUINE.name).symlink_to(GENUINE)
    said = download(fresh, f"{mirror}/no/{{file}}?a=1&b=2", f"{mirror}/{{file}}")
    assert (fresh / "my logits" / GENUINE.name).read_bytes() == GENUINE.read_bytes()
    assert not (fresh / "my logits" / GENUINE.name).stat().st_mode & 0o222  # protected
    assert (fresh / TARGET).exists()
    assert "100%" in said  # progress


def test_when_no_mirror_has_it_one_line_says_so_and_ends_the_run(fresh, mirror):
    said = download(fresh, f"{mirror}/{{file}}", ok=False)
    [line] = errors(said)  # in the job's output, and as the last line
    assert said.splitlines()[-1] == line
    assert f"{mirror}/{GENUINE.name} answered 404" in line
    assert "by hand, or set download: false to go on without it" in line
    assert not list((fresh / "my logits").glob("*"))
