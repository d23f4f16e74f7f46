"""Steps of the papers: a file each, which ``run.py`` calls by its name."""
