"""What class-wise estimators estimate, one target a file."""
