"""Download the published logit file of a model, and verify its size and sha256.

The mirrors are tried in order; a broken transfer is resumed. Nothing appears at OUTPUT before the
whole file has been verified.
"""

import argparse
from pathlib import Path

from calbias.io.command_line import command
from calbias.logits.download import download, read_mirrors, validated_mirrors
from calbias.logits.manifest import published_file, read_manifest

RESOURCES = Path(__file__).parents[1] / "resources"


@command
def main(argv=None):
    """Run the command line; ``argv`` defaults to that of the process."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--model", required=True, help="a model of the manifest")
    add(
        "--manifest",
        type=Path,
        default=RESOURCES / "published" / "nn_calibration_logits_manifest.csv",
        help="the published files, CSV",
    )
    add(
        "--mirrors",
        action="append",
        metavar="URL",
        help="URL with {file} in it; repeat for more, tried in order",
    )
    add(
        "--mirrors-file",
        type=Path,
        default=RESOURCES / "logits_mirrors.csv",
        help="CSV with a column url, used without --mirrors",
    )
    add("--attempts", type=int, default=4, help="attempts per mirror (4)")
    add("--backoff", type=float, default=1.0, help="seconds before the second attempt (1)")
    add("--timeout", type=float, default=30.0, help="seconds to wait for a silent mirror (30)")
    add("--output", type=Path, required=True, help="output: the file")
    args = parser.parse_args(argv)

    if args.mirrors:
        mirrors = validated_mirrors("--mirrors", args.mirrors)
    else:
        mirrors = read_mirrors(args.mirrors_file)
    published = published_file(args.model, read_manifest(args.manifest), args.manifest)
    download(published, mirrors, args.output, args.attempts, args.backoff, args.timeout)


if __name__ == "__main__":
    main()
