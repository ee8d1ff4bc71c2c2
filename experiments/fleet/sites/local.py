"""One machine, no scheduler: ReFrame starts the jobs itself, one at a time."""

site_configuration = {
    "systems": [
        {
            "name": "workstation",
            "hostnames": [".*"],  # this machine, whatever its name
            "partitions": [
                {
                    "name": "gpu",
                    "scheduler": "local",
                    "launcher": "local",
                    "max_jobs": 1,  # one GPU, so one job at a time
                    "environs": ["nvcc"],
                    "features": ["gpu"],
                    "devices": [
                        {
                            "type": "gpu",
                            "model": "NVIDIA GeForce RTX 4090",  # as `nvidia-smi -L` prints it
                            "arch": "sm_89",
                            "num_devices": 1,
                        }
                    ],
                    # with several GPUs: a partition for each, which this variable selects
                    "env_vars": [["CUDA_VISIBLE_DEVICES", "0"]],
                }
            ],
        }
    ],
    "environments": [{"name": "nvcc", "features": ["cuda"], "cxx": "g++", "nvcc": "nvcc"}],
}
