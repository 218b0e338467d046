"""Names, order, defaults and keyword-only marks of parameters, beside torch's own stub files.

Every signature that torch's stubs (or, for linalg and special, its schemas) give a name must be
covered by one of ours: what a caller writes by it, by place or by name, is taken here, and has the
same default. What differs is listed by the reason.
"""

import ast
import importlib
import inspect
import pathlib
import re
import types

from rushlight import _C
from tests.conftest import ask
from tests.test_keywords import tool

COVERAGE = tool("coverage")
HOMES = {  # torch's path -> the table's, and the stub files that have its functions
    "torch": ("torch", ["_C/_VariableFunctions", "_C/__init__"]),
    "torch.Tensor": ("Tensor", ["_C/__init__"]),
    "torch.nn.functional": (
        "nn.functional",
        ["nn/functional", "_C/_nn", "_C/_VariableFunctions"],
    ),
    "torch.linalg": ("linalg", []),
    "torch.special": ("special", []),
}

# "place.name" of what differs, by the reason.
DIFFERENT = {
    "torch's own functions refuse what its stubs say (tests/test_keywords.py calls them)": (
        "torch.Tensor.add torch.Tensor.cpu torch.Tensor.floor_divide torch.Tensor.hash_tensor "
        "torch.Tensor.mul "
        "torch.Tensor.new_ones torch.Tensor.new_tensor torch.Tensor.requires_grad_ "
        "torch.Tensor.sub torch.Tensor.true_divide torch.linalg.matrix_exp "
        "torch.linspace torch.logspace torch.nn.functional.gelu torch.nn.functional.one_hot "
        "torch.nn.functional.scaled_dot_product_attention torch.tensor"
    ),
    "only GPUs have products of 16-bit matrices with float32 results": (
        "torch.addmm torch.baddbmm torch.bmm torch.mm"
    ),
    "old constructors, of which torch.tensor() and torch.empty() are the current ways": (
        "torch.Tensor.new"
    ),
    "the same by place and by name, written as overloads or as one variadic parameter": (
        "torch.Tensor.std torch.Tensor.var torch.einsum torch.std torch.std_mean torch.var "
        "torch.var_mean torch.nuclear_norm"
    ),
    "a number multiplied by a third one, deprecated: torch.subtract(x, 2, 3) is taken": (
        "torch.Tensor.subtract torch.Tensor.subtract_ torch.subtract"
    ),
    "out= and dtype= come by name": "torch.norm",
    "no tensor is quantized, and of others torch takes no list": "torch.dequantize",
    "torch's stubs say reduction=1, its functions take 0 (tests/ops/test_number_forms.py)": (
        "torch.binary_cross_entropy_with_logits torch.cosine_embedding_loss torch.ctc_loss "
        "torch.hinge_embedding_loss torch.kl_div torch.margin_ranking_loss "
        "torch.triplet_margin_loss"
    ),
    "None is the module pickle": "torch.save",
}


def of_arguments(node, skip=0):
    """(name, kind, default) of each parameter of a `def`."""
    a = node.args
    positional = [*a.posonlyargs, *a.args]
    defaults = [None] * (len(positional) - len(a.defaults)) + [ast.unparse(d) for d in a.defaults]
    found = [(p.arg, "positional", d) for p, d in zip(positional, defaults, strict=True)][skip:]
    if a.vararg:
        found.append((a.vararg.arg, "many", None))
    for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True):
        found.append((p.arg, "keyword", None if d is None else ast.unparse(d)))
    return found


def of_python(value, skip):
    """The same of a function written in Python, or nothing where it does not say."""
    parameters = COVERAGE.parameters_of(value)
    if parameters is None:
        return []
    kinds = {inspect.Parameter.VAR_POSITIONAL: "many", inspect.Parameter.KEYWORD_ONLY: "keyword"}
    return [
        [(p.name, kinds.get(p.kind, "positional"), text_of(p.default)) for p in parameters[skip:]]
    ]


def text_of(default):
    if inspect.ismodule(default):
        return default.__name__  # where it is, is the machine's
    return None if default is inspect.Parameter.empty else repr(default)


def of_stub_file(path, is_method):
    """name -> the signatures of all overloads, without those of named dimensions."""
    found = {}
    for owner, function, every in COVERAGE.stub_functions(path):
        if owner != ("TensorBase" if is_method else ""):
            continue
        kinds = {p.arg: ast.unparse(p.annotation) for p in every if p.annotation}
        if "ellipsis" in " ".join(kinds.values()) or "None" not in kinds.get("names", "None"):
            continue
        parameters = [p for p in of_arguments(function, int(is_method)) if p[0] != "names"]
        found.setdefault(function.name, []).append(parameters)
    return found


def of_schemas(torch, name):
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{name}"):
        own = [a for a in schema.arguments if not a.is_out]
        yield [
            (
                "input" if a.name == "self" else a.name,
                "keyword" if a.kwarg_only else "positional",
                repr(a.default_value) if a.has_default_value() else None,
            )
            for a in own
        ] + [("out", "keyword", "None")] * (len(own) < len(schema.arguments))


