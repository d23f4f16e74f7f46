"""``calbias.estimate`` with the estimators of the league."""

from functools import partial

from calbias.estimation.api import estimate as of_calbias
from pipeline.estimators import FOLDERS

estimate = partial(of_calbias, estimator_dir=FOLDERS[1])
