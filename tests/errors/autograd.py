"""Gradients asked for where there are none."""

from tests.errors.wrong import Wrong

ROWS = [
    Wrong(
        "torch.ones(2).backward()",
        RuntimeError,
        "element 0 of tensors does not require grad and does not have a grad_fn",
    ),
    Wrong(
        "torch.ones(2, requires_grad=True).mul(2).backward()",
        RuntimeError,
        "grad can be implicitly created only for scalar outputs",
    ),
    Wrong(
        "x = torch.ones(2, requires_grad=True)\ny = (x * x).sum()\ny.backward()\ny.backward()",
        RuntimeError,
        (
            "Trying to backward through the graph a second time (or directly access "
            "saved tensors after they have already been freed). Saved intermediate "
            "values of the graph are freed when you call .backward() or autograd.grad(). "
            "Specify retain_graph=True if you need to backward through the graph a "
            "second time or if you need to access saved tensors after calling backward."
        ),
    ),
    Wrong(
        "x = torch.ones(2, requires_grad=True)\nx += 1",
        RuntimeError,
        "a leaf Variable that requires grad is being used in an in-place operation.",
    ),
    Wrong(
        "x = torch.ones(2, requires_grad=True)\ny = x.exp()\ny.add_(1)\ny.sum().backward()",
        RuntimeError,
        (
            "one of the variables needed for gradient computation has been modified by "
            "an inplace operation: [torch.FloatTensor [2]], which is output 0 of Exp, is "
            "at version 1; expected version 0 instead. Hint: enable anomaly detection to "
            "find the operation that failed to compute its gradient, with "
            "torch.autograd.set_detect_anomaly(True, check_nan=False)."
        ),
    ),
    Wrong(
        "x = torch.ones(2, requires_grad=True)\n(x * 2).backward(torch.ones(3))",
        RuntimeError,
        (
            "Mismatch in shape: grad_output[0] has a shape of torch.Size([3]) and "
            "output[0] has a shape of torch.Size([2])."
        ),
    ),
    Wrong(
        "torch.ones(2, requires_grad=True).numpy()",
        RuntimeError,
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
    ),
    Wrong(
        "torch.ones(2).long().requires_grad_()",
        RuntimeError,
        "only Tensors of floating point dtype can require gradients",
    ),
    Wrong(
        "torch.ones(2, requires_grad=True).mul(2).requires_grad_(False)",
        RuntimeError,
        (
            "you can only change requires_grad flags of leaf variables. If you want to "
            "use a computed variable in a subgraph that doesn't require differentiation "
            "use var_no_grad = var.detach()."
        ),
    ),
    Wrong(
        "x = torch.ones(2)\nx.grad = torch.ones(3)",
        RuntimeError,
        (
            "attempting to assign a gradient of size '[3]' to a tensor of size '[2]'. "
            "Please ensure that the gradient and the tensor are the same size"
        ),
    ),
    Wrong(
        (
            "torch.autograd.grad(torch.ones(1, requires_grad=True).sum(), torch.ones(1, "
            "requires_grad=True))"
        ),
        RuntimeError,
        (
            "The differentiated Tensor at index 0 appears to not have been used in the "
            "graph. Set allow_unused=True if this is the desired behavior."
        ),
    ),
    Wrong(
        "import copy\ncopy.deepcopy(torch.ones(2, requires_grad=True) * 2)",
        RuntimeError,
        (
            "Only Tensors created explicitly by the user (graph leaves) support the "
            "deepcopy protocol at the moment.  If you were attempting to deepcopy a "
            "module, this may be because of a torch.nn.utils.weight_norm usage, see "
            "https://github.com/pytorch/pytorch/pull/103001"
        ),
    ),
    Wrong(
        "torch.ones(2, requires_grad=True)[0:1].copy_(torch.ones(1))",
        RuntimeError,
        "a view of a leaf Variable that requires grad is being used in an in-place operation.",
    ),
]
