"""The certified data sets: rows as decimal texts, and the facts that each one is there for.

A score is the decimal that the file prints, read as an exact fraction. Pseudo-random rows come from
Python's ``random.Random``, whose streams do not change between versions.
"""

import random
import struct
from fractions import Fraction
from typing import NamedTuple


class DataSet(NamedTuple):
    """Rows of a file, texts, with its columns: ``score, hit`` or ``p0, p1, …, label``."""

    name: str
    about: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    n_bins: tuple[int, ...] = (15, 5)


def data_sets() -> list[DataSet]:
    """Return all certified data sets."""
    return [
        _of("tutorial_nine", "the nine samples of the step-by-step article; 5 bins: 47/450",
            "0.78 0.64 0.92 0.58 0.51 0.85 0.70 0.63 0.83", "110101101"),
        _of("tutorial_ten", "the article's five-class example: with 3 bins 0.192, and with 5 bins "
            "four scores lie on edges",
            "0.25 0.5 0.8 0.9 0.4 0.28 0.8 0.75 0.3 0.6", "1101001110", (15, 5, 3)),
        _of("one_row", "one row", "0.7", "1"),
        _of("one_row_at_one", "one row, the score exactly 1, a miss", "1", "0"),
        _of("two_rows", "two rows with one score, a hit and a miss", "0.6 0.6", "10"),
        _of("edges", "every edge of five bins, twice, and of fifteen: which bin owns its edge",
            "0 0.2 0.4 0.6 0.8 1 0 0.2 0.4 0.6 0.8 1 0.6 0.2", "01011010011100"),
        _of("below_edges", "the float64 numbers below the edges of five bins",
            "0.19999999999999998 0.39999999999999997 0.5999999999999999 0.7999999999999999 "
            "0.9999999999999999 0.2 0.4 0.6 0.8 1", "1001101011"),
        _of("zeros_and_ones", "scores of exactly 0 and 1 alone, some of them wrong",
            " ".join(["0"] * 7 + ["1"] * 13), "0010000" + "1111011111101"),
        _of("all_hits", "one class only: every row is a hit",
            "0.55 0.62 0.7 0.71 0.83 0.9 0.97 0.99", "1" * 8),
        _of("all_misses", "one class only: every row is a miss",
            "0.01 0.03 0.1 0.12 0.22 0.4", "0" * 6),
        _verbalised(),
        _of("one_value", "200 equal scores of 0.9 with accuracy 0.8: whole and cut groups differ",
            " ".join(["0.9"] * 200), "11110" * 40),
        _of("groups_at_cuts", "boundaries of equal mass inside groups: nearer to the lower end, to "
            "the upper end, as far from both",
            "0.1 0.5 0.5 0.5 0.5 0.9 0.91 0.91 0.92 0.92 0.92 0.93 0.93 0.93 0.93",
            "010110110101101", (15, 5, 4)),
        _of("equal_means", "groups with one mean hit, 1/3: equal means do not stop a sweep",
            " ".join(["0.05"] + ["0.3"] * 3 + ["0.4"] * 6 + ["0.7"] * 3), "0" + "100" * 4),
        _of("calibrated", "the mean hit of each score is the score: binned errors are 0 with whole "
            "groups and narrow bins",
            " ".join(["0.25"] * 4 + ["0.5"] * 6 + ["0.75"] * 4 + ["1"] * 3 + ["0"] * 2),
            "0100" + "101010" + "1101" + "111" + "00"),
        _of("float32", "scores of a softmax in float32, printed with all their digits",
            " ".join(_float32()), "".join(_hits(_float32(), 32))),
        _of("saturated", "scores within rounding of 1 and of 0",
            "1 1 1 0.9999999999999999 0.9999999999999998 0.999999 0.99999 0.9999 0.999 0.99 0.9 "
            "1e-12 1e-300 0 0.5", "110111101111010"),
        _of("rare_events", "risks of a few percent, three events",
            " ".join(f"0.{r:04d}" for r in range(21, 1221, 30)),
            "".join("1" if i in (11, 26, 38) else "0" for i in range(40))),
        _of("monotone", "no miss above a hit: a sweep that ends at one bin a row",
            "0.1 0.15 0.22 0.31 0.48 0.55 0.61 0.78 0.86 0.93", "0000011111"),
        _random("random_hundred", "a hundred distinct scores of four digits", 100, 4, 1),
        _random("random_two_hundred", "two hundred scores of two digits, in the order of a file: "
                "ties in every order; enough for calib_err", 200, 2, 2),
        _classes("three_classes", "K = 3, one row with a tie for the top label (the first counts)",
                 (("0.5", "0.3", "0.2", 0), ("0.1", "0.7", "0.2", 1), ("0.4", "0.4", "0.2", 1),
                  ("0.2", "0.2", "0.6", 2), ("0.05", "0.15", "0.8", 2), ("0.35", "0.33", "0.32", 0),
                  ("0.6", "0.25", "0.15", 1), ("0.02", "0.97", "0.01", 1), ("0.3", "0.5", "0.2", 2),
                  ("0.8", "0.1", "0.1", 0), ("1", "0", "0", 0), ("0.25", "0.25", "0.5", 2))),
        _classes("label_never_seen", "K = 4, and no row has label 3",
                 (("0.4", "0.3", "0.2", "0.1", 0), ("0.1", "0.6", "0.1", "0.2", 1),
                  ("0.05", "0.05", "0.1", "0.8", 2), ("0.25", "0.3", "0.35", "0.1", 2),
                  ("0.7", "0.1", "0.1", "0.1", 0), ("0.2", "0.2", "0.2", "0.4", 1),
                  ("0.01", "0.9", "0.05", "0.04", 1))),
    ]  # fmt: skip


