"""What a workflow notes about a run: what changed, the configuration, the versions of its jobs.

It listens to Snakemake's events, as a logger plug-in does, so that a guest workflow needs
no ``onstart`` of its own.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Any

from snakemake.logging import logger

from pipeline import kept_digests
from pipeline.changes import changes_in_words, remember
from pipeline.models import Config
from pipeline.versions import remember_versions


class RunNotes(logging.Handler):
    """Say what changed once the jobs are known; remember the run when its first jobs start."""

    def __init__(self, config: Config, commit: Callable[[], Mapping[str, object]]) -> None:
        super().__init__()
        self._config, self._commit, self._started = config, commit, False

    def emit(self, record: logging.LogRecord) -> None:
        """Take one of Snakemake's events."""
        event: Any = str(getattr(record, "event", None) or "")
        try:
            if event == "run_info" and (line := changes_in_words(self._config)):
                logger.info(line)
            elif event == "job_started" and not self._started:  # never in a dry run
                self._started = True
                remember(self._config)
                remember_versions(self._commit())
        except Exception:  # as every handler of logging does
            self.handleError(record)

    def close(self) -> None:
        """Keep the digests of files: the run has ended."""
        kept_digests.save()
        super().close()
