"""Figures of the networks; ``pipeline.catalogue`` lists them."""
