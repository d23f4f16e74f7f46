"""The loss of a binary GLM as a function of its linear predictor (Roelofs et al. 2022, Eq. 10).

With e = 1 for an event and p = g⁻¹(eta), the loss is -Σ [e log p + (1 - e) log(1 - p)]. It is
convex in eta for both links. A logflip link is a log link whose events are the misses.
"""

import numpy as np
from scipy.special import expit, log_expit

from calbias.truth.curves import log1m_exp


def glm_loss(link, eta, event):
    """Return the summed loss in nats; inf outside the model (eta > 0 under the log link).

    ``link`` is ``"logit"`` or ``"log"``, ``eta`` an array of shape (n,), ``event`` bool (n,).
    Exact in both tails: nothing is clipped, and log(1 - e^eta) keeps its digits near eta = 0.
    """
    if link == "logit":
        return float(-log_expit(np.where(event, eta, -eta)).sum())
    if (eta > 0).any():
        return float("inf")
    other = eta[~event]
    if (other == 0).any():
        return float("inf")
    return float(-eta[event].sum() - log1m_exp(other).sum())


def glm_loss_slopes(link, eta, event):
    """Return each row's first derivative in eta and the ROOT of its second, arrays of shape (n,).

    The root, because 1 - e^eta may be as small as 1e-300 and its inverse square overflows.
    """
    if link == "logit":
        p, q = expit(eta), expit(-eta)
        return np.where(event, -q, p), np.sqrt(p * q)
    first, root_of_second = np.full(eta.shape, -1.0), np.zeros(eta.shape)
    with np.errstate(over="ignore", divide="ignore"):
        other = eta[~event]
        first[~event] = 1 / np.expm1(-other)
        root_of_second[~event] = -0.5 / np.sinh(other / 2)
    return first, root_of_second
