from pathlib import Path

from pipeline.logits.download import download, read_mirrors
from pipeline.manifest import published_file, read_manifest


def download_logits(
    *,
    manifest: Path,
    mirrors_file: Path,
    model: str,
    mirrors: list[str],
    output: Path,
) -> None:
    """Download the published logit file of a model, and verify its size and sha256.

    The mirrors are tried in order; a broken transfer is resumed. Nothing appears at OUTPUT before
    the whole file has been verified.

    manifest: the published files (CSV)
    mirrors_file: CSV with a column url
    model: the model's name
    mirrors: URLs with {file} in them, instead
    output: the file
    """
    urls = read_mirrors(mirrors_file, mirrors)
    published = published_file(model, read_manifest(manifest), manifest)
    download(published, urls, output)
