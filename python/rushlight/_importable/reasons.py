"""Why a name is importable without its function: the two lines of the error of a call."""

# word -> (why it is not there, what to do instead)
REASONS = {
    "compiler": (
        "nothing is compiled, Python code runs as it is written",
        "call the function or module itself",
    ),
    "dispatch": (
        "operations are not dispatched to Python one by one",
        "torch.overrides.TorchFunctionMode sees the calls of functions and methods",
    ),
    "fake": (
        "there is no tracing with fake tensors",
        'device="meta" gives tensors with shape and dtype and without memory',
    ),
    "export": (
        "there is no exporter of graphs",
        "torch.save(model.state_dict(), path) keeps the weights, for PyTorch to export",
    ),
    "script": (
        "there is no TorchScript, models run in Python",
        "torch.save(model.state_dict(), path) keeps a model's weights",
    ),
    "graphs": ("there are no CUDA graphs", "run the step without one: the results are the same"),
    "sparse": (
        "sparse tensors are in coordinate form, or compressed by rows or columns",
        "use torch.sparse_coo_tensor, x.to_sparse_csr(), or a dense tensor",
    ),
    "nested": (
        "there are no nested and no masked tensors",
        "use a dense tensor that is padded, and a mask",
    ),
    "quantized": (
        "there are no quantized tensors",
        "float16 and bfloat16 halve the memory of float32",
    ),
    "pipes": (
        "torch has removed the functions of data pipes",
        "use an IterableDataset or a Dataset with a DataLoader",
    ),
    "parallel": (
        "there is no tensor parallelism",
        "use fully_shard, or DistributedDataParallel",
    ),
    "elastic": (
        "a process that fails shows its traceback itself",
        "`rushlight launch` reports the first process that failed",
    ),
    "rpc": (
        "processes do not call functions of each other",
        "use torch.distributed's collectives, or send and recv",
    ),
    "archives": ("files are read and written by Python code", "use torch.load and torch.save"),
    "package": ("there is no torch.package", "use torch.save and ordinary Python packages"),
    "vmap": (
        "torch.func works on tensors, not on levels of an interpreter",
        "use torch.func.vmap, grad and jacrev",
    ),
    "nodes": (
        "the nodes of the graph have no classes of their own",
        "ask type(tensor.grad_fn).__name__",
    ),
    "extensions": (
        "no libraries of compiled code are loaded",
        "torch.library registers operations written in Python",
    ),
    "logs": ("rushlight writes no log of its own", "use Python's module logging"),
    "dtypes": (
        "no tensor has that dtype",
        "float32, float16, bfloat16 and the integers int8 to int64 and uint8 are here",
    ),
    "lazy": ("operations run at once, none waits for a step", "leave the call out"),
    "native": (
        "all operations are of rushlight's own library, none is replaced by one in Python",
        "leave the call out",
    ),
    "sharing": (
        "a tensor travels to another process by copy, or in memory of share_memory_()",
        "send it through a queue of torch.multiprocessing",
    ),
    "stages": (
        "there is no pipeline of stages in several processes",
        "use fully_shard, or DistributedDataParallel",
    ),
    "engines": (
        "torch computes some operations with that library, and rushlight none",
        "nothing has to be switched on or off",
    ),
    "kernels": ("it is a kernel of torch's own", "call the public operation of the same name"),
    "xpu": ("there are no SYCL devices", 'use device="cpu" or "cuda"'),
    "files": (
        "its files are read by torchvision's own reader",
        "use ImageFolder, DatasetFolder or a Dataset of your own",
    ),
}
