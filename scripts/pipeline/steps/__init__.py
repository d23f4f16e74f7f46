"""Steps that both houses use: a file each, which ``run.py`` calls by its name; types of options."""

from typing import Annotated, Literal, NamedTuple


class AtLeast(NamedTuple):
    """The smallest number that an option takes: ``Annotated[int, AtLeast(2)]``."""

    least: int


Seed = Annotated[int, AtLeast(0)]
Precision = Literal["exact", "float64", "float32"]
Softmax = Literal["exact", "float32_2020"]
