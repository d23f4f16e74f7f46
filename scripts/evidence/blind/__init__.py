"""The blind set of 2026: who wrote it had not seen how the interval that it judges is computed."""
