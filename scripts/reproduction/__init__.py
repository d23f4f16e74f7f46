"""Roelofs et al. (2022), Guo et al. (2017) and Gupta et al. (2021): summaries, figures, claims."""
