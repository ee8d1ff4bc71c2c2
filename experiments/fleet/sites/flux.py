"""Flux. ReFrame 4.10 has a scheduler of this name, and it asks for no GPU whatever a site says. So
the job's script runs here, and in it `flux run` waits for a GPU and runs recheck there."""

from reframe.core.backends import register_launcher
from reframe.core.launchers import JobLauncher


@register_launcher("flux_run")
class FluxRun(JobLauncher):
    def command(self, job):
        return ["flux", "run", "--nodes=1", "--ntasks=1", "--gpus-per-task=1", *job.sched_access]


site_configuration = {
    "systems": [
        {
            "name": "lab",
            "hostnames": [".*"],
            "partitions": [
                {
                    "name": "h100",
                    "scheduler": "local",
                    "launcher": "flux_run",
                    "access": ["--queue=h100", "--time-limit=1h"],
                    "max_jobs": 1,
                    "environs": ["built"],
                    "features": ["gpu"],
                    "devices": [
                        {
                            "type": "gpu",
                            "model": "NVIDIA H100 80GB HBM3",
                            "arch": "sm_90",
                            "num_devices": 4,
                        }
                    ],
                }
            ],
        }
    ],
    # a program that is built already, here or in a container: nothing is compiled
    "environments": [
        {"name": "built", "features": ["cuda"], "extras": {"recheck": "/opt/recheck/bin/recheck"}}
    ],
}
