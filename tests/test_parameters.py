"""Every parameter does something: no argument of a public function is accepted and ignored."""

import ast
import pathlib
import re

import pytest

import rushlight as torch
from tests.conftest import ask

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python/rushlight"

# "module:function(parameter)" of what a body does not read, by the reason.
UNREAD = {
    "hints: how fast or in which order something is done, with the same results": (
        "__init__:sdpa_kernel(set_priority) "
        "checkpoint:create_selective_checkpoint_contexts(allow_cache_entry_mutation) "
        "flex_attention:flex_attention(kernel_options) "
        "clip_grad:clip_grad_norm_(foreach) clip_grad:clip_grad_value_(foreach) "
        "clip_grad:clip_grads_with_norm_(foreach) clip_grad:get_total_norm(foreach) "
        "jit:optimized_execution(should_optimize) "
        "comm:broadcast_coalesced(buffer_size) comm:reduce_add_coalesced(buffer_size) "
        "streams:Event.__init__(blocking) profiler:profile.__init__(use_kineto) "
        "_objects:recv_object_list(use_batch) _objects:send_object_list(use_batch)"
    ),
    "options of torch's iteration, where the result is exact": (
        "extremes:lobpcg(iK) extremes:lobpcg(method) extremes:lobpcg(niter) "
        "extremes:lobpcg(ortho_bparams) extremes:lobpcg(ortho_fparams) "
        "extremes:lobpcg(ortho_iparams) extremes:lobpcg(tol) extremes:lobpcg(tracker)"
    ),
    "options of torch's own backends": (
        "_world:init_process_group(pg_options) _world:new_group(pg_options)"
    ),
    "hints of torch.distributed, whose docstrings say what is always done": (
        "_api:DTensor.from_local(run_check) _api:DTensor.from_local(stride) "
        "_api:DTensor.redistribute(async_op) "
        "_fully_shard:FSDPModule.set_is_last_backward(is_last_backward) "
        "distributed:DistributedDataParallel.__init__(batched_grad_copy) "
        "distributed:DistributedDataParallel.__init__(skip_all_reduce_unused_params) "
        "filesystem:FileSystemWriter.__init__(cache_staged_state_dict) "
        "filesystem:FileSystemWriter.__init__(per_thread_copy_ahead) "
        "filesystem:FileSystemWriter.__init__(sync_files) "
        "filesystem:FileSystemWriter.__init__(thread_count) "
        "fully_sharded_data_parallel:FullyShardedDataParallel.__init__(backward_prefetch) "
        "fully_sharded_data_parallel:FullyShardedDataParallel.__init__(forward_prefetch) "
        "fully_sharded_data_parallel:FullyShardedDataParallel.__init__(limit_all_gathers) "
        "fully_sharded_data_parallel:FullyShardedDataParallel.__init__(use_orig_params) "
        "fully_sharded_data_parallel:FullyShardedDataParallel.summon_full_params(rank0_only) "
        "powerSGD_hook:PowerSGDState.__init__(compression_stats_logging_frequency) "
        "state_dict_loader:load_state_dict(coordinator_rank) "
        "state_dict_saver:async_save(use_collectives) state_dict_saver:save(use_collectives) "
        "state_dict_saver:save_state_dict(coordinator_rank)"
    ),
    "placements of gradients, dtypes and groups that are always the tensor's or model's own": (
        "_api:DTensor.full_tensor(grad_placements) _api:DTensor.to_local(grad_placements) "
        "fully_sharded_data_parallel:FullyShardedDataParallel.optim_state_dict(group) "
        "fully_sharded_data_parallel:FullyShardedDataParallel.optim_state_dict_to_load(group) "
        "fully_sharded_data_parallel:FullyShardedDataParallel.optim_state_dict_to_load("
        "is_named_optimizer)"
    ),
    "of one contract: an engine, a policy or a hook reads what it needs": (
        "_nccl:Engine.overdue(seconds) _nccl:Engine.submit(kind) _nccl:Engine.submit(tag) "
        "join:JoinHook.post_hook(is_last_joiner) join:Joinable.join_hook(kwargs) "
        "averagers:ModelAverager.average_parameters(params) "
        "feature_pyramid_network:LastLevelMaxPool.forward(y) "
        "stateful:Stateful.load_state_dict(state_dict) wrap:CustomPolicy.__call__(args) "
        "overrides:redispatch_function(types) "
        "wrap:CustomPolicy.__call__(kwargs) wrap:ModuleWrapPolicy.__call__(args) "
        "wrap:ModuleWrapPolicy.__call__(kwargs) wrap:always_wrap_policy(args) "
        "wrap:always_wrap_policy(kwargs) wrap:lambda_auto_wrap_policy(nonwrapped_numel) "
        "wrap:transformer_auto_wrap_policy(nonwrapped_numel) "
        "zero_redundancy_optimizer:ZeroRedundancyOptimizer.join_hook(kwargs)"
    ),
    "of a base class, whose all_to_all reads it": "_work:Call.fits(rank)",
    "all ranks that are missing are named in either case": (
        "_collectives:monitored_barrier(wait_all_ranks)"
    ),
    "there are no traces of allocations": ("_snapshot:memory_snapshot(include_traces)"),
    "one profile has one cycle, whose events are all there": (
        "profiler:profile.__init__(acc_events)"
    ),
    "for a compiler, which is not there": (
        "compiler:compile(dynamic) compiler:compile(fullgraph) "
        "compiler:compile(isolate_recompiles) compiler:compile(name) "
        "compiler:compile(recompile_limit) compiler:compile(shapes_spec) "
        "compiler:set_stance.__init__(skip_guard_eval_unsafe) "
        "compiler:disable(reason) compiler:disable(recursive) "
        "compiler:list_backends(exclude_tags) jit:annotate(the_type) "
        "jit:ignore(kwargs) jit:script(example_inputs) jit:trace(options) jit:trace_module(options)"
    ),
    "the parts of sparse tensors are always checked": (
        "compressed:sparse_csc_tensor(check_invariants) "
        "compressed:sparse_csr_tensor(check_invariants) "
        "construction:sparse_coo_tensor(check_invariants)"
    ),
    "of devices that are not here, and of sparse tensors": (
        "_tensor_memory:to_dense(masked_grad) gradcheck:gradcheck(masked) "
        "mps:is_macos_or_newer(major) mps:is_macos_or_newer(minor) "
        "mps:manual_seed(seed)"
    ),
    "text for NVIDIA's profilers, to which nothing is sent": (
        "nvtx:mark(msg) nvtx:range_push(msg)"
    ),
    'of source="github", which raises NotImplementedError': (
        "hub:help(force_reload) hub:help(skip_validation) hub:help(trust_repo) "
        "hub:list(force_reload) hub:list(skip_validation) hub:list(trust_repo) hub:list(verbose) "
        "hub:load(force_reload) hub:load(skip_validation) hub:load(trust_repo) hub:load(verbose)"
    ),
    "not used by torch either": (
        "distributed:DistributedDataParallel.__init__(check_reduction) "
        "_profile:tensorboard_trace_handler(use_python_export) "
        "linear:Identity.__init__(args) linear:Identity.__init__(kwargs) "
        "flop_counter:FlopCounterMode.__init__(mods) sampler:Sampler.__init__(data_source)"
    ),
    "of torch.fx: how text is coloured or annotated, types that decide between overloads, hints": (
        "_codegen:CodeGen.generate_output(descs) "
        "_compatibility:compatibility(is_backward_compatible) "
        "_pytree:register_pytree_flatten_spec(flatten_fn_exact_match_spec) "
        "graph:Graph.find_nodes(sort) graph:Graph.python_code(kwargs) "
        "graph_module:GraphModule.print_readable(additional_meta) "
        "graph_module:GraphModule.print_readable(colored) "
        "graph_module:GraphModule.print_readable(expanded_def) "
        "graph_module:GraphModule.print_readable(fast_sympy_print) "
        "graph_module:GraphModule.print_readable(include_device) "
        "graph_module:GraphModule.print_readable(include_stride) "
        "node:Node.format_node(include_tensor_metadata) node:Node.format_node(placeholder_names) "
        "operator_schemas:normalize_function(arg_types) "
        "operator_schemas:normalize_function(kwarg_types) "
        "shape_prop:ShapeProp.__init__(fake_mode) split_module:split_module(root_m) "
        "traceback:set_current_meta(pass_name)"
    ),
    "of one contract of torch.fx, whose methods subclasses replace": (
        "_symbolic_trace:Tracer.getattr(attr) "
        "_symbolic_trace:Tracer.is_leaf_module(module_qualified_name) "
        "graph_module:GraphModule.__new__(args) graph_module:GraphModule.__new__(kwargs) "
        "interpreter:Interpreter.get_attr(args) interpreter:Interpreter.get_attr(kwargs) "
        "interpreter:Interpreter.output(kwargs) interpreter:Interpreter.output(target) "
        "interpreter:Interpreter.placeholder(kwargs) interpreter:Transformer.placeholder(kwargs)"
    ),
    "of torch.library: hints for a compiler, and how long an operation lives, which is always the "
    "process's time": (
        "library:Library.define(alias_analysis) library:Library.define(tags) "
        "library:Library.impl(allow_override) library:Library.impl(with_keyset) "
        "library:custom_op(tags) library:define(lib) library:define(tags) library:impl(lib) "
        "library:impl_abstract(lib) library:register_autograd(lib) "
        "library:register_fake(allow_override) library:register_fake(lib) "
        "library:register_kernel(lib) library:register_vmap(lib)"
    ),
    "of specs as text, which are not there": (
        "_pytree:register_dataclass(serialized_type_name) "
        "_pytree:register_pytree_node(from_dumpable_context) "
        "_pytree:register_pytree_node(serialized_type_name) "
        "_pytree:register_pytree_node(to_dumpable_context)"
    ),
    "a CPU is one device, whose work is done when a call returns": (
        "__init__:Event.record(stream) __init__:Event.wait(stream) "
        "__init__:Stream.__init__(priority) __init__:Stream.wait_event(event) "
        "__init__:Stream.wait_stream(stream) "
        "__init__:current_stream(device) __init__:set_device(device) __init__:synchronize(device)"
    ),
    "a mask that holds everywhere reads no position": (
        "_mask_functions:noop_mask(head) _mask_functions:noop_mask(token_kv) "
        "_mask_functions:noop_mask(token_q)"
    ),
    "cuDNN serves where it is found": "_losses:instance_norm(cudnn_enabled)",
    "a forward pass draws any graph": "writer:SummaryWriter.add_graph(use_strict_trace)",
    "of one contract of transforms.v2, whose methods subclasses replace": (
        "__init__:GaussianNoise.transform(params) __init__:Identity.transform(params) "
        "__init__:JPEG.make_params(flat_inputs) __init__:RGB.transform(params) "
        "__init__:ToDtype.transform(params) __init__:ToImage.transform(params) "
        "__init__:ToPureTensor.transform(params) "
        "__init__:UniformTemporalSubsample.transform(params) "
        "_boxes_of_samples:ClampBoundingBoxes.transform(params) "
        "_boxes_of_samples:ClampKeyPoints.transform(params) "
        "_boxes_of_samples:ConvertBoundingBoxFormat.transform(params) "
        "_boxes_of_samples:SetClampingMode.transform(params) _crops:FiveCrop.transform(params) "
        "_crops:TenCrop.transform(params) _geometry:RandomResize.make_params(flat_inputs) "
        "_geometry:CenterCrop.transform(params) _geometry:Pad.transform(params) "
        "_geometry:RandomHorizontalFlip.transform(params) "
        "_geometry:RandomRotation.make_params(flat_inputs) "
        "_geometry:RandomVerticalFlip.transform(params) "
        "_geometry:Resize.transform(params) _mixing:MixUp.make_params(flat_inputs) "
        "_transform:Transform.check_inputs(flat_inputs) "
        "_transform:Transform.make_params(flat_inputs) "
        "_warps:GaussianBlur.make_params(flat_inputs)"
    ),
    "of images: boxes have no pixels to fill or to interpolate": (
        "_boxes:affine(fill) _boxes:affine(interpolation) _boxes:perspective(fill) "
        "_boxes:elastic(fill) _boxes:elastic(interpolation) "
        "_boxes:perspective(interpolation) _boxes:pad(fill) _boxes:resize(antialias) "
        "_boxes:resize(interpolation) "
        "_boxes:resized_crop(antialias) _boxes:resized_crop(interpolation) "
        "_boxes:rotate(fill) _boxes:rotate(interpolation)"
    ),
    "all convolutions of VideoResNet are made alike": (
        "resnet:Conv3DNoTemporal.__init__(midplanes) resnet:Conv3DSimple.__init__(midplanes)"
    ),
    "a formula has its operation's arguments, of which it counts some": (
        "_flop_formulas:addmm(input) _flop_formulas:addmm(out) "
        "_flop_formulas:attention(attn_mask) _flop_formulas:attention(out) "
        "_flop_formulas:baddbmm(input) _flop_formulas:baddbmm(out) "
        "_flop_formulas:bmm(out) _flop_formulas:einsum(out) _flop_formulas:linear(out) "
        "_flop_formulas:mm(out) _flop_formulas:multi_head_attention(add_zero_attn) "
        "_flop_formulas:multi_head_attention(bias_k) "
        "_flop_formulas:multi_head_attention(bias_v) "
        "_flop_formulas:multi_head_attention(key_padding_mask) "
        "_flop_formulas:multi_head_attention(num_heads) "
        "_flop_formulas:multi_head_attention(out)"
    ),
    "a compiler's, which there is none of": (
        "compile:aot_module(args) compile:aot_module(kwargs) compile:ts_compile(inps) "
        "compile:memory_efficient_fusion(kwargs) _opcheck:opcheck(atol) _opcheck:opcheck(rtol)"
    ),
    "of one contract of detectors: levels of unlike sizes matter to some": (
        "retinanet:RetinaNet.compute_loss(sizes) ssd:SSD.compute_loss(sizes) "
        "ssd:SSD.postprocess_detections(sizes)"
    ),
    "a protocol, or a method that others of its class need it for": (
        "_conv_base:LazyConv.initialize_parameters(args) "
        "_conv_base:LazyConv.initialize_parameters(kwargs) _grad_mode:no_grad.__init__(orig_func) "
        "_pruning:BasePruningMethod.__call__(inputs) "
        "_pruning:BasePruningMethod.compute_mask(default_mask) "
        "_pruning:BasePruningMethod.compute_mask(t) _pruning:CustomFromMask.compute_mask(t) "
        "_pruning:Identity.compute_mask(t) _tensor:reduce_parameter(protocol) "
        "_tensor:reduce_tensor(protocol) "
        "_transform_base:ComposeTransform.log_abs_det_jacobian(y) "
        "_matrix_transforms:CumulativeDistributionTransform.log_abs_det_jacobian(y) "
        "_vector_transforms:ReshapeTransform.log_abs_det_jacobian(y) "
        "collate:collate_float_fn(collate_fn_map) collate:collate_int_fn(collate_fn_map) "
        "collate:collate_numpy_scalar_fn(collate_fn_map) collate:collate_str_fn(collate_fn_map) "
        "collate:collate_tensor_fn(collate_fn_map) extension:load_ipython_extension(shell) "
        "extension:unload_ipython_extension(shell) fetch:MapFetcher.__init__(drop_last) "
        "spectral_norm:SpectralNorm.__call__(inputs) "
        "transforms:AffineTransform.log_abs_det_jacobian(y) "
        "transforms:ExpTransform.log_abs_det_jacobian(y) "
        "transforms:SigmoidTransform.log_abs_det_jacobian(y) "
        "transforms:SoftplusTransform.log_abs_det_jacobian(y) "
        "transforms:TanhTransform.log_abs_det_jacobian(y) weight_norm:WeightNorm.__call__(inputs)"
    ),
}


