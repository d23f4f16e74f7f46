"""Dates from the future are set back in their order."""

import os
import time

import pytest

from calbias.pipeline import results_folder


def test_results_from_the_future_are_dated_back_in_their_order(tmp_path):
    now = time.time()
    for name, then in (("past", -50), ("first", 5000), ("second", 6000)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (now, now + then))
    (tmp_path / "gone").symlink_to("nowhere")  # as a file that vanishes while it is looked at
    assert results_folder.date_back(tmp_path) == 2
    first, second, past = ((tmp_path / n).stat().st_mtime for n in ("first", "second", "past"))
    assert first == pytest.approx(second - 1000, abs=1)
    assert second < past == pytest.approx(now - 50, abs=1)
