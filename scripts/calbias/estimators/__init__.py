"""Estimators of calibration error, one file a family; docs/workflow/extend.md adds one."""
