"""Download the published logit file of a model, and verify its size and sha256.

The mirrors are tried in order; a broken transfer is resumed. Nothing appears at OUTPUT before the
whole file has been verified.
"""

from pathlib import Path

from pipeline.logits.download import download, read_mirrors
from pipeline.logits.options import MANIFEST, MODEL, RESOURCES
from pipeline.manifest import published_file, read_manifest
from pipeline.script import option, script


@script(
    MANIFEST,
    option("--mirrors-file", "CSV with a column url", default=RESOURCES / "logits_mirrors.csv"),
    MODEL,
    option("--mirrors", "URL with {file} in it; once per mirror", action="append", default=None),
    option("--output", "the file", Path),
)
def main(options):
    mirrors = read_mirrors(options.mirrors_file, options.mirrors)
    published = published_file(options.model, read_manifest(options.manifest), options.manifest)
    download(published, mirrors, options.output)


if __name__ == "__main__":
    main()
