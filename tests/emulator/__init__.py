"""The CUDA of tests: see cuda_runtime.h; bugs.py tries the suite."""
