"""Shapes and dtypes in annotations, checked when a function is called."""

import torch
from beartype import beartype
from jaxtyping import Bool, Float, Float32, Int, Num, Shaped, TypeCheckError, jaxtyped

torch.manual_seed(0)


@jaxtyped(typechecker=beartype)
def attend(
    q: Float[torch.Tensor, "*b n d"],  # noqa: F722
    k: Float[torch.Tensor, "*b m d"],  # noqa: F722
) -> Float[torch.Tensor, "*b n m"]:  # noqa: F722
    return (q @ k.transpose(-2, -1)).softmax(-1)


q = torch.randn(2, 3, 4, requires_grad=True)
found = attend(q, torch.randn(2, 5, 4))
found.square().sum().backward()
print("attention", found.tolist(), q.grad.abs().sum().item())
for wrong in (torch.randn(2, 5, 3), torch.randn(3, 5, 4), torch.ones(2, 5, 4, dtype=torch.long)):
    try:
        attend(q, wrong)
    except TypeCheckError as error:
        print("refused", str(error).splitlines()[0].split(" at ")[0][:60])
for value in (torch.ones(2, 3), torch.ones(3, dtype=torch.int32), torch.ones(1, 2) > 0):
    kinds = (Float, Int, Bool, Num, Shaped, Float32)
    print([isinstance(value, kind[torch.Tensor, "a b"]) for kind in kinds])
    print([isinstance(value, kind[torch.Tensor, "..."]) for kind in kinds])
print(Float[torch.Tensor, "n 3"].__name__, Float[torch.nn.Parameter, "2 2"].__name__)
print(isinstance(torch.nn.Parameter(torch.ones(2, 2)), Float[torch.nn.Parameter, "2 2"]))
