"""Biases of debias and sweep by the expansion and by simulation (``networks/law``)."""
