"""The generator of the certified data sets: exact arithmetic, no code of calbias's estimators."""
