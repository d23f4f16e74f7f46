"""What holds in every test."""

import pytest

from calbias.errors import InputError


@pytest.fixture(autouse=True, scope="session")
def every_refusal_is_one_line():
    """A message of several lines fails the test that provokes it."""

    def one_line(self, message):
        assert "\n" not in str(message)
        ValueError.__init__(self, message)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(InputError, "__init__", one_line, raising=False)
        yield
