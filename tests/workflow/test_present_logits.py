"""A user's logit files are inputs: Snakemake neither downloads them again nor deletes them."""

import os

FILE = "probs_resnet110_c10_logits.p"


def place(checkout, content=b"?" * 685390):
    """Put a file, as large as the published one, where the configuration looks; older than all."""
    folder = checkout / "my_logits"
    folder.mkdir()
    (folder / FILE).write_bytes(content)
    os.utime(folder / FILE, (1, 1))
    return folder / FILE


def test_a_present_file_is_never_planned_for_download(fresh):
    place(fresh)
    jobs = fresh.planned("--config", "download=True", "logits_dir=my_logits")
    assert "read_logits resnet110_c10" in jobs
    assert not [job for job in jobs if job.startswith("download_logits") and FILE in job]


def test_a_refused_file_is_named_in_one_line_and_left_as_it_is(fresh):
    path = place(fresh)
    text = fresh.run("--config", "logits_dir=my_logits", ok=False)
    assert f"error: my_logits/{FILE}" in text
    assert path.read_bytes() == b"?" * 685390
    assert path.stat().st_mtime == 1
