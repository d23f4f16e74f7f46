"""What class-wise estimators estimate."""
