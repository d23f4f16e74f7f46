"""Recalibration methods, one file each, and their selection by a measure of calibration error."""
