"""Recalibration methods of Guo et al. (2017), Gupta et al. (2021) and the papers beside them."""
