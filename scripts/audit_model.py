"""Audit one model of the workflow: the page and the numbers that ``calbias audit`` writes."""

import argparse
import contextlib

from calbias.auditing.audit import audit_top_label
from calbias.auditing.page import page
from calbias.io.command_line import command, written_whole
from calbias.logits.read_logits import read_scores
from calbias.logits.top_label_table import read_top_labels


@command
def main(argv=None):
    """Write a model's page and its JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--top-labels", help="the model's top-label table (Parquet)")
    source.add_argument("--scores", help="a file of top-label scores, as for `calbias audit`")
    parser.add_argument("--name", required=True, help="the model's name, for the title")
    parser.add_argument("--fold", default="test", help="fold of the table to judge on (test)")
    parser.add_argument("--seed", type=int, required=True, help="seed of the random streams")
    parser.add_argument("--output-page", required=True, help="page to write (HTML)")
    parser.add_argument("--output-numbers", required=True, help="the same numbers (JSON)")
    options = parser.parse_args(argv)
    if options.scores:
        file = read_scores(options.scores)
        top, source, warnings = file.folds["test"], "real_scores", file.warnings
    else:
        (top, origin), warnings = read_top_labels(options.top_labels, options.fold), ()
        source = origin.source
    found = audit_top_label(top, seed=options.seed)
    found.description["source"] = source
    found.warnings[:0] = [f"{text[:1].upper()}{text[1:]}." for text in warnings]
    print(f"{options.name}: {found.sentence}")
    numbers = options.output_numbers
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(written_whole(x)) for x in (options.output_page, numbers)]
        for file, text in zip(files, (page(found, options.name), found.to_json()), strict=True):
            with open(file, "w", encoding="utf-8") as out:
                out.write(text + "\n")


if __name__ == "__main__":
    main()
