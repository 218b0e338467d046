"""What runs on a machine with a GPU: see run.sh."""
