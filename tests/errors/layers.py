"""Layers, losses and state dicts."""

from tests.errors.wrong import Wrong

ROWS = [
    Wrong(
        "nn.Linear(5, 2)(torch.ones(3, 4))",
        RuntimeError,
        "mat1 and mat2 shapes cannot be multiplied (3x4 and 5x2)",
    ),
    Wrong(
        "nn.Linear(5, 2)(torch.ones(3, 5).long())",
        RuntimeError,
        "mat1 and mat2 must have the same dtype, but got Long and Float",
    ),
    Wrong(
        "nn.Linear(5, 2)(torch.ones(3, 5).double())",
        RuntimeError,
        "mat1 and mat2 must have the same dtype, but got Double and Float",
    ),
    Wrong(
        "nn.Linear(5, 2)([1.0, 2.0, 3.0, 4.0, 5.0])",
        TypeError,
        "linear(): argument 'input' (position 1) must be Tensor, not list",
    ),
    Wrong(
        "nn.Conv2d(3, 8, 3)(torch.ones(1, 1, 8, 8))",
        RuntimeError,
        (
            "Given groups=1, weight of size [8, 3, 3, 3], expected input[1, 1, 8, 8] to "
            "have 3 channels, but got 1 channels instead"
        ),
    ),
    Wrong(
        "nn.Conv2d(3, 8, 3)(torch.ones(8, 8))",
        RuntimeError,
        "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [8, 8]",
    ),
    Wrong(
        "nn.Conv2d(3, 8, 3)(torch.ones(1, 3, 2, 2))",
        RuntimeError,
        (
            "Calculated padded input size per channel: (2 x 2). Kernel size: (3 x 3). "
            "Kernel size can't be greater than actual input size"
        ),
    ),
    Wrong(
        "nn.Conv2d(3, 8, 3)(torch.ones(1, 3, 8, 8).long())",
        RuntimeError,
        "Input type (long int) and bias type (float) should be the same",
    ),
    Wrong("nn.Conv2d(3, 8, 3, groups=2)", ValueError, "in_channels must be divisible by groups"),
    Wrong(
        "nn.MaxPool2d(3)(torch.ones(1, 1, 2, 2))",
        RuntimeError,
        "Given input size: (1x2x2). Calculated output size: (1x0x0). Output size is too small",
    ),
    Wrong(
        "F.max_pool2d(torch.ones(1, 1, 4, 4), 2, padding=2)",
        RuntimeError,
        (
            "pad should be at most half of effective kernel size, but got pad=2, "
            "kernel_size=2 and dilation=1"
        ),
    ),
    Wrong("nn.BatchNorm2d(3)(torch.ones(2, 3, 4))", ValueError, "expected 4D input (got 3D input)"),
    Wrong(
        "nn.BatchNorm2d(3)(torch.ones(2, 4, 4, 4))",
        RuntimeError,
        "running_mean should contain 4 elements not 3",
    ),
    Wrong(
        "nn.BatchNorm1d(4)(torch.ones(1, 4))",
        ValueError,
        "Expected more than 1 value per channel when training, got input size torch.Size([1, 4])",
    ),
    Wrong(
        "nn.LayerNorm(4)(torch.ones(2, 3))",
        RuntimeError,
        "Given normalized_shape=[4], expected input with shape [*, 4], but got input of size[2, 3]",
    ),
    Wrong("nn.Embedding(10, 3)(torch.tensor([3, 10]))", IndexError, "index out of range in self"),
    Wrong(
        "nn.Embedding(10, 3)(torch.tensor([0.5]))",
        RuntimeError,
        (
            "Expected tensor for argument #1 'indices' to have one of the following "
            "scalar types: Long, Int; but got torch.FloatTensor instead (while checking "
            "arguments for embedding)"
        ),
    ),
    Wrong(
        "nn.Dropout(2.0)", ValueError, "dropout probability has to be between 0 and 1, but got 2.0"
    ),
    Wrong("nn.Sequential(lambda x: x)", TypeError, "<lambda> is not a Module subclass"),
    Wrong("nn.Linear(2, 2).wieght", AttributeError, "'Linear' object has no attribute 'wieght'"),
    Wrong(
        "nn.Module()(torch.ones(1))",
        NotImplementedError,
        'Module [Module] is missing the required "forward" function',
    ),
    Wrong(
        'nn.Linear(2, 2).load_state_dict({"weight": torch.ones(2, 2)})',
        RuntimeError,
        "Error(s) in loading state_dict for Linear:",
        'Missing key(s) in state_dict: "bias".',
    ),
    Wrong(
        'nn.Linear(2, 2).load_state_dict({"weight": torch.ones(3, 2), "bias": torch.ones(2)})',
        RuntimeError,
        "Error(s) in loading state_dict for Linear:",
        (
            "size mismatch for weight: copying a param with shape torch.Size([3, 2]) "
            "from checkpoint, the shape in current model is torch.Size([2, 2])."
        ),
    ),
    Wrong(
        (
            'nn.Linear(2, 2).load_state_dict({"module.weight": torch.ones(2, 2), '
            '"module.bias": torch.ones(2)})'
        ),
        RuntimeError,
        "Error(s) in loading state_dict for Linear:",
        'Missing key(s) in state_dict: "weight", "bias".',
        'Unexpected key(s) in state_dict: "module.weight", "module.bias".',
    ),
    Wrong("nn.ModuleList([3])", TypeError, "int is not a Module subclass"),
    Wrong(
        "F.cross_entropy(torch.ones(3, 4), torch.tensor([0, 1]))",
        ValueError,
        "Expected input batch_size (3) to match target batch_size (2).",
    ),
    Wrong(
        "F.cross_entropy(torch.ones(2, 4), torch.tensor([0, 4]))",
        IndexError,
        "Target 4 is out of bounds.",
    ),
    Wrong(
        "F.cross_entropy(torch.ones(2, 4), torch.ones(2))",
        RuntimeError,
        "expected target dtype to be Long or Byte, but got Float",
    ),
    Wrong(
        "F.cross_entropy(torch.ones(2, 4), torch.ones(2, 1).long())",
        RuntimeError,
        "0D or 1D target tensor expected, multi-target not supported",
    ),
    Wrong(
        "F.cross_entropy(torch.ones(2, 4), torch.tensor([0, 1]), weight=torch.ones(3))",
        RuntimeError,
        (
            "weight tensor should be defined either for all 4 classes or no classes but "
            "got weight tensor of shape: [3]"
        ),
    ),
    Wrong(
        "F.nll_loss(torch.ones(2, 4), torch.tensor([0, -1]))",
        IndexError,
        "Target -1 is out of bounds.",
    ),
    Wrong(
        "F.binary_cross_entropy(torch.tensor([1.5]), torch.tensor([1.0]))",
        RuntimeError,
        "all elements of input should be between 0 and 1",
    ),
    Wrong(
        "F.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([2.0]))",
        RuntimeError,
        "all elements of target should be between 0 and 1",
    ),
    Wrong(
        "F.binary_cross_entropy(torch.ones(3, 1), torch.ones(3))",
        ValueError,
        (
            "Using a target size (torch.Size([3])) that is different to the input size "
            "(torch.Size([3, 1])) is deprecated. Please ensure they have the same size."
        ),
    ),
    Wrong(
        "F.binary_cross_entropy_with_logits(torch.ones(3, 1), torch.ones(3))",
        ValueError,
        "Target size (torch.Size([3])) must be the same as input size (torch.Size([3, 1]))",
    ),
    Wrong(
        "F.mse_loss(torch.ones(3), torch.ones(4))",
        RuntimeError,
        "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 0",
    ),
    Wrong(
        "F.softmax(torch.ones(2, 3), dim=2)",
        IndexError,
        "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    ),
    Wrong(
        "F.dropout(torch.ones(2), p=-0.1)",
        ValueError,
        "dropout probability has to be between 0 and 1, but got -0.1",
    ),
    Wrong("F.one_hot(torch.tensor([0, -1]))", RuntimeError, "Class values must be non-negative."),
    Wrong(
        "torch.nn.init.xavier_uniform_(torch.ones(2))",
        ValueError,
        "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions",
    ),
]
