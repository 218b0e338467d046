"""The same tensor in both libraries, in every layout and dtype."""

import numpy as np

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

    def maker(library, where):
        draws = np.random.RandomState(0)

        def make(*shape):
            if "float" in dtype:
                values = draws.standard_normal(shape)
            else:
                least = 0 if dtype in ("bool", "uint8") else low
                values = draws.randint(least, 2 if dtype == "bool" else 4, shape)
            t = library.tensor(np.asarray(values).tolist(), dtype=library.float64)
            return t.reshape(shape).to(getattr(library, dtype)).to(where)

        return make

    return tuple(
        eval(expression, {"m": maker(library, where)})
        for library, where in ((rushlight, device), (torch, "cpu"))
    )
