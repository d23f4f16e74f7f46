"""Run Snakemake in forks of one process that has imported it: each run starts a second sooner.

Reads a line of JSON for each run, [arguments, folder, environment, log, seconds], and prints its
status, negative if a signal ended it.
"""

import json
import os
import signal
import sys

from snakemake.cli import get_argument_parser, main

get_argument_parser()  # loads the plugins

for line in sys.stdin:
    sys.argv, folder, environment, log, seconds = json.loads(line)
    pid = os.fork()
    if pid == 0:
        signal.alarm(seconds)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        os.dup2(1, 2)
        main()
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
