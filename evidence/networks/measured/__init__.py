"""What estimators, fits and recalibration do on networks whose true calibration error is known."""
