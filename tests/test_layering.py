"""The rules of the source tree, read from the sources, so that no one has to remember them.

CONTRIBUTING.md gives the reasons. A rule that is wrong is changed here, not worked around.
"""

import ast
import pathlib
import re

import pytest

from tests import devices_exempt

ROOT = pathlib.Path(__file__).resolve().parent.parent
CPP = {".h", ".cpp", ".cu", ".cuh"}

# Which folders the files of a folder may include: always to the right, never back.
MAY_INCLUDE = {
    "csrc/bindings": {
        "csrc/bindings", "csrc/parallel", "csrc/distributed", "csrc/ops", "csrc/autograd",
        "csrc/core", "csrc/devices", "kernels",
    },
    "csrc/parallel": {"csrc/parallel", "csrc/ops", "csrc/autograd", "csrc/core", "kernels"},
    "csrc/distributed": {"csrc/distributed", "csrc/core", "kernels"},
    "csrc/ops": {"csrc/ops", "csrc/autograd", "csrc/core", "kernels"},
    "csrc/autograd": {"csrc/autograd", "csrc/core", "kernels"},
    "csrc/devices": {"csrc/devices", "csrc/core", "kernels"},
    "csrc/core": {"csrc/core", "kernels"},
    "kernels/cpu": {"kernels/cpu", "kernels"},
    "kernels/cuda": {"kernels/cuda", "kernels"},
    "kernels": {"kernels"},
}  # fmt: skip
MACROS = {"HOST_DEVICE", "CLONES", "CLONES_512"}


def files(*folders, suffixes):
    found = [p for f in folders for p in (ROOT / f).rglob("*") if p.suffix in suffixes]
    return sorted(p for p in found if "__pycache__" not in p.parts)


def name(path):
    return path.relative_to(ROOT).as_posix()


def code_only(text):
    """C++ without comments and without the insides of literals."""
    pattern = r'R"(\w*)\((?:.|\n)*?\)\1"|//[^\n]*|/\*(?:.|\n)*?\*/|"(?:\\.|[^"\\\n])*"'
    return re.sub(pattern, lambda m: '""' if m[0][0] in '"R' else " ", text)


CPP_FILES = files("csrc", "kernels", suffixes=CPP)
SOURCES = [*CPP_FILES, *files("python", "tests", "notebooks", ".ci", suffixes={".py", *CPP})]
PYTHON_FILES = files("python", suffixes={".py"})


def folder_of(path):
    folder = "/".join(name(path).split("/")[:2])
    shared = path.parent == ROOT / "kernels" or folder in {"kernels/math", "kernels/pointwise"}
    return "kernels" if shared else folder


def resolve(path, target):
    """The file that an include with quotes names: from the root, csrc or the own folder."""
    for base in (ROOT, ROOT / "csrc", path.parent):
        if (base / target).is_file():
            return base / target
    raise AssertionError(f'{name(path)}: cannot find "{target}"')


@pytest.mark.parametrize("path", CPP_FILES, ids=name)
def test_includes_point_right(path):
    text = path.read_text()
    allowed = MAY_INCLUDE[folder_of(path)]
    for target in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.M):
        included = folder_of(resolve(path, target))
        assert included in allowed, f"{folder_of(path)} may not include {included}: {target}"
    systems = re.findall(r"^\s*#\s*include\s*<([^>]+)>", text, re.M)
    assert "omp.h" not in systems
    if folder_of(path) != "csrc/bindings":
        assert not [s for s in systems if s == "Python.h" or s.startswith("pybind11")]
    if folder_of(path) != "kernels/cuda":
        assert not [s for s in systems if s.startswith(("cuda", "cublas", "cudnn", "nccl"))]


def test_only_devices_know_the_kernel_tables():
    """Everything else asks backend(device)."""
    headers = files("kernels", suffixes={".h"})
    tables = {t for p in headers for t in re.findall(r"extern const \w+ (cpu_\w+);", p.read_text())}
    for path in files("csrc", suffixes=CPP):
        if folder_of(path) != "csrc/devices":
            used = tables & set(re.findall(r"\bcpu_\w+", code_only(path.read_text())))
            assert not used, f"{name(path)} uses {used} past backend()"


