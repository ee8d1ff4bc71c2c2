"""Slurm without accounting: ReFrame asks squeue, which knows of a job only that it is gone."""

site_configuration = {
    "systems": [
        {
            "name": "lab",
            "hostnames": ["head"],
            "partitions": [
                {
                    "name": "l40s",
                    "scheduler": "squeue",  # the only difference from a Slurm with accounting
                    "launcher": "local",
                    "access": ["--partition=gpu"],
                    "resources": [
                        {"name": "_rfm_gpu", "options": ["--gres=gpu:l40s:{num_gpus_per_node}"]}
                    ],
                    "time_limit": "1h",
                    "max_jobs": 1,
                    "environs": ["nvcc"],
                    "features": ["gpu"],
                    "devices": [
                        {"type": "gpu", "model": "NVIDIA L40S", "arch": "sm_89", "num_devices": 4}
                    ],
                },
                {
                    # nodes without a GPU: only their CPU rows
                    "name": "cpu",
                    "scheduler": "squeue",
                    "launcher": "local",
                    "access": ["--partition=cpu", "--exclusive"],
                    "time_limit": "2h",
                    "max_jobs": 1,
                    "environs": ["nvcc"],
                    "features": ["cpu"],
                },
            ],
        }
    ],
    "environments": [{"name": "nvcc", "features": ["cuda", "cpu"], "cxx": "g++", "nvcc": "nvcc"}],
}
