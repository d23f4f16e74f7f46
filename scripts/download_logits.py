"""Download the published logit file of a model, and verify its size and sha256.

The mirrors are tried in order; a broken transfer is resumed. Nothing appears at OUTPUT before the
whole file has been verified.
"""

from pathlib import Path

from calbias.io.command_line import option, script
from calbias.logits.download import download, read_mirrors, validated_mirrors
from calbias.logits.manifest import published_file, read_manifest
from calbias.logits.options import MANIFEST, MODEL, RESOURCES


@script(
    MANIFEST,
    option("--mirrors-file", "CSV with a column url", default=RESOURCES / "logits_mirrors.csv"),
    MODEL,
    option("--mirrors", "URL with {file} in it; once per mirror", action="append", default=None),
    option("--attempts", "attempts per mirror", int, default=4),
    option("--backoff", "seconds before the second attempt", float, default=1.0),
    option("--timeout", "seconds to wait for a silent mirror", float, default=30.0),
    option("--output", "the file", Path),
)
def main(options):
    if options.mirrors:
        mirrors = validated_mirrors("--mirrors", options.mirrors)
    else:
        mirrors = read_mirrors(options.mirrors_file)
    published = published_file(options.model, read_manifest(options.manifest), options.manifest)
    download(published, mirrors, options.output, options.attempts, options.backoff, options.timeout)


if __name__ == "__main__":
    main()
