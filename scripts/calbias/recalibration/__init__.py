"""Recalibration methods of a tool's user, which the reproduction of the papers uses too."""