@pytest.mark.parametrize("path", CPP_FILES, ids=name)
def test_cpp_habits(path):
    text = path.read_text()
    code = code_only(text)
    assert text.startswith("//"), "begin with one to five lines: what the file holds"
    if path.suffix in {".h", ".cuh"}:
        assert "#pragma once" in text
    defined = set(re.findall(r"^\s*#\s*define\s+(\w+)", code, re.M))
    assert defined <= MACROS, f"a macro of its own: {defined - MACROS}"
    assert not re.search(r"#\s*pragma\s+omp", code)
    names = set(re.findall(r"\b[A-Za-z_]\w*\b", code))
    assert not {n for n in names if "torch" in n.lower()}, "other libraries look for this word"
    types = set(re.findall(r"\b(?:class|struct|namespace|concept)\s+(\w+)", code))
    assert not {t for t in types if re.search(r"Impl$|Helper|Util|Manager", t)}


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_every_source(path):
    text = path.read_text()
    lines = text.splitlines()
    assert len(lines) <= 500, "split it by topic"
    assert not re.search(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b", text)
    assert not re.search(r"/(?:wo" r"rk|ho" r"me|ro" r"ot)/", text), "a path of somebody's machine"
    if path.suffix != ".py":
        assert max(map(len, lines), default=0) <= 100
    elif lines and path.name != "_version.py":
        assert lines[0].startswith(('"""', 'r"""', "#")), "begin by saying what the file holds"


def test_build_flags():
    text = (ROOT / "CMakeLists.txt").read_text() + (ROOT / "pyproject.toml").read_text()
    for flag in ("-march=native", "-ffast-math", "-fopenmp", "OpenMP"):
        assert flag not in text


@pytest.mark.parametrize("path", PYTHON_FILES, ids=name)
def test_python_imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules = [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            modules = [node.module]
        else:
            continue
        for module in modules:
            assert module.split(".")[0] not in {"torch", "torchvision"}, f"line {node.lineno}"


# Declared where a layer needs it, defined by a higher one: the ports of a layer, by name.
PORTS = {
    "csrc/autograd/node.h": "add_gradients add_gradients_into cast_gradient own_gradient "
    "like_saved row_of stacked_rows view_node",
    "csrc/autograd/anomaly.h": "has_nan",
    "csrc/core/backend.h": "cpu_backend",  # the table of the device that is always there
    "csrc/core/cuda.h": "find_cuda",  # devices find their provider
}
FUNCTION = r"^(?!(?:static|return|using|template|inline)\b|\s)[^\n;={}()#]*?\b(\w+)\([^;{}]*?\)"


def test_what_a_layer_declares_it_defines():
    """A function of a header is not left to a layer that the header may not include."""
    defined = {}
    for path in files("csrc", suffixes={".cpp"}):
        code = code_only(path.read_text())
        names = re.findall(FUNCTION + r"[^;{}()]*\{", code, re.M)
        names += re.findall(r"^(?:extern )?(?:const )?[\w:<>]+&?\s+(\w+)(?:\{|\s*=)", code, re.M)
        for each in names:
            defined.setdefault(each, set()).add(folder_of(path))
    for path in files("csrc", suffixes={".h"}):
        code = code_only(path.read_text())
        declared = set(re.findall(FUNCTION + r"[^;{}()]*;", code, re.M))
        declared |= set(re.findall(r"^extern (?:const )?[\w:<>]+\s+(\w+);", code, re.M))
        away = {n for n in declared if n in defined and folder_of(path) not in defined[n]}
        ports = set(PORTS.get(name(path), "").split())
        assert away == ports, (
            f"{name(path)}: {away ^ ports} is defined in another layer, or no more"
        )


# What bindings may know of kernels: numbers of threads, the count of pointwise ops, bits of an
# error, words of a build, elements of dtypes that are only stored as Python's numbers.
KERNELS_OF_BINDINGS = {
    "kernels/parallel.h", "kernels/device_error.h", "kernels/host_device.h", "kernels/libraries.h",
    "kernels/pointwise.h", "kernels/pointwise_ops.h", "kernels/stored.h",
}  # fmt: skip


@pytest.mark.parametrize("path", files("csrc/bindings", suffixes=CPP), ids=name)
def test_bindings_compute_nothing(path):
    """An op is a function of csrc/ops: bindings call no kernel and record no node."""
    text = path.read_text()
    included = set(re.findall(r'^#include "(kernels/[^"]+)"', text, re.M))
    assert included <= KERNELS_OF_BINDINGS
    code = code_only(text)
    if path.name != "creation.cpp":  # full_like() fills a new tensor
        assert not re.search(r"\bbackend\(", code), "a kernel is called by csrc/ops"
    assert not re.search(r"(?<![.\w>])(?<!void )record\(", code), (
        "a gradient is recorded by csrc/ops"
    )


# The stems of csrc/ops of which a file of rows has the signatures, beside its own. functional.cpp
# has what nn.functional has under a name of torch's: rows of any file.
ROWS_OF = {
    "copy": "resize", "creation": "memory_format", "loss": "cross_entropy", "matmul": "linalg",
    "resample": "affine_grid grid_sample", "view": "as_strided", "fold": "view",
}  # fmt: skip


def test_a_row_is_in_the_file_of_its_op():
    """csrc/ops/dropout.cpp and csrc/bindings/rows/dropout.cpp: one guess finds both."""
    homes = {}  # the stems and folders of the file that defines a function
    for path in files("csrc/ops", suffixes={".cpp"}):
        definition = r"^(?!static|return|using)[\w:<>,& ]*?[\w>&] (\w+)\([^;{}]*?\)\s*\{"
        for each in re.findall(definition, path.read_text(), re.M):
            homes.setdefault(each, set()).update(path.relative_to(ROOT / "csrc/ops").parts[:-1])
            homes[each].add(path.stem)
    rows, away = 0, set()
    for path in files("csrc/bindings/rows", suffixes={".cpp"}):
        stem = path.stem.removesuffix("_variants")
        for each in set(re.findall(r'\bm,\s*\{?"([a-z]\w*?)_?\(', path.read_text())):
            found = homes.get(each, set()) | homes.get(each + "_", set())
            rows += 1
            if (
                found
                and stem != "functional"
                and not found & {stem, *ROWS_OF.get(stem, "").split()}
            ):
                away.add(f"{name(path)}: {each} is in csrc/ops/{sorted(found)}")
    assert rows > 250
    assert not away


def python_modules():
    """module -> file."""
    found = {}
    for path in PYTHON_FILES:
        parts = path.relative_to(ROOT / "python").with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(module, modules):
    """The modules of ours that it imports, at any time."""
    path = modules[module]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = module.split(".")
                up = up[: len(up) - node.level + (path.name == "__init__.py")]
                base = ".".join([*up, *([node.module] if node.module else [])])
            for alias in node.names:
                full = f"{base}.{alias.name}"
                found.add(full if full in modules or alias.name == "_C" else base)
    return (found & set(modules)) - {module, "rushlight"}  # all import the package itself


# Circles of imports, each inside a function, that have a reason.
CIRCLES = [
    # A storage is pickled with what finds its device again.
    {"rushlight.storage", "rushlight._serialization.location"},
    # torch's names of what unpickles a parameter.
    {"rushlight._tensor", "rushlight._utils", "rushlight.nn.parameter"},
    {"rushlight.autograd._profiler_table", "rushlight.autograd.profiler_util"},
    # A worker starts workers of its own.
    {"rushlight.utils.data._utils.pool", "rushlight.utils.data._utils.worker"},
]


def test_no_circles_of_python_imports():
    """Lazy ones included: a module can be read without those that use it."""
    modules = python_modules()
    graph = {m: imports_of(m, modules) for m in modules}
    reach = {}
    for start in graph:
        seen, todo = set(), [start]
        while todo:
            for step in graph[todo.pop()] - seen:
                seen.add(step)
                todo.append(step)
        reach[start] = seen
    circles = {frozenset(b for b in reach[a] if a in reach[b]) for a in graph if a in reach[a]}
    unexpected = [sorted(c) for c in circles if c not in CIRCLES]
    assert not unexpected


# What a file of operations in Python may do in spite of the rule below: "file:function".
STEPS = {
    "over operands, whose number, shapes and names are known without the device": (
        "_broadcasting:broadcast_shapes multi_head:_padding_per_head multi_head:_in_projection "
        "solving:_tolerances top_level_factors:cholesky_solve "
        "top_level_factors:triangular_solve"
    ),
    "over dimensions and sizes, eight at most": (
        "_creation:empty_permuted _statistics:_counted _statistics:_weights_counted "
        "_weight_norms:as_matrix "
        "_weight_norms:first_vectors norms:matrix_norm "
        "resample:_sizes top_level_products:renorm"
    ),
    "over the columns of the points, which have a sequence of bins each": "_statistics:histogramdd",
    "over two numbers that are checked alike": "_determinism:use_deterministic_algorithms",
    "over dimensions, and by halves until one element is left": (
        "_hashes:_joined _hashes:hash_tensor"
    ),
    "as often as the caller says, a few products each": "_lowrank:_columns_near_range",
    "torch looks at the values too: a negative variance, the edges of a histogram without a range, "
    "whether least squares are of full rank": (
        "likelihood_losses:gaussian_nll_loss _statistics:_edges solving:lstsq"
    ),
    "calls of the program's function, or a Python bool, which is what it returns": (
        "_tensor_elements:apply_ _tensor_elements:_mapped _tensor_elements:_rewritten "
        "_tensor_elements:values "
        "_tensor:__complex__ _tensor:__contains__ _tensor:dim_order"
    ),
    "checks of the parts of a sparse tensor, a number for each dimension": (
        "compressed:_check compressed:_made construction:_size_of construction:made "
        "construction:without_entries conversion:to"
    ),
    "text": (
        "_losses:_word _tensor_str:_columns _tensor_str:_contents _tensor_str:_real_columns "
        "_tensor_str:_row _tensor_str:_shown_values _tensor_str:get_printoptions "
        "_tensor_str:set_printoptions _tensor_str:tensor_format _tensor_str:with_suffixes"
    ),
}


def operations_in_python():
    for path in PYTHON_FILES:
        tree = ast.parse(path.read_text())
        functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
        decorators = [ast.unparse(d) for f in functions for d in f.decorator_list]
        if any(d.startswith("op(") for d in decorators):
            yield path, functions


def breaks_the_rule(node):
    if isinstance(node, ast.For | ast.While):
        return True
    if isinstance(node, ast.comprehension):  # but for operands that are written out: (x, y)
        return not isinstance(node.iter, ast.Tuple)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in {"item", "tolist"}
    if isinstance(node, ast.If | ast.IfExp):
        return bool(re.search(r"\.(any|all|equal)\(", ast.unparse(node.test)))
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "bool":
        return bool(re.search(r"\.(any|all|equal)\(", ast.unparse(node)))
    return False


def test_operations_in_python_are_compositions():
    """No loop, no `.item()` or `.tolist()`, no branch on a tensor's value: that is C++."""
    found = set()
    for path, functions in operations_in_python():
        for function in functions:
            if any(map(breaks_the_rule, ast.walk(function))):
                found.add(f"{path.stem}:{function.name}")
    known = set(" ".join(STEPS.values()).split())
    assert found == known, f"write it in csrc/ops, or strike it out: {sorted(found ^ known)}"


@pytest.mark.parametrize("path", PYTHON_FILES, ids=name)
def test_all_names_what_is_there(path):
    """__all__ has no name twice and none that the file does not define."""
    tree = ast.parse(path.read_text())
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            try:
                listed = ast.literal_eval(node.value)
            except ValueError:
                return  # computed
            assert len(listed) == len(set(listed))
            words = set(re.findall(r"\w+", path.read_text().replace(ast.unparse(node), "")))
            assert set(listed) <= words


def without_a_device(folder):
    """The tests of a folder that none of the fixtures reaches."""
    fixtures = {"device", "devices", "on_device", "virtual_gpus"}
    for path in files(folder, suffixes={".py"}):
        tree = ast.parse(path.read_text())
        of_all = {ast.unparse(n) for n in tree.body if isinstance(n, ast.Assign)}
        if "pytestmark = pytest.mark.usefixtures('on_device')" in of_all:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                if not fixtures & {a.arg for a in [*node.args.args, *node.args.kwonlyargs]}:
                    yield f"{path.name}::{node.name}"


@pytest.mark.parametrize(
    ("folder", "exempt"),
    [("tests/ops", devices_exempt.OPS), ("tests/nn", devices_exempt.NN)],
)
def test_virtual_and_real_devices_run_the_same_tests(folder, exempt):
    found = set(without_a_device(folder))
    known = set(" ".join(exempt.values()).split())
    assert found == known, (
        f"take `device`, or edit tests/devices_exempt.py: {sorted(found ^ known)}"
    )
