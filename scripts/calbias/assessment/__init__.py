"""A model's own scores judged: its estimates with their known bias, and its reliability diagram."""
