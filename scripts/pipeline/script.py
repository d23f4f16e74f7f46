"""The options and the decorator of a script in ``scripts/``."""

import argparse
import resource
import sys

from calbias.errors import InputError
from calbias.io.command_line import command


def option(flag, help, type=str, *, least=None, many=False, named=False, **more):
    """Return an option of a ``script``, required unless it has a ``default``.

    ``least`` is its smallest value, ``many`` says that it takes a list, ``named`` that it is given
    once per NAME=PATH, which makes {name: path}; ``more`` is for argparse.
    """
    if many:
        more["nargs"] = "*" if more.get("default") == [] else "+"
    if named:
        more |= {"action": "append", "default": [], "metavar": "NAME=PATH"}
    default = more.get("default")
    words = [f"at least {least}"] * (least is not None) + [f"default: {default}"] * bool(default)
    help += f" ({', '.join(words)})" if words else ""
    keywords = {"help": help.replace("%", "%%"), "type": type, "required": "default" not in more}
    return flag, least, named, keywords | more


SEED = option("--seed", "seed of all random streams", int, least=0)
NORM = option("--norm", "p of the ℓp error", float, default=2.0)
OUTPUT = option("--output", "table to write")
USED = "used {:.2f} s of CPU and {:.0f} MB"
TABLES = option("--table", "such as bias=results/tables/bias.csv; once per table", named=True)


def script(*options):
    """Decorate a ``main(options)``: it becomes the ``command`` of a file in ``scripts``.

    Its help begins with the docstring of the file. Options stand in one order: inputs, parameters,
    the seed, outputs. InputError for a number below the least. The last line that it prints says
    what it used, for ``pipeline.job_logs``.
    """

    def decorate(main):
        def with_options(argv=None):
            parser = argparse.ArgumentParser(description=main.__globals__["__doc__"])
            for flag, _, _, keywords in options:
                parser.add_argument(flag, **keywords)
            given = parser.parse_args(argv)
            for flag, least, named, keywords in options:
                name = flag[2:].replace("-", "_")
                value = getattr(given, name)
                numbers = value if "nargs" in keywords else [value]
                if least is not None and any(x is not None and x < least for x in numbers):
                    raise InputError(f"{flag} must be at least {least}")
                if named:
                    setattr(given, name, _named_paths(value, flag))
            main(given)
            print(_used(), flush=True)

        with_options.flags = [flag for flag, *_ in options]
        return command(with_options)

    return decorate


def _used():
    own, children = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    seconds = sum(each.ru_utime + each.ru_stime for each in (own, children))
    unit = 1e6 if sys.platform == "darwin" else 1e3  # of ru_maxrss
    peak = max(own.ru_maxrss, children.ru_maxrss) / unit
    return USED.format(seconds, peak)


def _named_paths(assignments, flag):
    pairs = [text.partition("=")[::2] for text in assignments]
    for text, pair in zip(assignments, pairs, strict=True):
        if not all(pair):
            raise InputError(f"{flag} {text}: write it as NAME=PATH")
    return dict(pairs)