def public_functions(body, owner=""):
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node.body, f"{owner}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            if not node.name.startswith("_") or node.name in ("__init__", "__new__", "__call__"):
                yield f"{owner}{node.name}", node
        elif isinstance(node, ast.If | ast.Try | ast.With):
            yield from public_functions(node.body + getattr(node, "orelse", []), owner)


def unread(node):
    """The parameters that the body never loads; none of a function that can only raise."""
    if isinstance(node.body[-1], ast.Raise):
        return []
    parts = node.args
    named = [*parts.posonlyargs, *parts.args, *parts.kwonlyargs, parts.vararg, parts.kwarg]
    names = [p.arg for p in named if p and p.arg not in ("self", "cls")]
    loads = [n for statement in node.body for n in ast.walk(statement) if isinstance(n, ast.Name)]
    read = {n.id for n in loads if isinstance(n.ctx, ast.Load)}
    return [name for name in names if name not in read and not name.startswith("_")]


def decorators(node):
    return [ast.unparse(d) for d in node.decorator_list]


def test_every_parameter_of_python_is_read():
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for name, node in public_functions(ast.parse(path.read_text()).body):
            # A rule of vmap() is called with its level and the function of the call.
            given = {"level", "func"} if path.parent.name == "rules" else set()
            # Those of sparse tensors have the parameters of their operations.
            if path.parent.name == "_sparse" and any("rule(" in d for d in decorators(node)):
                continue
            found |= {f"{path.stem}:{name}({p})" for p in unread(node) if p not in given}
    known = set(" ".join(UNREAD.values()).split())
    assert found == known, f"read it, refuse it, or say why: {sorted(found ^ known)}"


