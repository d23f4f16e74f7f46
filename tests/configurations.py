"""Small configurations, completed as a run completes its own, or refused."""

import pytest

from calbias.errors import InputError
from pipeline import config as configuration
from pipeline.guests import MAIN

SCHEMA = configuration.read_schema(MAIN)
EXPERIMENT = {"scores": [[1, 1]], "powers": [2], "n_samples": [100]}


def complete(**changes):
    """Return the least configuration with these keys, and the defaults of the others."""
    config = {"seed": 1, "models": "config/models.csv", "estimators": ["kde"], "experiments": {}}
    return configuration.complete_config({**config, **changes}, SCHEMA)


def refused(message, **changes):
    """Check that the least configuration with these keys is refused with the message."""
    with pytest.raises(InputError) as error:
        complete(**changes)
    assert message in str(error.value)
