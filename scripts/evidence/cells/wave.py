"""A calibration curve outside the GLM family: T(c) = c + amplitude·sin(2π·cycles·c).

It crosses the diagonal 2·cycles times, so that no fitted line in the log-odds follows it, a
monotone fit hardly does, and errors of opposite sign lie close together.
"""

from typing import Any, NamedTuple

import numpy as np

from calbias.truth.curves import score


class Wave(NamedTuple):
    """The curve by its amplitude b0, at most 1/(4·cycles), and its cycles b1; like a ``Curve``."""

    name: str = "wave"
    b0: float = 0.03
    b1: int = 6

    def log_hit(self, log_score: np.ndarray, log1m_score: np.ndarray) -> np.ndarray:
        """Return log T."""
        with np.errstate(divide="ignore"):
            return np.log(self._risen(score(log_score, log1m_score)))

    def log_not_hit(self, log_score: np.ndarray, log1m_score: np.ndarray) -> np.ndarray:
        """Return log(1 − T); the sine is odd about 1 too, so that 1 − T is the wave of 1 − c."""
        with np.errstate(divide="ignore"):
            return np.log(self._risen(score(log1m_score, log_score)))

    def hit(self, log_score: np.ndarray, log1m_score: np.ndarray) -> np.ndarray:
        """Return T, a fraction."""
        return self._risen(score(log_score, log1m_score))

    def log_abs_slope(
        self, log_score: np.ndarray, log1m_score: np.ndarray
    ) -> tuple[Any, np.ndarray]:
        """Return (sign, log|dT/dc|)."""
        angle = 2 * np.pi * self.b1
        slope = 1.0 + self.b0 * angle * np.cos(angle * score(log_score, log1m_score))
        with np.errstate(divide="ignore"):
            return np.sign(slope), np.log(np.abs(slope))

    def overshoot(self, log_score: np.ndarray, log1m_score: np.ndarray) -> np.ndarray:
        """Return −1: T is never clipped."""
        return np.full_like(np.asarray(log_score, float), -1.0)

    def _risen(self, c: np.ndarray) -> np.ndarray:
        return np.maximum(c + self.b0 * np.sin(2 * np.pi * self.b1 * c), 0.0)
