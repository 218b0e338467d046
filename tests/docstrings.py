"""What the docstrings of public classes, functions and methods lack; test_docstrings.py judges.

A docstring is a sentence, a formula where there is one, `Args:`, `Shape:` where shapes are mapped,
`Returns:` and `Raises:` where there is something to say, and an example that runs. `Args: as of X.`
stands for the arguments that X's docstring names.
"""

import enum
import importlib
import inspect
import pathlib
import re
import sys
import types

import rushlight
from rushlight import _C
from rushlight._absent_methods import ABSENT

ROOMS = (
    "rushlight nn nn.functional nn.init nn.utils nn.utils.rnn nn.utils.parametrize nn.attention "
    "nn.grad nn.utils.parametrizations nn.utils.prune nn.utils.stateless nn.parallel optim "
    "optim.lr_scheduler optim.swa_utils utils.data linalg special autograd autograd.functional "
    "autograd.forward_ad autograd.graph autograd.profiler amp cuda cuda.comm cuda.nvtx "
    "distributions distributions.constraints distributions.utils func jit compiler random storage "
    "testing signal.windows accelerator backends.cuda backends.cudnn cuda.amp vision.transforms "
    "vision.transforms.functional Tensor"
).split()
# Explained once: `out` is where the result is written (docs: the table of operations), `layout` is
# strided, and the deprecated `size_average` and `reduce` choose a `reduction`.
TABLE = {"rushlight": "torch", **{n: n for n in ("nn.functional", "special", "linalg", "Tensor")}}
EVERYWHERE = {"self", "out", "layout", "size_average", "reduce"}
VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
# `Shape:` is held in every room but these, which take and give no tensors of a shape of their own:
# schedules, profilers, devices, switches, compilers.
NO_SHAPES = set(
    "optim.lr_scheduler autograd.graph autograd.profiler amp cuda cuda.nvtx jit compiler random "
    "accelerator backends.cuda backends.cudnn cuda.amp nn.attention".split()
)
# Of the others, by reason, what has none either.
SHAPELESS_BY_REASON = {
    "types, errors, base classes and containers": """AcceleratorError AutoAugmentPolicy Buffer
        Dataset Event Function Future Generator GradScaler InterpolationMode IterableDataset
        LinAlgError Module ModuleDict ModuleList Node Optimizer OutOfMemoryError Parameter
        ParameterDict ParameterList RNNBase RNNCellBase Sampler Sequential Size Stream Tensor
        TypedStorage UninitializedBuffer UninitializedParameter UntypedStorage Variable device dtype
        finfo iinfo layout memory_format""",
    "settings, and blocks that change them": """DisableTorchFunction DisableTorchFunctionSubclass
        are_deterministic_algorithms_enabled as_torch autocast cached clear_autocast_cache compile
        detect_anomaly dual_level enable_grad enter_dual_level exit_dual_level
        get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype
        get_default_device get_deterministic_debug_mode get_float32_matmul_precision
        get_num_interop_threads get_printoptions get_rng_state inference_mode initial_seed
        is_autocast_cache_enabled
        is_autocast_cpu_enabled is_autocast_enabled is_deterministic_algorithms_warn_only_enabled
        is_warn_always_enabled
        load_ipython_extension manual_seed no_grad printoptions seed set_anomaly_enabled
        set_autocast_cache_enabled set_autocast_cpu_dtype set_autocast_dtype set_autocast_enabled
        set_autocast_gpu_dtype set_default_device
        set_default_dtype set_default_tensor_type set_detect_anomaly set_float32_matmul_precision
        set_flush_denormal set_grad_enabled set_multithreading_enabled set_num_interop_threads
        set_num_threads set_printoptions set_rng_state set_warn_always unload_ipython_extension
        use_deterministic_algorithms""",
    "arithmetic on sizes": "sym_float sym_int sym_ite sym_max sym_min sym_not sym_sqrt",
    "what is read of a tensor, a dtype or a module, of any shape": """broadcast_shapes
        calculate_gain can_cast data_ptr dense_dim dim dim_order element_size get_device
        get_device_module is_complex is_contiguous is_dependent is_floating_point is_inference
        Tag qscheme
        is_coalesced is_parametrized is_pinned is_pruned is_set_to is_shared is_signed is_storage
        is_tensor
        ndimension nelement numel promote_types result_type size sparse_dim storage storage_offset
        stride to_grayscale type_before_parametrizations typename untyped_storage""",
    "whole graphs, hooks, files and functions": """backward dependent_property factory_kwargs
        get_ema_avg_fn get_ema_multi_avg_fn get_swa_avg_fn get_swa_multi_avg_fn lazy_property load
        record_stream register_hook register_kl register_post_accumulate_grad_hook retain_grad save
        SWALR""",
    "indices and data sets of anything": """BatchSampler ChainDataset ConcatDataset DataLoader
        DFIterDataPipe IterDataPipe MapDataPipe
        DistributedSampler RandomSampler SequentialSampler Subset SubsetRandomSampler
        get_worker_info random_split""",
}
SHAPELESS = {name for names in SHAPELESS_BY_REASON.values() for name in names.split()}
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / "tools")]
importlib.import_module("index").import_all()  # the rows of modules written in Python
ROWS: dict[str, list[dict]] = {}
for _row in _C._rows():
    ROWS.setdefault(_row["name"], []).append(_row)


