"""Audit one model of the workflow: the page and the numbers that ``calbias audit`` writes."""

import contextlib

from calbias.auditing.audit import audit_top_label
from calbias.auditing.page import page
from calbias.errors import InputError
from calbias.io.command_line import SEED, option, script, written_whole
from calbias.logits.options import FOLD
from calbias.logits.read_logits import read_scores
from calbias.logits.top_label_table import read_top_labels


@script(
    option("--top-labels", "the model's top-label table", default=None),
    option("--scores", "a file of top-label scores, instead of it", default=None),
    option("--name", "the model's name, for the title"),
    FOLD,
    SEED,
    option("--output-page", "page to write (HTML)"),
    option("--output-numbers", "the same numbers, to write (JSON)"),
)
def main(options):
    if bool(options.top_labels) == bool(options.scores):
        raise InputError("give either --top-labels or --scores")
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
