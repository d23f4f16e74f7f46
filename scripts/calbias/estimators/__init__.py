"""Estimators of calibration error, one file a family; README.md shows how to add one."""
