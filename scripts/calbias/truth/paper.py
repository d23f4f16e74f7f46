"""The paired t-test of §7.1 as printed, and names of choices in table ``t_test_sensitivity``."""

DEBIAS_PERCENT, SWEEP_PERCENT, T_STATISTIC = 0.504, 0.347, 5.10  # mean |bias|, mean |bias|, t
P_VALUE = 1e-5  # printed as p < 1e-5
CONFIGURED = "as_configured"
ONE_SIDED, POPULATION_VARIANCE = "one_sided", "population_variance"
ROUNDING = "rounding_"  # begins the name of a draw of the printed parameters
SAME_MEANS = (CONFIGURED, ONE_SIDED, POPULATION_VARIANCE)
"""Choices with the configured means of |bias|: they change t or p, and never the sign."""
