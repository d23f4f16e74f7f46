"""Estimators of calibration error, one file a family; docs/extend.md shows how to add one."""
