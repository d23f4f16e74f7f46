"""Steps of the networks: a file each, which ``run.py`` calls by its name."""
