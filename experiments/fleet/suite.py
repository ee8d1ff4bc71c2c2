"""ReFrame's tests: build Recheck for a partition's GPUs, and measure on one of them.

One job measures all experiments: a record comes from one process on one GPU, with its own ceilings
and self-audit, and is never combined from several. README.md says what a site has to configure.
"""

import os
import re
import shlex
import subprocess
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import fixture, run_after, sanity_function, variable
from reframe.core.exceptions import SanityError

TREE = Path(__file__).resolve().parents[2]
MEASURED, NODE = "measured", "node"  # job.sh writes the record's folder, and the host's name
FLEET = Path(os.environ["RECHECK_FLEET"])  # from settings.py


class Misconfigured(rfm.core.exceptions.ReframeError):
    """The site configuration is invalid; str() says what to do."""


def gpu_of(partition):
    """The model and architecture of a partition's GPUs; empty if it has the feature cpu."""
    devices = partition.select_devices("gpu")
    models = sorted({each.info.get("model") or "" for each in devices})
    name = partition.fullname
    if "gpu" not in partition.features:
        return "", ""
    if not devices:
        what = "has the feature gpu, and no device of type gpu"
        raise Misconfigured(f"partition {name} {what}: name its devices, or drop the feature")
    if len(models) > 1:
        what = f"has GPUs of {len(models)} models ({', '.join(models)})"
        raise Misconfigured(f"partition {name} {what}: make a partition of each")
    arch = devices[0].info.get("arch") or ""
    if not models[0] or not re.fullmatch(r"sm_\d+", arch):
        what = "needs its GPU's model, as nvidia-smi -L prints it, and arch, such as sm_90"
        raise Misconfigured(f"partition {name} {what}")
    return models[0], arch


class Build(rfm.CompileOnlyRegressionTest):
    """The program `recheck` for a partition's GPUs, or the one that the environment provides."""

    descr = "Recheck, built for this partition's GPUs"
    sourcesdir = None
    build_system = "CMake"

    @run_after("setup")
    def configure(self):
        model, arch = gpu_of(self.current_partition)
        self.program = self.current_environ.extras.get("recheck")
        if self.program:
            if not os.access(self.program, os.X_OK):
                what = f"brings {self.program}, which is not a program"
                raise Misconfigured(f"environment {self.current_environ.name} {what}")
            self.build_system = "CustomBuild"
            self.build_system.commands = [f"{self.program} --version"]
            return
        # kept from run to run, so that a second one compiles what has changed
        place = f"{self.current_partition.fullname}-{self.current_environ.name}".replace(":", "-")
        folder = FLEET / "build" / place
        options = ["-G Ninja", "-DCMAKE_BUILD_TYPE=Release"]
        if model:
            # Hopper's own instructions exist only in code for 90a
            number = re.sub(r"^90$", "90a", arch.removeprefix("sm_"))
            options.append(f"-DCMAKE_CUDA_ARCHITECTURES={number}-real")
        else:
            options.append("-DCMAKE_CUDA_COMPILER=OFF")
        self.build_system.configuredir = str(TREE)
        self.build_system.builddir = str(folder)
        self.build_system.config_opts = options
        self.build_system.build_opts = ["recheck"]
        self.build_system.max_concurrency = os.cpu_count()
        self.program = str(folder / "experiments" / "recheck")

    @sanity_function
    def is_built(self):
        return sn.assert_true(os.access(self.program, os.X_OK), f"no {self.program}")


@rfm.simple_test
class Measure(rfm.RunOnlyRegressionTest):
    """A record of one GPU of a partition. ReFrame's --distribute makes it one record per node."""

    descr = "a record of one GPU"
    valid_systems = ["+gpu", "+cpu"]
    valid_prog_environs = ["+cuda", "+cpu"]
    sourcesdir = None
    build = fixture(Build, scope="environment")
    flags = variable(str, value="")  # for recheck: -S Measure.flags="--budget=5min --per-case=0.5"
    gpu_model = variable(str, value="", loggable=True)
    node = variable(str, value="", loggable=True)
    keep_files = [MEASURED, NODE]

    @run_after("setup")
    def ask(self):
        self.gpu_model, _ = gpu_of(self.current_partition)
        if self.gpu_model:
            self.num_gpus_per_node = 1
        self.executable = str(Path(__file__).resolve().with_name("job.sh"))
        words = map(shlex.quote, shlex.split(self.flags))  # the job's script is a shell's
        self.executable_opts = [self.build.program, *words]

    @sanity_function
    def is_whole(self):
        place = Path(self.stagedir, NODE)
        self.node = place.read_text().strip() if place.is_file() else ""
        record = Path(self.stagedir, MEASURED, "record.json")
        # `recheck-report fleet` reads it, and has the details
        if not record.is_file() or not re.search(r'"finished": *"', record.read_text()):
            raise SanityError("; ".join(["no whole record", *self.circumstances()]))
        return True

    def circumstances(self):
        """What else is known about a job that left no whole record."""
        if self.current_partition.scheduler.registered_name in ("slurm", "squeue"):
            # Slurm forgets a job after some minutes
            words = ["scontrol", "--oneliner", "show", "job", self.job.jobid]
            said = subprocess.run(words, capture_output=True, text=True, check=False).stdout
            state = re.search(r"JobState=(\w+) Reason=(\S+)", said)
            if state and state[1] != "COMPLETED":
                yield f"Slurm says {state[1]}" + f" ({state[2]})" * (state[2] != "None")
        if not Path(self.stagedir, MEASURED).is_dir():
            text = Path(self.stagedir, self.stderr.evaluate()).read_text(errors="replace")
            if text.strip():
                yield f"its last line: {text.strip().splitlines()[-1]}"
