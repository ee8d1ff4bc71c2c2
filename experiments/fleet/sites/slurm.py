"""Slurm. ReFrame asks sacct how a job ended; squeue only knows that a job is gone."""

ENVIRONS = ["cuda-13"]


def partition(name, model, arch, gpus):
    """A partition of one GPU model: a job of one GPU each, and one job at a time."""
    return {
        "name": name,
        "scheduler": "slurm",  # "squeue" if the Slurm has no accounting
        "launcher": "local",  # the job's script starts recheck itself
        # sbatch's options here. A whole node measures best: no other job shares its power
        "access": ["--partition=gpu", "--account=project", "--exclusive"],
        "resources": [
            {"name": "_rfm_gpu", "options": [f"--gres=gpu:{name}:{{num_gpus_per_node}}"]}
        ],
        "time_limit": "1h",
        "max_jobs": 1,
        "environs": ENVIRONS,
        "features": ["gpu"],
        "devices": [{"type": "gpu", "model": model, "arch": arch, "num_devices": gpus}],
    }


site_configuration = {
    "systems": [
        {
            "name": "cluster",
            "hostnames": [r"login\d+"],
            "partitions": [
                partition("h200", "NVIDIA H200", "sm_90", 8),
                partition("a100", "NVIDIA A100-SXM4-80GB", "sm_80", 4),
            ],
        }
    ],
    "environments": [
        {
            "name": "cuda-13",
            # commands to run before each build and each job
            "prepare_cmds": ["module load gcc/13 cuda/13.0 cmake ninja"],
            "features": ["cuda"],
            "cxx": "g++",
            "nvcc": "nvcc",
        }
    ],
}
