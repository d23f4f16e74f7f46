"""Recalibration methods of Guo et al. (2017), Gupta et al. (2021) and the papers beside them."""

PAPERS_METHODS = (
    *("uncalibrated", "histogram_binning", "isotonic_regression", "bbq", "temperature_scaling"),
    *("vector_scaling", "matrix_scaling", "ms_odir", "dir_odir", "spline", "spline_as_written"),
)
"""The methods of the two papers, in the order of the tables."""
ON_HALF = "spline_on_half"
"""Of scores alone: the spline, fitted to one half of the rows and judged on the other."""
