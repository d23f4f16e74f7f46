"""Hypothesis draws the same examples every time, whatever the machine's speed."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "calbias",
    deadline=None,  # the first example may compile a kernel
    derandomize=True,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("calbias")