# The functions of rows in C++ that leave a parameter without a name, by the reason.
UNNAMED = {
    "the only layout there is": "arange_range range_op empty_op empty_like_op full_like_op full_op "
    "constant_like new_empty new_full new_constant linspace_op logspace_op eye_op zeros_op ones_op "
    "scalar_tensor_op empty_strided_op rand_op randn_op randint_range randperm_op rand_like_op "
    "randn_like_op randint_like_range normal_size indices_op",
    "hints: assume_unique, sorted, cudnn_enabled, and implicit, which is TorchScript's": (
        "isin_tensors isin_number isin_among_number unique_op batch layer group expand_method"
    ),
    "whether indices are returned, which the caller of the binding decides": (
        "adaptive_max_of fractional_of max_indices_of"
    ),
}


def test_every_parameter_of_rows_is_named():
    types = r"bool|Truth|double|std::int64_t|py::handle|\w*Layout|\w*Format|std::optional<[\w:]+>"
    found = set()
    for path in (ROOT / "csrc/bindings/rows").glob("*.cpp"):
        for name, inside in re.findall(r"^\w.*?(\w+)\(([^;{]*)\) \{", path.read_text(), re.M):
            if any(re.fullmatch(types, part.strip()) for part in inside.split(",")):
                found.add(name)
    known = set(" ".join(UNNAMED.values()).split())
    assert found == known, f"use it, refuse it, or say why: {sorted(found ^ known)}"


