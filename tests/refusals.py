"""Tests that a user's mistakes are refused, each with words that say what is wrong."""

import inspect

import pytest

from calbias.errors import InputError


def refuses(call, *cases):
    """Return a test that ``call`` refuses the arguments of each of the cases.

    A case is (arguments …, message), or ({option: value}, message); the message is a pattern.
    ``call`` may have a parameter ``tmp_path``, which is the fixture.
    """
    fixtures = {"tmp_path"} & set(inspect.signature(call).parameters)

    @pytest.mark.parametrize("case", cases, ids=lambda case: case[-1])
    def test(case, request):
        *arguments, message = case
        options = arguments.pop() if isinstance(arguments[0], dict) else {}
        given = {name: request.getfixturevalue(name) for name in fixtures}
        with pytest.raises(InputError, match=message):
            call(*arguments, **options, **given)

    return test


def refuses_texts(read, name, *cases):
    """Return a test that ``read`` refuses a file of this name with each of the texts, and names it.

    A case is (text or bytes, message).
    """

    @pytest.mark.parametrize("case", cases, ids=lambda case: case[-1])
    def test(case, tmp_path):
        text, message = case
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(InputError, match=message) as error:
            read(path)
        assert str(error.value).startswith(str(path))

    return test