def top_label(data: DataSet) -> tuple[list[Fraction], list[int]]:
    """Return exact scores and hits; of class probabilities of the first largest one."""
    if data.columns == ("score", "hit"):
        return [Fraction(s) for s, _ in data.rows], [int(y) for _, y in data.rows]
    scores, hits = [], []
    for *cells, label in data.rows:
        p = [Fraction(cell) for cell in cells]
        scores.append(max(p))
        hits.append(int(p.index(max(p)) == int(label)))
    return scores, hits


def _of(
    name: str, about: str, scores: str, hits: str, n_bins: tuple[int, ...] = (15, 5)
) -> DataSet:
    rows = list(zip(scores.split(), hits, strict=True))
    return DataSet(name, about, ("score", "hit"), rows, n_bins)


def _classes(name: str, about: str, rows: tuple[tuple[object, ...], ...]) -> DataSet:
    columns = (*(f"p{k}" for k in range(len(rows[0]) - 1)), "label")
    for *p, _ in rows:
        assert sum(Fraction(str(cell)) for cell in p) == 1
    return DataSet(name, about, columns, [tuple(map(str, row)) for row in rows])


def _hits(scores: list[str], seed: int) -> list[str]:
    generator = random.Random(seed)
    return ["1" if generator.random() < float(score) else "0" for score in scores]


def _verbalised() -> DataSet:
    generator = random.Random(11)
    scores = [f"{generator.choice([0, 1, 3, 5, 6, 7, 7, 8, 8, 8, 9, 9, 9, 10]) / 10:g}"
              for _ in range(60)]  # fmt: skip
    return DataSet("verbalised", "confidences in tenths, as a language model words them",
                   ("score", "hit"), list(zip(scores, _hits(scores, 12), strict=True)))  # fmt: skip


def _random(name: str, about: str, n: int, digits: int, seed: int) -> DataSet:
    generator, scale = random.Random(seed), 10**digits
    if digits > 2:
        numbers = generator.sample(range(1, scale), n)
    else:
        numbers = [generator.randrange(scale // 2, scale + 1) for _ in range(n)]
    scores = [str(number / scale) for number in numbers]
    return DataSet(name, about, ("score", "hit"),
                   list(zip(scores, _hits(scores, seed + 100), strict=True)))  # fmt: skip


def _float32() -> list[str]:
    """Return float32 numbers in (1/3, 1), each as the decimal that equals it."""
    generator, texts = random.Random(3), []
    for _ in range(30):
        [value] = struct.unpack("f", struct.pack("f", 1 - generator.random() ** 3 * 2 / 3))
        texts.append(f"{value:.40f}".rstrip("0"))
    return texts