def strides(call):
    return lambda t: call(t).stride()


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.empty((2, 3, 4, 5), memory_format=t.channels_last),
        lambda t: t.empty((2, 3, 4, 5, 6), memory_format=t.channels_last_3d),
        lambda t: t.empty((2, 3), memory_format=t.contiguous_format),
        lambda t: t.empty_like(t.ones(2, 3).t(), memory_format=t.preserve_format),
        lambda t: t.ones_like(t.ones(2, 3).t(), memory_format=t.contiguous_format),
        lambda t: t.zeros_like(t.ones(2, 3, 4, 5), memory_format=t.channels_last),
        lambda t: t.full_like(t.ones(2, 3, 0, 5), 1, memory_format=t.channels_last),
        lambda t: t.rand_like(t.ones(2, 3, 4, 5), memory_format=t.channels_last),
        lambda t: t.randn_like(t.ones(2, 3).t(), memory_format=t.contiguous_format),
        lambda t: t.randint_like(t.ones(1, 2, 3, 4, 5), 3, memory_format=t.channels_last_3d),
    ],
)
def test_memory_format(call):
    assert strides(call)(torch) == ask(strides(call))


WRONG = [
    lambda t: t.zeros(2, layout=5),
    lambda t: t.ones(2).new_ones(2, layout="strided"),
    lambda t: t.zeros_like(t.ones(2), memory_format=t.strided),
    lambda t: t.empty((2, 3), memory_format=t.channels_last),
    lambda t: t.zeros_like(t.ones(2, 3), memory_format=t.channels_last_3d),
    lambda t: t.empty((2, 3), memory_format=t.preserve_format),
    lambda t: t.empty((2, 3), memory_format=t.contiguous_format, out=t.empty(2, 3)),
    lambda t: t.set_num_interop_threads(0),
    lambda t: t.set_num_interop_threads("many"),
    lambda t: t.func.jacrev(t.sin, chunk_size=0),
    lambda t: t.func.jacfwd(t.sin, randomness="none")(t.ones(2)),
    lambda t: t.compile(t.sin, mode="default", options={"debug": True}),
    lambda t: t.compile(t.sin, mode="fast"),
]