def room(name):
    if name == "Tensor":
        return rushlight.Tensor
    return rushlight if name == "rushlight" else importlib.import_module(f"rushlight.{name}")


def is_public(name):
    return not name.startswith("_")


def doc_of(value):
    doc = value.__doc__ if inspect.isclass(value) else inspect.getdoc(value)
    return inspect.cleandoc(doc or "")


def is_alias(name, value, doc):
    """abs_(), view_copy() and aliases name the function that has the docstring."""
    other = re.search(r"\b(?:Alias|[Oo]ther name|older name) of |^\w+(?:\.\w+)*\(\)", doc)
    return bool(other) or (name.endswith(("_", "_copy")) and bool(re.search(r"\b\w+\(\)", doc)))


def of_text(signature):
    """The names of the parameters of a signature text of the table."""
    inside = signature.split(" ->")[0].partition("(")[2].rpartition(")")[0]
    parts = re.split(r",\s*(?![^(\[]*[)\]])", inside)
    return [p.split("=")[0].split(":")[0].strip().lstrip("*") for p in parts]


def parameters(place, name, value):
    """The parameters that Args names: not self, which the sentence is about."""
    rows = ROWS.get(name) or ROWS.get(name.removesuffix("_")) or []
    rows = [row for row in rows if TABLE.get(place) in row["visible"]] or rows
    if inspect.isclass(value) and issubclass(value, enum.Enum):
        return []
    if rows and not isinstance(value, type | types.FunctionType):
        found = [p for row in rows for text in row["signatures"] for p in of_text(text)]
        if found[:1] == ["input"]:
            found = [p for p in found if p != "input"]
    else:
        try:
            given = inspect.signature(value).parameters.values()
        except (TypeError, ValueError):
            return []
        # What a class hands on to its base is named with the base's parameters.
        found = [p.name for p in given if not (inspect.isclass(value) and p.kind in VARIADIC)]
    return [p for p in dict.fromkeys(found) if p and p not in EVERYWHERE and p[0] != "_"]


def named_in_args(doc, home=None):
    """The names that the section Args explains."""
    section = re.search(r"^Args:(?: as of ([\w.]+\w))?.*\n?((?: +.*\n|\n(?= ))*)", doc + "\n", re.M)
    if not section:
        return set()
    found = set()
    if section[1]:
        found |= named_in_args(doc_of(getattr(home, section[1])), home)
    for line in section[2].splitlines():
        if names := re.match(r" {4}([*\w, ]+?)(?: \([^)]*\))?:(?: |$)", line):
            found |= {n.strip().lstrip("*") for n in names[1].split(",")}
    return found


def shapes_expected(place, name):
    return place not in NO_SHAPES and name not in SHAPELESS


def lacks(place, name, value):
    """What the docstring of a public object lacks, in words."""
    doc, home = doc_of(value), room(place)
    if not doc:
        return ["docstring"]
    if is_alias(name, value, doc):
        return []
    found = []
    if left := [p for p in parameters(place, name, value) if p not in named_in_args(doc, home)]:
        found.append(f"Args: {' '.join(left)}")
    if shapes_expected(place, name) and not re.search(r"^ *Shape:", doc, re.M):
        found.append("Shape")
    is_error = inspect.isclass(value) and issubclass(value, BaseException)
    if ">>>" not in doc and not is_error:
        found.append("example")
    return found


def is_compiled(value):
    if inspect.isclass(value):
        return value.__module__ in ("rushlight", "rushlight._C")
    return type(value).__name__ in ("builtin_function_or_method", "method_descriptor")


def objects():
    """(place, name, value) of the public callables of all rooms, each once."""
    seen: set[int] = set()
    for place in ROOMS:
        home = room(place)
        listed = getattr(home, "__all__", None) or [n for n in dir(home) if n[0] != "_"]
        for name in filter(is_public, listed):
            if place == "Tensor" and name in ABSENT.split():
                continue
            value = getattr(home, name)
            module = getattr(value, "__module__", None) or "rushlight"
            kind = type(value).__name__
            if not (inspect.isclass(value) or inspect.isroutine(value) or kind == "operation"):
                continue
            if module.split(".")[0] != "rushlight" or id(value) in seen:
                continue
            if place == "Tensor" and doc_of(value) == doc_of(getattr(rushlight, name, None)):
                continue
            seen.add(id(value))
            yield place, name, value


def methods(value):
    """(name, function) of public methods that a class of Python defines and no base explains."""
    for base in value.__mro__:
        if not base.__module__.startswith("rushlight") or is_compiled(base):
            continue
        for member, function in vars(base).items():
            function = getattr(function, "__func__", function)
            if member[0] == "_" or not isinstance(function, types.FunctionType):
                continue
            above = [b for b in base.__mro__[1:] if member in vars(b)]
            if not any(doc_of(vars(b)[member]) for b in above):
                yield member, function


def method_lacks(owner, name, function):
    """A method's docstring mentions its parameters; forward's may be those of the class."""
    doc = doc_of(function)
    names = [p for p in parameters("", "", function) if p not in ("cls", "args", "kwargs")]
    if name == "forward":
        words = set(re.findall(r"\w+", doc + doc_of(owner)))
        left = [p for p in names if p not in words] if len(names) > 1 else []
    else:
        words = set(re.findall(r"\w+", doc))
        left = ["docstring"] if not doc else [p for p in names if p not in words]
    return left
