# The papers; and where the folder is there, the evidence, which uses them as a module.
from pathlib import Path

BESIDE = Path(str(workflow.current_basedir)) / "evidence/Snakefile"


include: str(BESIDE) if BESIDE.exists() else "workflow/Snakefile"


workflow.default_target = "all"  # the file that includes has the last word
