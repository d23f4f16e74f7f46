"""Which project files a script needs: itself and, transitively, what it imports of the project.

Snakemake tracks declared inputs only, so each rule declares these. Import statements are found as
text, also those inside functions: parsing took a third of a second at each start of Snakemake.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
SCRIPTS = PACKAGE.parent
PACKAGES = ("calbias", "pipeline", "reproduction", "evidence")
_IMPORT = re.compile(
    r"(?:^|[;:])[ \t]*(?:from\s+((?:calbias|pipeline|reproduction|evidence)[.\w]*)\s+)?import\b"
    r"\s*(\([^)]*\)|[^;\n]*)",
    re.MULTILINE,
)


def code_files(*files: Path | str) -> list[Path]:
    """Return the sorted paths of ``files`` and of every project module that they import."""
    needed, waiting = set(), [Path(file).resolve() for file in files]
    while waiting:
        path = waiting.pop()
        if path not in needed:
            needed.add(path)
            waiting.extend(_imported_files(path))
    return sorted(needed)


@cache
def _imported_files(path: Path) -> set[Path]:
    text, modules = path.read_text(encoding="utf-8", errors="replace"), set()
    for package, names in _IMPORT.findall(re.sub(r"#.*|\\\n", "", text)):
        names = re.findall(r"[.\w]+", names)
        modules.update([package, *(f"{package}.{name}" for name in names)] if package else names)
    if path.is_relative_to(SCRIPTS):  # its packages' files run before it
        modules.add(".".join(path.relative_to(SCRIPTS).parts[:-1]))
    return {file for module in modules for file in _files(module)}


@cache
def _files(module: str) -> Sequence[Path]:
    """Return the files that importing ``calbias.x.y`` runs: the packages' and the module's own."""
    parts = module.split(".")
    if parts[0] not in PACKAGES:
        return ()
    files = [SCRIPTS.joinpath(*parts[:k], "__init__.py") for k in range(1, len(parts) + 1)]
    files.append(SCRIPTS.joinpath(*parts).with_suffix(".py"))
    return [file for file in files if file.exists()]
