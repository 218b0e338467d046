"""torch.library and torch.ops: operations of a program's own, and torch's by qualified name."""

import pytest

import rushlight
from tests.conftest import ask

SCHEMA = """
from typing import List, Optional, Tuple, Union
def a(x: torch.Tensor, n: int, s: float = 1.5, *, k: Optional[torch.Tensor] = None,
      b: bool = True, t: str = "a") -> Tuple[torch.Tensor, int]: ...
def b(x: torch.Tensor, l: List[torch.Tensor], d: Optional[List[int]] = None,
      y: Union[int, float, bool] = 2) -> None: ...
def c(x, y): ...
def d(x: dict) -> torch.Tensor: ...
schemas = []
for f, m in ((a, ()), (a, {"x"}), (b, "unknown"), (c, ()), (d, ())):
    try:
        schemas.append(torch.library.infer_schema(f, mutates_args=m))
    except ValueError as error:
        schemas.append(str(error)[:50])
"""


def test_schemas():
    def schemas(torch):
        names = {"torch": torch}
        exec(SCHEMA, names)
        return names["schemas"]

    assert schemas(rushlight) == ask(schemas)


def custom(torch):
    """What an operation with a formula of gradients, and one without, answer."""
    space = f"tests_{torch.__name__}"

    @torch.library.custom_op(f"{space}::scaled", mutates_args=())
    def scaled(x: torch.Tensor, s: float = 2.0) -> torch.Tensor:
        return x * x * s

    x = torch.tensor([1.0, 3.0], requires_grad=True)
    plain = scaled(x)
    answers = [plain.tolist(), plain.requires_grad, repr(scaled).replace(space, "tests")]
    for call in (plain.sum().backward, lambda: scaled(torch.ones(1, device="meta")), scaled):
        with pytest.raises(RuntimeError) as error:
            call()
        answers.append(str(error.value).replace(space, "tests")[:40])
    seen = []

    def setup(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.s = inputs[1]
        seen.append((len(inputs), output.requires_grad))

    scaled.register_autograd(
        lambda ctx, g: (2 * g * ctx.saved_tensors[0] * ctx.s, None), setup_context=setup
    )
    scaled.register_fake(lambda x, s=2.0: torch.empty_like(x))
    scaled(x, s=3.0).sum().backward()
    operation = getattr(torch.ops, space).scaled
    operation.default(x).sum().backward()
    answers += [x.grad.tolist(), seen, tuple(operation(torch.ones(2, 3, device="meta")).shape)]
    answers += [str(operation).replace(space, ""), str(operation.default).replace(space, "")]

    @torch.library.custom_op(f"{space}::both", mutates_args=())
    def both(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x + 1, x * 2

    both.register_autograd(lambda ctx, a, b: a + 2 * b)
    x.grad = None
    first, second = both(x)
    (first.sum() + second.sum()).backward()
    answers.append(x.grad.tolist())

    @torch.library.custom_op(f"{space}::written", mutates_args={"x"})
    def written(x: torch.Tensor) -> None:
        x.add_(1)

    zeros = torch.zeros(2)
    answers += [written(zeros), zeros.tolist()]
    return answers


def test_custom_operations():
    assert custom(rushlight) == ask(custom)


def declared(torch):
    space = f"more_{torch.__name__}"
    library = torch.library.Library(space, "DEF")
    answers = [library.define("foo(Tensor x, int n=3, *, bool b=False) -> Tensor")]
    ops = getattr(torch.ops, space)
    with pytest.raises(NotImplementedError):
        ops.foo(torch.ones(1))
    library.impl("foo", lambda x, n=3, *, b=False: x * n + b, "CPU")
    answers += [ops.foo(torch.ones(1), b=True).tolist(), ops.foo(torch.ones(1), 5).tolist()]
    for call in (
        lambda: ops.foo(torch.ones(1), c=2),
        lambda: ops.nope,
        lambda: torch.ops.nothing_of_the_kind.nope,
        lambda: torch.library.Library(space, "Y"),
        lambda: library.define("foo(Tensor x) -> Tensor"),
        lambda: torch.library.register_fake(f"{space}::nope", abs),
        lambda: torch.ops.load_library("/nope.so"),
    ):
        with pytest.raises((RuntimeError, AttributeError, ValueError, OSError)) as error:
            call()
        answers.append((type(error.value).__name__, str(error.value).replace(space, "more")[:30]))
    torch.library.define(f"{space}::plus", "(Tensor x, Tensor y) -> Tensor")

    @torch.library.impl(f"{space}::plus", "cpu")
    def plus(x, y):
        return x + y

    @torch.library.register_fake(f"{space}::plus")
    def _(x, y):
        return torch.empty_like(x)

    answers.append(ops.plus(torch.ones(1), torch.ones(1)).tolist())
    answers.append(ops.plus(*[torch.ones(4, device="meta")] * 2).device.type)
    answers.append(str(ops.plus.default._schema).replace(space, ""))
    return answers


def test_declared_operations():
    assert declared(rushlight) == ask(declared)


def test_own_operations():
    def own(torch):
        add = torch.ops.aten.add
        return [repr(add), repr(add.Tensor), add.Tensor(torch.ones(1), torch.ones(1)).item(),
                add is torch.ops.aten.add, add.Tensor is add.Tensor]  # fmt: skip

    assert own(rushlight) == ask(own)
    with pytest.raises(NotImplementedError, match="is not in rushlight"):
        rushlight.ops.aten._nothing_like_it(rushlight.ones(1))
