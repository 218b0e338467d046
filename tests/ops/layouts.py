"""The same tensor in both libraries, in every layout and dtype."""

import rushlight
from tests.conftest import load_reference

torch = load_reference()

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
          "float64"]  # fmt: skip
LAYOUTS = {
    "contiguous": "m(3, 4, 5)",
    "transposed": "m(5, 3, 4).transpose(0, 2)",
    "expanded": "m(3, 1, 5).expand(3, 4, 5)",
    "offset": "m(4, 9, 11)[1:, 1:8:2, 2:7]",
    "wide": "m(2, 3, 700)",
    "single": "m(1)",
    "scalar": "m()",
}


def both(expression, dtype, device="cpu", low=-3):
    """The same tensor in both libraries."""
    generator = torch.Generator().manual_seed(0)

    def theirs(*shape):
        kind = getattr(torch, dtype)
        if dtype == "bool":
            return torch.randint(0, 2, shape, generator=generator).bool()
        if kind.is_floating_point:
            return torch.randn(shape, generator=generator, dtype=torch.float64).to(kind)
        low_end = 0 if dtype == "uint8" else low
        return torch.randint(low_end, 4, shape, generator=generator).to(kind)

    state = generator.get_state()
    reference = eval(expression, {"m": theirs})
    generator.set_state(state)

    def ours(*shape):
        data = theirs(*shape)
        t = rushlight.tensor(data.to(torch.float64).tolist(), dtype=rushlight.float64)
        return t.reshape(shape).to(getattr(rushlight, dtype)).to(device)

    return eval(expression, {"m": ours}), reference
