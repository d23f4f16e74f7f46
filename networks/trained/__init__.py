"""Networks trained on generators without end, so that their true calibration error is known."""
