"""Tensors, dtypes and devices that cannot be made."""

from tests.errors.wrong import Wrong

ROWS = [
    Wrong(
        "torch.tensor([[1, 2], [3]])", ValueError, "expected sequence of length 2 at dim 1 (got 1)"
    ),
    Wrong('torch.tensor("a")', TypeError, "new(): invalid data type 'str'"),
    Wrong('torch.tensor(["a"])', ValueError, "too many dimensions 'str'"),
    Wrong("torch.tensor([1, None])", RuntimeError, "Could not infer dtype of NoneType"),
    Wrong(
        "torch.ones(-1)",
        RuntimeError,
        "Trying to create tensor with negative dimension -1: [-1]",
    ),
    Wrong(
        "torch.zeros(2.5)",
        TypeError,
        "zeros(): argument 'size' (position 1) must be tuple of ints, not float",
    ),
    Wrong(
        'torch.zeros("a")',
        TypeError,
        "zeros(): argument 'size' (position 1) must be tuple of ints, not str",
    ),
    Wrong("torch.arange(0, 3, 0)", RuntimeError, "step must be nonzero"),
    Wrong(
        "torch.arange(0, 3, -1)",
        RuntimeError,
        "upper bound and lower bound inconsistent with step sign",
    ),
    Wrong(
        "torch.randint(3, 3, (2,))",
        RuntimeError,
        "random_ expects 'from' to be less than 'to', but got from=3 >= to=3",
    ),
    Wrong("torch.eye(-1)", RuntimeError, "n must be greater or equal to 0, got -1"),
    Wrong(
        "torch.empty(1 << 40, 1 << 40)",
        RuntimeError,
        "Storage size calculation overflowed with sizes=[1099511627776, 1099511627776]",
    ),
    Wrong(
        'torch.ones(3, dtype="float32")',
        TypeError,
        "ones(): argument 'dtype' must be torch.dtype, not str",
    ),
    Wrong('torch.ones(3).to("float32")', RuntimeError, "Invalid device string: 'float32'"),
    Wrong("torch.tensor([1, 2]) % torch.tensor([0, 1])", RuntimeError, "ZeroDivisionError"),
    Wrong(
        "torch.tensor([1, 2]).add_(0.5)",
        RuntimeError,
        "result type Float can't be cast to the desired output type Long",
    ),
    Wrong(
        "torch.tensor([1, 2]).mean()",
        RuntimeError,
        (
            "mean(): could not infer output dtype. Input dtype must be either a floating "
            "point or complex dtype. Got: Long"
        ),
    ),
    Wrong(
        'torch.device("gpu")',
        RuntimeError,
        (
            "Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, "
            "ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, mtia, privateuseone "
            "device type at start of device string: gpu"
        ),
    ),
    Wrong('torch.device("cuda:x")', RuntimeError, "Invalid device string: 'cuda:x'"),
    Wrong('torch.device("cpu", -2)', RuntimeError, "Device index must not be negative"),
    Wrong('torch.ones(2).to("cuda0")', RuntimeError, "Invalid device string: 'cuda0'"),
    Wrong('torch.manual_seed("a")', ValueError, "invalid literal for int() with base 10: 'a'"),
    Wrong(
        'torch.FloatTensor(2, 3, device="cuda")',
        RuntimeError,
        "legacy constructor expects device type: cpu but device type: cuda was passed",
    ),
    Wrong("torch.from_numpy([1, 2])", TypeError, "expected np.ndarray (got list)"),
    Wrong('torch.ones(2).type("torch.Float")', ValueError, "invalid type: 'torch.Float'"),
    Wrong(
        'torch.full((2,), "a")',
        TypeError,
        "full(): argument 'fill_value' (position 2) must be Number, not str",
    ),
    Wrong(
        "torch.set_default_dtype(torch.int64)",
        TypeError,
        "only floating-point types are supported as the default type",
    ),
]
