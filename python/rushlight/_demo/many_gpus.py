# CUDA_VISIBLE_DEVICES is read when CUDA is first used: here the program hides all but two GPUs.
import os
import subprocess

os.environ["CUDA_VISIBLE_DEVICES"] = "1,0"
import torch

print("visible GPUs:", torch.cuda.device_count())
kept = torch.zeros(64 << 20, device="cuda:0")  # the physical GPU 1
print(f"cuda:0 holds {torch.cuda.memory_allocated(0) >> 20} MiB")
query = ["nvidia-smi", "--query-gpu=index,name,memory.free", "--format=csv"]
print(subprocess.run(query, capture_output=True, text=True, check=True).stdout, end="")
try:
    torch.zeros(1 << 40, device="cuda:0")
except torch.cuda.OutOfMemoryError as error:
    print("OutOfMemoryError:", str(error).splitlines()[0])
