"""A Slurm cluster of one node, this machine, for as long as the tests need it."""

import getpass
import os
import shutil
import socket
import subprocess
import time

import pytest

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "srun")
CONFIGURATION = """
ClusterName=calbias
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=1,sched_interval=1
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=32 RealMemory=64000 State=UNKNOWN
PartitionName=tests Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """Return why no cluster can be started here, or None."""
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    absent = [name for name in PROGRAMS if shutil.which(name, path=path) is None]
    if absent:
        return f"not installed: {', '.join(absent)} (apt-get install slurm-wlm munge)"
    return None


def free_ports(number):
    """Return port numbers that nothing listens on."""
    sockets = [socket.socket() for _ in range(number)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@pytest.fixture(scope="session")
def slurm(tmp_path_factory):
    """Start munged, slurmctld and slurmd; yield the environment of their clients."""
    reason = missing()
    if reason:
        pytest.skip(f"no Slurm: {reason}")
    folder = tmp_path_factory.mktemp("slurm")
    for name in ("munge", "state", "spool"):
        (folder / name).mkdir(mode=0o700)
    (folder / "munge").chmod(0o711)
    key = folder / "munge/key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    host = socket.gethostname().split(".")[0]
    user = getpass.getuser()
    text = CONFIGURATION.format(folder=folder, host=host, user=user, ports=free_ports(2))
    (folder / "slurm.conf").write_text(text)
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
    paths = os.pathsep.join([str(folder / "bin"), os.environ["PATH"], "/usr/sbin", "/sbin"])
    # the job step plugin takes SLURM_CONF out of srun's environment, where it stands in for /etc
    (folder / "bin").mkdir()
    (folder / "bin/srun").write_text(
        f'#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {shutil.which("srun")} "$@"\n'
    )
    (folder / "bin/srun").chmod(0o755)
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"), "PATH": paths}
    own = [f"--{name}-file={folder}/munge/{name}" for name in ("key", "pid", "log", "seed")]
    commands = [
        ["munged", "--foreground", "--force", f"--socket={folder}/munge/socket", *own],
        ["slurmctld", "-D", "-f", str(folder / "slurm.conf")],
        ["slurmd", "-D", "-f", str(folder / "slurm.conf"), "-N", host],
    ]
    started = []
    try:
        for command in commands:
            with open(folder / f"{command[0]}.out", "w") as log:
                started.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))
            time.sleep(1)
        wait_until_idle(environment, folder)
        yield {name: environment[name] for name in ("SLURM_CONF", "PATH")}
    finally:
        if len(started) == len(commands):
            subprocess.run(["scancel", "--user", user], env=environment, check=False)
            time.sleep(1)
        for daemon in reversed(started):
            daemon.terminate()
        for daemon in started:
            try:
                daemon.wait(15)
            except subprocess.TimeoutExpired:
                daemon.kill()


def wait_until_idle(environment, folder, seconds=60):
    """Wait for the node to be ready; fail with what the daemons said."""
    for _ in range(seconds):
        command = ["sinfo", "--noheader", "--format=%T"]
        state = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False
        )
        if state.stdout.strip() == "idle":
            return
        time.sleep(1)
    said = "\n".join(path.read_text()[-1500:] for path in folder.glob("*.out"))
    pytest.fail(f"the node did not become idle: {state.stdout} {state.stderr}\n{said}")