@pytest.mark.parametrize("call", WRONG)
def test_refused_as_torch_does(call):
    def refused(t):
        with pytest.raises((RuntimeError, TypeError, ValueError)) as caught:
            call(t)
        return caught.type.__name__, str(caught.value).splitlines()[0]

    kind, words = refused(torch)
    assert (kind, words.replace("rushlight._C.", "torch.")) == ask(refused)


def test_what_draws_is_refused_by_jacfwd():
    noisy = lambda x: x * torch.rand(2)  # noqa: E731
    with pytest.raises(RuntimeError, match="randomness error mode"):
        torch.func.jacfwd(noisy)(torch.ones(2))
    assert torch.func.jacfwd(noisy, randomness="same")(torch.ones(2)).shape == (2, 2)
    with pytest.raises(NotImplementedError, match="different"):
        torch.func.jacfwd(noisy, randomness="different")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("level", [0, 1, -1])
def test_levels_of_dual_tensors(level):
    def tangent(t):
        fw = t.autograd.forward_ad
        with fw.dual_level():
            try:
                return fw.unpack_dual(fw.make_dual(t.ones(2), t.ones(2), level=level)).tangent[0]
            except RuntimeError as error:
                return str(error)

    assert str(tangent(torch)) == ask(lambda t: str(tangent(t)))