def theirs(torch):
    """ "place.name" -> the signatures that torch's files give it."""
    root = pathlib.Path(torch.__file__).parent
    found = {}
    for place, (_, files) in HOMES.items():
        is_method = place == "torch.Tensor"
        stubs = [of_stub_file(root / f"{file}.pyi", is_method) for file in files]
        for name, value in COVERAGE.public_names(torch, place):
            if not callable(value) or inspect.isclass(value):
                continue
            python = of_python(value, int(is_method)) if inspect.isfunction(value) else []
            if not files:
                signatures = list(of_schemas(torch, f"{place.removeprefix('torch.')}_{name}"))
            elif python and not any(kind == "many" for _, kind, _ in python[0]):
                signatures = python
            else:
                signatures = next((s[name] for s in stubs if name in s), python)
            if signatures:
                found[f"{place}.{name}"] = [list(map(list, s)) for s in signatures]
    return found


def rows():
    found = {}
    for row in _C._rows():
        texts = row["signatures"]
        for place in row["visible"]:
            found.setdefault((place, row["name"]), []).extend(texts)
        for place in row["in_place"]:
            found.setdefault((place, row["name"] + "_"), []).extend(texts)
        if row["copy"]:
            ends = [", out=None)" if "*" in t else ", *, out=None)" for t in texts]
            copies = [t[:-1] + end for t, end in zip(texts, ends, strict=True)]
            found[("torch", row["name"] + "_copy")] = copies
    return found


def ours(known, place, name, value):
    is_method = place == "torch.Tensor"
    home = HOMES[place][0]
    called = getattr(value, "__name__", name)
    for key in (
        (home, name),
        (home, called),
        ("torch", called),
        ("Tensor", called),
        ("special", called.removeprefix("special_")),
        ("linalg", called.removeprefix("linalg_")),
    ):
        if key in known and not isinstance(value, types.FunctionType):
            texts = [re.sub(r"\bfrom\b", "from_", t.split(" -> ")[0]) for t in known[key]]
            found = [of_arguments(ast.parse(f"def {t}: pass").body[0]) for t in texts]
            return [[p for p in s[1:] if p[0] != "out"] for s in found] if is_method else found
    return of_python(value, int(is_method))


def normal(default):
    """Defaults as values, where they are such: 1 is 1.0, () is None."""
    if default is None:
        return None
    try:
        value = ast.literal_eval(default)
    except (SyntaxError, ValueError):
        return default.split(".")[-1]
    if isinstance(value, list | tuple):
        return list(value) or "None"
    return "None" if value is None else value


NUMPY = {
    "x": "input",
    "a": "input",
    "x1": "input",
    "x2": "other",
    "axis": "dim",
    "keepdims": "keepdim",
}
OPTIONS = set("dtype layout device memory_format pin_memory requires_grad".split())
FACTORS = {"alpha", "beta", "value"}


def lacking(signature, one, by_position):
    """What a caller by torch's signature could write, and one of ours does not take.

    by_position: what may come by its position in some signature of torch's.
    """
    names = {p[0]: p for p in one}
    positional = [p[0] for p in one if p[1] == "positional"]
    found, used = [], set()
    for i, (name, kind, default) in enumerate(signature):
        if name not in names:
            name = "input" if name == "self" else NUMPY.get(name, name)
        if name not in names:
            found.append(f"no {name}")
            continue
        used.add(name)
        _, here, ours = names[name]
        if kind == "many" and here != "many":
            found.append(f"{name} is not variadic")
        if kind == "positional" and here == "keyword":
            found.append(f"{name} is keyword-only")
        elif kind == "positional" and here == "positional" and positional[i : i + 1] != [name]:
            found.append(f"{name} is at another position")
        elif kind == "keyword" and here == "positional" and name not in by_position | OPTIONS:
            found.append(f"{name} is not keyword-only")
        if default not in (None, "...") and normal(default) != normal(ours):
            if ours is None or name not in OPTIONS:
                found.append(f"{name}={default} is {ours}")
    found += [
        f"{n} is required" for n, kind, d in one if n not in used and not d and kind != "many"
    ]
    return found


def differences(known):
    for path, signatures in ask(theirs).items():
        place, _, name = path.rpartition(".")
        home = importlib.import_module("rushlight")
        for part in place.split(".")[1:]:
            home = getattr(home, part)
        try:
            value = getattr(home, name)
        except (AttributeError, RuntimeError):
            continue  # absent: docs/coverage.md says so
        own = ours(known, place, name, value)
        if not own:
            continue  # an object of pybind11, which says nothing; tests/test_keywords.py
        found = []
        by_position = {p[0] for s in signatures for p in s if p[1] == "positional"}
        for signature in signatures:
            words = {p[0] for p in signature if p[1] == "positional"}
            if "self" in words and words & FACTORS:
                continue  # a factor before its operands: tests/ops/test_old_orders.py
            found += min((lacking(signature, one, by_position) for one in own), key=len)
        more = {p[0] for s in own for p in s} - {p[0] for s in signatures for p in s}
        found += [
            f"{name} is not torch's" for name in sorted(more - OPTIONS - {"out", "input", "dim"})
        ]
        if found:
            yield path, found


def test_parameters_are_torchs():
    tool("index").import_all()  # the rows of modules written in Python
    found = dict(differences(rows()))
    known = set(" ".join(DIFFERENT.values()).split())
    unknown = {path: words for path, words in found.items() if path not in known}
    assert not unknown
    assert not known - set(found), "these are as torch's: strike them out"
    assert len(ask(theirs)) > 1200
