"""A private Slurm: a controller and some nodes on this host, with simulated GPUs.

Everything is in one folder, including munge's sockets and keys, and ports are free ones. A Slurm of
the host is not touched, and nothing is left running. It needs no systemd, no database and no root.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol")
PATHS = ("/usr/sbin", "/sbin", "/usr/local/sbin")
SECONDS = 120.0  # enough on a busy machine


def missing() -> str:
    """The programs that a Slurm on this host lacks, in a message; empty: none."""
    found = [name for name in PROGRAMS if program(name) is None]
    packages = "slurmctld, slurmd, slurm-client and munge"
    return f"{', '.join(found)} not found: install {packages}" if found else ""


def program(name: str) -> str | None:
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), *PATHS]))


def _version() -> tuple[int, ...]:
    path = program("slurmd")
    assert path
    said = subprocess.run([path, "-V"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"(\d+)\.(\d+)", said)
    assert found, said
    return tuple(map(int, found.groups()))


def wait_for(what: Callable[[], bool], why: str, seconds: float = SECONDS) -> None:
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            raise TimeoutError(f"{why}: not within {seconds:g} s")
        time.sleep(0.1)


def free_ports(count: int) -> list[int]:
    """Free ports. If another program takes one first, a daemon does not answer: the test fails."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


class Slurm:
    """`nodes` maps each node's name to its type of GPU. Each node is a partition; "all" has all."""

    def __init__(self, folder: Path, nodes: dict[str, str]) -> None:
        self.folder, self.nodes = folder, nodes
        self.daemons: dict[str, subprocess.Popen[bytes]] = {}
        self.environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}

    def call(self, *words: str) -> str:
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True)
        return done.stdout

    def _configure(self) -> None:
        host, user = socket.gethostname().split(".")[0], getpass.getuser()
        here, ports = self.folder, free_ports(1 + len(self.nodes))
        lines = [
            "ClusterName=recheck",
            f"SlurmctldHost={host}(127.0.0.1)",
            f"SlurmctldPort={ports[0]}",
            f"SlurmUser={user}",
            f"SlurmdUser={user}",
            f"AuthInfo=socket={here}/munge.socket",
            f"StateSaveLocation={here}/state",
            f"SlurmdSpoolDir={here}/spool-%n",
            f"SlurmctldPidFile={here}/slurmctld.pid",
            f"SlurmdPidFile={here}/slurmd-%n.pid",
            # a container may have no cgroups
            "ProctrackType=proctrack/linuxproc",
            "TaskPlugin=task/none",
            "JobAcctGatherType=jobacct_gather/none",
            "AccountingStorageType=accounting_storage/none",
            "MpiDefault=none",
            "SwitchType=switch/none",
            "SelectType=select/cons_tres",
            "SelectTypeParameters=CR_CPU",
            "GresTypes=gpu",
            # a node with few CPUs must accept the configured number
            "SlurmdParameters=config_overrides",
            "ReturnToService=2",
            "JobRequeue=0",
            "KillWait=5",
            "SchedulerParameters=sched_min_interval=0,batch_sched_delay=0",
        ]
        for (name, gpu), port in zip(self.nodes.items(), ports[1:], strict=True):
            about = f"NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=4"
            lines.append(f"NodeName={name} {about} Gres=gpu:{gpu}:1")
            lines.append(f"PartitionName={name} Nodes={name}")
        lines.append(f"PartitionName=all Nodes={','.join(self.nodes)} Default=YES")
        (here / "slurm.conf").write_text("".join(f"{line}\n" for line in lines))
        if _version() >= (23, 2):
            # a container may have no cgroups; older versions do not need this
            (here / "cgroup.conf").write_text("CgroupPlugin=disabled\n")
        gres = (
            f"NodeName={name} Name=gpu Type={gpu} File=/dev/null\n"
            for name, gpu in self.nodes.items()
        )
        (here / "gres.conf").write_text("".join(gres))
        key = here / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)

    def _start(self, name: str, *words: str) -> None:
        path = program(words[0])
        assert path
        with (self.folder / f"{name}.log").open("wb") as log:
            self.daemons[name] = subprocess.Popen(
                [path, *words[1:]], env=self.environment, stdout=log, stderr=log
            )

    def start(self) -> None:
        self._configure()
        here = self.folder
        places = {
            "key-file": "munge.key",
            "socket": "munge.socket",
            "pid-file": "munge.pid",
            "log-file": "munged.log",
            "seed-file": "munge.seed",
        }
        files = [f"--{option}={here / name}" for option, name in places.items()]
        # --force: it would refuse parent folders that others may write to, such as a temporary one
        self._start("munged", "munged", "--foreground", "--force", *files)
        wait_for((here / "munge.socket").exists, "munged does not listen")
        self._start("slurmctld", "slurmctld", "-D")
        for name in self.nodes:
            self._start(name, "slurmd", "-D", "-N", name)
        wait_for(self._idle, "the nodes are not idle")

    def _idle(self) -> bool:
        for name, daemon in self.daemons.items():
            if daemon.poll() is not None:
                log = (self.folder / f"{name}.log").read_text(errors="replace").strip()
                raise RuntimeError(f"{name} has ended: {log[-500:]}")
        said = self.call("scontrol", "--oneliner", "show", "nodes").splitlines()
        return sum("State=IDLE " in line for line in said) == len(self.nodes)

    def take_down(self, name: str, processes: list[int]) -> None:
        """Simulates a power loss: the node's daemon and its job's processes end silently."""
        self.daemons[name].kill()
        for each in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        self.call("scontrol", "update", f"nodename={name}", "state=down", "reason=power")

    def stop(self) -> None:
        self.call("scancel", "--user", getpass.getuser())
        with contextlib.suppress(TimeoutError):
            wait_for(lambda: not self.call("squeue", "--noheader"), "jobs do not end", 10)
        # munged, which holds the keys, ends last
        for each in reversed(self.daemons.values()):
            each.terminate()
            try:
                each.wait(10)
            except subprocess.TimeoutExpired:
                each.kill()
                each.wait()


@contextlib.contextmanager
def running(folder: Path, nodes: dict[str, str]) -> Iterator[Slurm]:
    found = Slurm(folder, nodes)
    try:
        found.start()
        yield found
    finally:
        found.stop()
