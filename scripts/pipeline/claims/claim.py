"""A claim of a source: its place, its words, and the rule that judges it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from calbias.errors import InputError
from pipeline import paper
from pipeline.claims import verdicts
from pipeline.claims.run_tables import RunTables
from pipeline.claims.verdicts import Ruling

Rule = Callable[[RunTables], Ruling]


class Claim(NamedTuple):
    """A claim of a source, and the rule that decides it.

    ``where`` is its place, ``says`` its statement, ``published`` the printed numbers in words;
    ``figures`` and ``tables`` are what it rests on, several names joined by spaces; ``rule`` says
    how ``judge`` decides and ``uncertainty`` what its errors are. A ``theorem`` holds by a proof:
    its rule checks the code, and pages count it apart from findings. Where the data of
    ``experiment`` come from is the source of a ruling that names none. ``stated_by`` names who
    states the claim where it is not the paper of its id: a paper that is cited, or NOBODY.
    """

    id: str
    where: str
    says: str
    published: str
    rule: str
    uncertainty: str
    tables: str
    figures: str
    needs_real_logits: bool
    judge: Rule
    theorem: bool = False
    experiment: str = ""
    stated_by: str = ""


def claim(
    id: str,
    where: str,
    tables: str,
    figures: str = "",
    *,
    real: bool = False,
    theorem: bool = False,
    experiment: str = "",
    stated_by: str = "",
    **words: str,
) -> Callable[[Rule], Claim]:
    """Make a Claim of the function below, which reads tables and returns a Ruling.

    The function's docstring has its words: what the source says, then the lines ``published: …``,
    ``rule: …`` and ``errors: …`` (what the uncertainty is). ``{NAME:g}`` there is a constant of the
    function's module, of ``pipeline.claims.verdicts`` or of ``pipeline.paper``. ``words`` are
    these texts for a function without a docstring. ``real``: the claim needs the real logits.
    ``theorem``, ``experiment`` and ``stated_by`` are those of a Claim.
    """

    def make(judge: Rule) -> Claim:
        stated = words or words_of(judge, id)
        for name in _WORDS:
            if not stated.get(name):
                raise InputError(f"claim {id}: missing in its docstring, or as argument: {name!r}")
        says, published, rule, errors = (stated[name] for name in _WORDS)
        return Claim(
            id, where, says, published, rule, errors, tables, figures, real, judge, theorem,
            experiment, stated_by,
        )  # fmt: skip

    return make


_WORDS = ("says", "published", "rule", "errors")


def words_of(
    judge: Callable[..., Ruling], id: str, shared: Mapping[str, object] | None = None
) -> dict[str, str]:
    """Return the words that the docstring of a claim's rule has, its constants filled in.

    ``shared`` are further constants.
    """
    says, *parts = re.split(r"^ *(published|rule|errors): ", judge.__doc__ or "", flags=re.M)
    texts = {
        "says": says.strip().removesuffix("."),
        **dict(zip(parts[::2], parts[1::2], strict=True)),
    }
    constants = {**vars(paper), **vars(verdicts), **(shared or {}), **judge.__globals__}
    try:
        filled = {name: " ".join(x.format_map(constants).split()) for name, x in texts.items()}
        return {name: x for name, x in filled.items() if x}
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(
            f"claim {id}: its docstring has a constant it cannot fill in: {error}"
        ) from error
