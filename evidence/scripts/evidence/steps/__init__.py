"""Steps of the evidence: a file each, which ``run.py`` calls by its name."""
