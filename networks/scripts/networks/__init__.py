"""The papers' statements, judged on trained networks whose true calibration error is known."""
