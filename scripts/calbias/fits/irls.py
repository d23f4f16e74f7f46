"""The GLM fit by statsmodels: iteratively reweighted least squares, without its claims.

statsmodels clips probabilities at 2.2e-16 from 0 and 1 and, under a log link, may step outside
the model; so what it returns is a proposal, which ``calbias.fits.newton`` certifies or corrects.
"""

import warnings

import numpy as np

# Only these two: ``statsmodels.api`` takes half a second more to import.
from statsmodels.genmod.families import Binomial, links
from statsmodels.genmod.generalized_linear_model import GLM


def irls(design):
    """Return the coordinates x (k,) that statsmodels finds for a Design of one set; NaN if none."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # the certificate decides, not these
        link = links.Logit() if design.link == "logit" else links.Log()
        model = GLM(design.events[0], design.matrix, family=Binomial(link=link))
        try:
            return model.fit(start_params=design.start, maxiter=100, tol=1e-10).params
        except (ValueError, np.linalg.LinAlgError):  # weights or predictors overflowed
            return np.full(design.matrix.shape[1], np.nan)
