"""Run Snakemake, and the jobs of its runs, in forks of one process that has imported the libraries.

A run starts a second sooner, each of its jobs half a second to one. A request is a command line of
Python, its folder and its environment, and comes with the files to print to; the answer is its
status, none if a signal ended it. The server ends with the session of pytest, which its workers
share it in.
"""

import ast
import atexit
import gc
import os
import shutil
import signal
import socket
import sys

LIBRARIES = (
    *(
        "jinja2",
        "jsonschema",
        "matplotlib.pyplot",
        "matplotlib.backends.backend_pdf",
        "numba",
        "numpy",
        "pandas",
        "pyarrow.parquet",
        "scipy.special",
        "smart_open",
        "snakemake.api",  # before snakemake.storage, which imports it in a circle
        "snakemake.storage",
    ),
    *("scipy.optimize", "scipy.stats", "statsmodels.genmod.generalized_linear_model"),
)
# Stands for Python where a job looks for it: the server runs the steps, Python anything else.
CLIENT = """#!{python} -IS
import os, sys
if not sys.argv[1:] or os.path.basename(sys.argv[1]) != "run.py":
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
sys.path.append({tests!r})
from fork_client import asked
sys.exit(asked({address!r}, sys.argv[1:], os.getcwd(), dict(os.environ), 1, 2))
"""


def serve(address, session):
    """Answer requests at a socket until a process has ended; in a fork, run one and return."""
    from contextlib import suppress
    from importlib import import_module
    from select import select

    from snakemake.cli import get_argument_parser

    get_argument_parser()  # loads the plugins
    for name in LIBRARIES:
        import_module(name)
    draw()
    gc.freeze()  # or each fork copies what its collections touch
    client = os.path.join(os.path.dirname(address), "python")
    with open(client, "w", opener=lambda name, flags: os.open(name, flags, 0o755)) as file:
        file.write(CLIENT.format(python=sys.executable, tests=sys.path[0], address=address))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        print("ready", flush=True)
        while is_alive(session):
            if not select([server], [], [], 1)[0]:
                continue
            connection, _ = server.accept()
            if os.fork() == 0:
                break
            connection.close()
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
        else:
            return shutil.rmtree(os.path.dirname(address))
    size, files, *_ = socket.recv_fds(connection, 4, 2)
    request = connection.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL)
    status = 1

    def leave():
        """End at once: taking Python down costs more than a small job, page by page."""
        sys.stdout.flush()
        sys.stderr.flush()
        os.chdir("/")
        connection.sendall(str(status).encode())
        os._exit(status)

    atexit.register(leave)  # before the run's own, so that it is called after them
    try:
        run(client, files, *ast.literal_eval(request.decode()))
        status = 0
    except SystemExit as stopped:
        status = stopped.code if isinstance(stopped.code, int) else int(stopped.code is not None)
        raise


def draw():
    """Draw a formula once: fonts and grammar are then loaded in every fork."""
    from io import BytesIO

    from matplotlib.figure import Figure

    figure = Figure()
    figure.suptitle("$x$")
    for kind in ("png", "pdf"):
        figure.savefig(BytesIO(), format=kind)


def is_alive(process):
    """Return whether there is a process of this id."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def run(client, files, words, folder, environment, seconds=1200):
    """Run a command line: that of Snakemake, whose jobs find ``client``, or a file of Python."""
    import runpy

    signal.alarm(seconds)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for file, standard in zip([os.open(os.devnull, os.O_RDONLY), *files], range(3), strict=True):
        os.dup2(file, standard)
        os.close(file)
    sys.argv = words
    if os.path.basename(words[0]) == "snakemake":
        from snakemake.cli import main

        sys.executable = client
        main()
    else:
        sys.path[0] = os.path.dirname(words[0])
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