@pytest.mark.parametrize(
    "call",
    [
        lambda t, x: t.autograd.grad(x.sum(), x, only_inputs=False),
        lambda t, x: t.autograd.Variable(x, volatile=True),
        lambda t, x: t.nn.functional.gumbel_softmax(x, eps=1.0),
    ],
)
def test_deprecated_arguments_warn(call):
    def warning(t):
        with pytest.warns(match="deprecated|volatile") as caught:
            call(t, t.ones(2, requires_grad=True))
        return caught[0].category.__name__, str(caught[0].message)

    assert warning(torch) == ask(warning)


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.cuda.Event(interprocess=True),
        lambda: torch.compile(backend=lambda graph, inputs: graph),
        lambda: torch.profiler.profile(execution_trace_observer=object()),
        lambda: torch.autograd.profiler.profile(experimental_config=object()),
    ],
)
def test_what_cannot_work_is_refused(call):
    with pytest.raises(NotImplementedError):
        call()


def test_nccl_takes_no_streams():
    with torch.cuda.virtual(2):
        parts = [torch.ones(2, device=i) for i in range(2)]
        with pytest.raises(NotImplementedError, match="streams"):
            torch.cuda.nccl.all_reduce(parts, streams=[None])


def test_interop_threads_are_remembered():
    before = torch.get_num_interop_threads()
    torch.set_num_interop_threads(3)
    assert torch.get_num_interop_threads() == 3
    torch.set_num_interop_threads(before)


def test_profiles_accumulate_cycles():
    plan = torch.profiler.schedule(wait=0, warmup=1, active=1, repeat=2)
    counts = {}
    for accumulate in (False, True):
        with torch.profiler.profile(schedule=plan, acc_events=accumulate) as profile:
            for _ in range(4):
                torch.ones(2).exp()
                profile.step()
        counts[accumulate] = sum(e.name == "aten::exp" for e in profile.events())
    assert counts == {False: 1, True: 2}


def test_times_in_one_unit():
    with torch.autograd.profiler.profile() as profile:
        torch.ones(2).exp()
    table = profile.function_events.table(time_unit="ms")
    assert "us" not in re.findall(r"\d([mu]?s)\b", table)
    assert "ms" in re.findall(r"\d([mu]?s)\b", table)


def test_best_times_of_rows_and_columns():
    bench = torch.utils.benchmark
    measured = [
        bench.Measurement(1, [time * 1e-6], label="ops", sub_label=size, description=name)
        for size, name, time in [("4", "add", 1.0), ("4", "mul", 2.0), ("8", "add", 4.0),
                                 ("8", "mul", 3.0)]
    ]  # fmt: skip
    marked = {}
    for rowwise in (False, True):
        table = bench.Compare(measured)
        table.colorize(rowwise)
        marked[rowwise] = re.findall(r"\[1m\s*([\d.]+)", str(table))
    assert marked == {False: ["1.0", "2.0"], True: ["1.0", "3.0"]}


def test_downloads_are_silent_when_asked(tmp_path, capsys):
    (tmp_path / "weights").write_bytes(b"abc")
    url = (tmp_path / "weights").as_uri()
    torch.hub.download_url_to_file(url, str(tmp_path / "quiet"), progress=False)
    assert not capsys.readouterr().err
    torch.hub.download_url_to_file(url, str(tmp_path / "shown"))
    assert "shown" in capsys.readouterr().err
