"""Numbers of Roelofs et al. (2022): the grids of the experiments, and what the text prints."""

import numpy as np

MODEL_SIZES = tuple(200 * 2**k for k in range(7))  # sample sizes of Figures 4, 6 and 14
HEATMAP_SIZES = MODEL_SIZES[:-1]  # of Figures 2b and 7 to 12
DETECTION_SIZES = (100, 200, 500, 1000, 2000, 5000, 10000, 20000)  # of Figure 5
SWEEP_SIZES = (200, 5000)  # of Figure 13
HEATMAP_BINS = (2, 4, 8, 16, 32, 64)
N_BINS = 15
BINNED = tuple(f"ece_{f}_{s}" for f in ("bin", "debias", "sweep") for s in ("ew", "em"))
HEATMAP_MODELS = ("resnet110_c10", "resnet_wide32_c100", "resnet152_imgnet")
FIG2B_SCENARIOS = ("beta_2.8_0.05_power_2", "beta_1.1_0.1_power_2")
MODELS = (
    *("resnet110_c10", "resnet110_SD_c10", "resnet_wide32_c10", "densenet40_c10"),
    *("resnet110_c100", "resnet110_SD_c100", "resnet_wide32_c100", "densenet40_c100"),
    *("resnet152_imgnet", "densenet161_imgnet"),
)
NORM = 2.0
N_REPLICATES = 1000  # behind every simulated mean
WHOLE_PERCENT = 0.5 / np.sqrt(3)  # standard deviation of what rounds to a printed whole number

# §7.1, the paired t-test
DEBIAS_PERCENT, SWEEP_PERCENT, T_STATISTIC = 0.504, 0.347, 5.10  # mean |bias|, mean |bias|, t
P_VALUE = 1e-5  # printed as p < 1e-5

# §7.2: "to detect a miscalibration of 2%, over 10,000 samples are needed; and if one has under 500
# samples, the miscalibration must be greater than 10%"
DETECTABLE_PERCENT = {10_000: 2.0, 500: 10.0}
TYPE_1_RATE = 0.05

# Appendix C: "with perfectly calibration ECEbin can still be off by 2%" at n = 5000; at n = 200
# "12% could either correspond to 5% or 8% TCE"
OFF_PERCENT = 2.0
AMBIGUOUS_PERCENT, AMBIGUOUS_TCE_PERCENT = 12.0, (8.0, 5.0)

CALIBRATED_BINS = 4  # appendix D: the best number of bins when calibrated is at most this
