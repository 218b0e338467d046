"""The table of names that are importable without their function; docs/coverage.md shows it.

REASONS: word -> (why it is not there, what to do instead), the two lines of an error.
MODULES: modules that hold such names alone -> reason. NAMES: module -> rows of (kind, reason,
names), "" being torch; __init__.py says the kinds; an exception names its base in parentheses.
VALUES: module -> settings that programs read or set, without effect.
"""

from typing import Optional

REASONS = {
    "compiler": (
        "nothing is compiled, Python code runs as it is written",
        "call the function or module itself",
    ),
    "dispatch": (
        "operations are not dispatched to Python one by one",
        "torch.overrides.TorchFunctionMode sees the calls of functions and methods",
    ),
    "fake": (
        "there is no tracing with fake tensors",
        'device="meta" gives tensors with shape and dtype and without memory',
    ),
    "export": (
        "there is no exporter of graphs",
        "torch.save(model.state_dict(), path) keeps the weights, for PyTorch to export",
    ),
    "script": (
        "there is no TorchScript, models run in Python",
        "torch.save(model.state_dict(), path) keeps a model's weights",
    ),
    "complex": (
        "there is no arithmetic of complex numbers",
        "numpy.fft computes transforms of tensor.numpy()",
    ),
    "graphs": ("there are no CUDA graphs", "run the step without one: the results are the same"),
    "sparse": ("all tensors are dense", "use a dense tensor, or index_add and scatter_add"),
    "quantized": (
        "there are no quantized tensors",
        "float16 and bfloat16 halve the memory of float32",
    ),
    "pipes": (
        "torch has removed the functions of data pipes",
        "use an IterableDataset or a Dataset with a DataLoader",
    ),
    "flex": (
        "there is no compiler that could fuse a score function",
        "call scaled_dot_product_attention with a mask",
    ),
    "parallel": (
        "there is no tensor parallelism",
        "use fully_shard, or DistributedDataParallel",
    ),
    "rpc": (
        "processes do not call functions of each other",
        "use torch.distributed's collectives, or send and recv",
    ),
    "archives": ("files are read and written by Python code", "use torch.load and torch.save"),
    "package": ("there is no torch.package", "use torch.save and ordinary Python packages"),
    "vmap": (
        "torch.func works on tensors, not on levels of an interpreter",
        "use torch.func.vmap, grad and jacrev",
    ),
    "nodes": (
        "the nodes of the graph have no classes of their own",
        "ask type(tensor.grad_fn).__name__",
    ),
    "extensions": (
        "no libraries of compiled code are loaded",
        "torch.library registers operations written in Python",
    ),
    "logs": ("rushlight writes no log of its own", "use Python's module logging"),
    "dtypes": (
        "no tensor has that dtype",
        "float32, float16, bfloat16 and the integers int8 to int64 and uint8 are here",
    ),
    "kernels": ("it is a kernel of torch's own", "call the public operation of the same name"),
}

MODULES = {
    "_C._functions": "nodes",
    "_C._functorch": "vmap",
    "_C._dynamo": "compiler",
    "_C._dynamo.eval_frame": "compiler",
    "_C._jit": "script",
    "_dynamo._trace_wrapped_higher_order_op": "compiler",
    "_dynamo.config": "compiler",
    "_dynamo.exc": "compiler",
    "_dynamo.external_utils": "compiler",
    "_dynamo.utils": "compiler",
    "_dynamo.backends": "compiler",
    "_dynamo.backends.registry": "compiler",
    "_export": "export",
    "_functorch.aot_autograd": "compiler",
    "_functorch.config": "compiler",
    "_guards": "compiler",
    "_higher_order_ops": "compiler",
    "_inductor": "compiler",
    "_inductor.config": "compiler",
    "_inductor.cudagraph_trees": "compiler",
    "_inductor.test_operators": "compiler",
    "_inductor.utils": "compiler",
    "_inductor.virtualized": "compiler",
    "_logging": "logs",
    "_prims": "kernels",
    "_prims_common": "kernels",
    "_refs": "kernels",
    "_subclasses": "fake",
    "_subclasses.fake_tensor": "fake",
    "ao": "quantized",
    "ao.nn": "quantized",
    "ao.nn.quantizable": "quantized",
    "ao.nn.quantized": "quantized",
    "ao.quantization": "quantized",
    "classes": "extensions",
    "cuda.graphs": "graphs",
    "distributed._functional_collectives": "parallel",
    "distributed.checkpoint.hf_storage": "archives",
    "distributed.rpc": "rpc",
    "distributed.tensor._utils": "parallel",
    "distributed.tensor.parallel": "parallel",
    "distributed.rpc.api": "rpc",
    "export": "export",
    "export.dynamic_shapes": "export",
    "jit._script": "script",
    "jit.annotations": "script",
    "jit._trace": "script",
    "masked": "sparse",
    "monitor": "logs",
    "mtia": "extensions",
    "nested": "sparse",
    "nn.attention.flex_attention": "flex",
    "nn.quantized": "quantized",
    "onnx": "export",
    "onnx.utils": "export",
    "package": "package",
    "quantization": "quantized",
    "sparse": "sparse",
    "utils._python_dispatch": "dispatch",
    "utils.bundled_inputs": "script",
    "utils.data.datapipes": "pipes",
    "utils.data.datapipes.datapipe": "pipes",
    "utils.data.datapipes.iter": "pipes",
    "utils.data.datapipes.iter.combinatorics": "pipes",
    "utils.flop_counter": "dispatch",
    "utils.mkldnn": "script",
    "utils.mobile_optimizer": "script",
    "utils.throughput_benchmark": "script",
}

DECORATORS = (
    "allow_in_graph disallow_in_graph assume_constant_result disable forbid_in_graph "
    "dont_skip_tracing nonstrict_trace"
)

NAMES = {
    "": (
        ("class", "compiler", "SymInt SymFloat SymBool"),
        ("class", "export", "ScriptObject"),
        ("class", "script", "ScriptModule ScriptFunction"),
        ("class", "script", "TensorType"),
        ("class", "archives", "PyTorchFileReader PyTorchFileWriter"),
        ("layout", "sparse", "sparse_coo sparse_csr sparse_csc sparse_bsr sparse_bsc jagged"),
        ("layout", "sparse", "_mkldnn"),
        ("dtype", "dtypes", "qint8(1) quint8(1) qint32(4) quint4x2(1) quint2x4(1)"),
    ),
    "_C": (
        ("false", "vmap", "_are_functorch_transforms_active"),
        ("nothing", "script", "_jit_set_texpr_fuser_enabled _jit_override_can_fuse_on_gpu"),
        ("nothing", "script", "_jit_override_can_fuse_on_cpu"),
        ("class", "script", "Value ScriptModule ScriptFunction ScriptMethod Graph"),
        ("false", "compiler", "_get_tracing_state _is_tracing _jit_set_profiling_executor"),
        ("false", "compiler", "_jit_set_profiling_mode"),
        ("nothing", "logs", "_log_api_usage_metadata"),
    ),
    "_C._functorch": (
        ("false", "vmap", "is_batchedtensor is_gradtrackingtensor is_functionaltensor"),
        ("false", "vmap", "is_functorch_wrapped_tensor is_legacy_batchedtensor"),
        ("nothing", "vmap", "maybe_get_level peek_interpreter_stack"),
        ("raises", "vmap", "_add_batch_dim _remove_batch_dim get_unwrapped maybe_get_bdim"),
        ("raises", "vmap", "_vmap_increment_nesting _vmap_decrement_nesting get_interpreter_stack"),
        ("class", "vmap", "TransformType CInterpreter"),
    ),
    "_C._functions": (
        ("class", "nodes", "AccumulateGrad CopyBackwards CopySlices DelayedError Error"),
        ("class", "nodes", "UndefinedGrad"),
    ),
    "_dynamo": (
        ("identity", "compiler", f"{DECORATORS} run substitute_in_graph"),
        ("false", "compiler", "is_compiling is_dynamo_supported is_inductor_supported"),
        ("raises", "compiler", "explain export optimize optimize_assert register_backend"),
        ("raises", "compiler", "list_backends lookup_backend"),
        ("nothing", "compiler", "graph_break mark_dynamic mark_static mark_static_address"),
        ("nothing", "compiler", "maybe_mark_dynamic reset reset_code_caches"),
    ),
    "_dynamo._trace_wrapped_higher_order_op": (("class", "compiler", "TransformGetItemToIndex"),),
    "_dynamo.exc": (
        ("exception", "compiler", "TorchDynamoException(RuntimeError) Unsupported(RuntimeError)"),
        ("exception", "compiler", "BackendCompilerFailed(RuntimeError) UserError(RuntimeError)"),
    ),
    "_dynamo.external_utils": (("false", "compiler", "is_compiling"),),
    "_functorch.aot_autograd": (("raises", "compiler", "aot_function aot_module"),),
    "_functorch.vmap": (
        ("raises", "vmap", "_add_batch_dim _maybe_remove_batch_dim _broadcast_to_and_flatten"),
        ("raises", "vmap", "_get_name _remove_batch_dim"),
    ),
    "_guards": (("class", "compiler", "TracingContext"),),
    "_inductor.utils": (("raises", "compiler", "do_bench_using_profiling"),),
    "_logging": (("nothing", "logs", "set_logs"), ("raises", "logs", "getArtifactLogger")),
    "_ops": (("class", "dispatch", "OperatorBase HigherOrderOperator"),),
    "_subclasses": (
        ("class", "fake", "FakeTensor FakeTensorMode CrossRefFakeMode"),
        ("exception", "fake", "UnsupportedFakeTensorException(RuntimeError)"),
        ("exception", "fake", "DynamicOutputShapeException(RuntimeError)"),
    ),
    "_subclasses.fake_tensor": (
        ("class", "fake", "FakeTensor FakeTensorMode"),
        ("false", "fake", "is_fake"),
    ),
    "ao.nn.quantizable": (("class", "quantized", "LSTM MultiheadAttention"),),
    "ao.quantization": (
        ("class", "quantized", "QConfig QuantStub DeQuantStub QuantWrapper ObserverBase"),
        ("class", "quantized", "FakeQuantize FakeQuantizeBase HistogramObserver MinMaxObserver"),
        ("raises", "quantized", "convert prepare prepare_qat quantize quantize_dynamic"),
        ("raises", "quantized", "fuse_modules get_default_qconfig get_default_qat_qconfig"),
    ),
    "compiler": (
        ("identity", "compiler", "allow_in_graph assume_constant_result nested_compile_region"),
        ("identity", "compiler", "substitute_in_graph wrap_numpy"),
        ("nothing", "compiler", "cudagraph_mark_step_begin set_enable_guard_collectives"),
        ("raises", "compiler", "save_cache_artifacts load_cache_artifacts list_backends"),
        ("class", "compiler", "set_stance"),
    ),
    "classes": (("raises", "extensions", "load_library"),),
    "cuda": (
        ("class", "graphs", "CUDAGraph graph MemPool"),
        ("raises", "graphs", "make_graphed_callables graph_pool_handle"),
        ("false", "graphs", "is_current_stream_capturing _is_compiled"),
    ),
    "cuda.graphs": (
        ("class", "graphs", "CUDAGraph graph"),
        ("raises", "graphs", "make_graphed_callables graph_pool_handle"),
        ("false", "graphs", "is_current_stream_capturing"),
    ),
    "distributed.checkpoint.hf_storage": (
        ("class", "archives", "HuggingFaceStorageReader HuggingFaceStorageWriter"),
    ),
    "distributed.rpc": (
        ("class", "rpc", "RRef WorkerInfo BackendType RpcAgent TensorPipeRpcBackendOptions"),
        ("raises", "rpc", "init_rpc rpc_sync rpc_async remote shutdown get_worker_info"),
        ("false", "rpc", "is_available"),
    ),
    "distributed.rpc.api": (
        ("identity", "rpc", "_require_initialized"),
        ("raises", "rpc", "_all_gather _wait_all"),
    ),
    "distributed._functional_collectives": (
        ("class", "parallel", "AsyncCollectiveTensor"),
        ("raises", "parallel", "wait_tensor all_to_all_single_autograd all_gather_tensor"),
        ("raises", "parallel", "all_to_all_single reduce_scatter_tensor"),
    ),
    "distributed.tensor._utils": (("raises", "parallel", "compute_local_shape_and_global_offset"),),
    "distributed.tensor.parallel": (
        ("class", "parallel", "ParallelStyle ColwiseParallel RowwiseParallel SequenceParallel"),
        ("class", "parallel", "PrepareModuleInput PrepareModuleOutput"),
        ("raises", "parallel", "parallelize_module loss_parallel"),
    ),
    "distributed.tensor.placement_types": (("class", "parallel", "_StridedShard"),),
    "export": (
        ("class", "export", "ExportedProgram Dim ShapesCollection UnflattenedModule"),
        ("raises", "export", "export draft_export load save unflatten register_dataclass dims"),
    ),
    "fft": (
        (
            "raises",
            "complex",
            "fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 hfft2 ihfft2",
        ),
        ("raises", "complex", "fftn ifftn rfftn irfftn hfftn ihfftn"),
    ),
    "fx.experimental.proxy_tensor": (
        ("nothing", "dispatch", "get_proxy_mode"),
        ("class", "dispatch", "ProxyTorchDispatchMode"),
    ),
    "jit": (
        ("class", "script", "ScriptModule RecursiveScriptModule ScriptFunction TracedModule"),
        ("class", "script", "TopLevelTracedModule CompilationUnit Attribute"),
        ("exception", "script", "TracerWarning(Warning) ScriptWarning(Warning)"),
        ("exception", "script", "TracingCheckError(Exception) Error(RuntimeError)"),
        ("identity", "script", "_overload _overload_method _script_if_tracing interface"),
        ("identity", "script", "script_if_tracing script_method freeze optimize_for_inference"),
        ("raises", "script", "load save fork wait trace_module"),
        ("nothing", "script", "enable_onednn_fusion set_fusion_strategy"),
        ("false", "script", "onednn_fusion_enabled"),
    ),
    "jit._script": (("class", "script", "ScriptModule RecursiveScriptModule ScriptFunction"),),
    "jit._trace": (
        ("class", "script", "TopLevelTracedModule TracedModule"),
        ("nothing", "script", "_trace_module_map"),
    ),
    "library": (("raises", "dispatch", "get_ctx opcheck triton_op wrap_triton"),),
    "masked": (("class", "sparse", "MaskedTensor"), ("raises", "sparse", "masked_tensor")),
    "nested": (
        ("raises", "sparse", "nested_tensor nested_tensor_from_jagged as_nested_tensor"),
        ("raises", "sparse", "to_padded_tensor"),
    ),
    "monitor": (
        ("class", "logs", "Event Stat Aggregation EventHandlerHandle TensorboardEventHandler"),
        ("class", "logs", "data_value_t"),
        ("nothing", "logs", "log_event unregister_event_handler"),
        ("raises", "logs", "register_event_handler"),
    ),
    "mtia": (
        ("false", "extensions", "is_available is_initialized"),
        ("nothing", "extensions", "empty_cache synchronize manual_seed manual_seed_all"),
        ("raises", "extensions", "current_device set_device current_stream"),
    ),
    "nn.attention.flex_attention": (
        ("class", "flex", "BlockMask AuxOutput AuxRequest"),
        ("raises", "flex", "flex_attention create_block_mask create_mask and_masks or_masks"),
        ("raises", "flex", "noop_mask"),
    ),
    "onnx": (
        ("class", "export", "ONNXProgram OperatorExportTypes TrainingMode"),
        ("exception", "export", "OnnxExporterError(RuntimeError)"),
        ("false", "export", "is_in_onnx_export"),
        ("raises", "export", "export register_custom_op_symbolic"),
    ),
    "onnx.utils": (("raises", "export", "export"),),
    "package": (
        ("class", "package", "PackageImporter PackageExporter Directory"),
        ("false", "package", "is_from_package"),
    ),
    "sparse": (
        ("raises", "sparse", "mm addmm sampled_addmm spdiags softmax log_softmax sum"),
        ("raises", "sparse", "to_sparse_semi_structured"),
        ("class", "sparse", "SparseSemiStructuredTensor"),
    ),
    "utils._python_dispatch": (
        ("class", "dispatch", "TorchDispatchMode"),
        ("false", "dispatch", "is_traceable_wrapper_subclass _get_current_dispatch_mode"),
    ),
    "utils.bundled_inputs": (("raises", "script", "bundle_inputs"),),
    "utils.data.datapipes.datapipe": (("class", "pipes", "IterDataPipe MapDataPipe DataChunk"),),
    "utils.data.datapipes.iter.combinatorics": (
        ("class", "pipes", "SamplerIterDataPipe ShufflerIterDataPipe"),
    ),
    "utils.flop_counter": (
        ("class", "dispatch", "FlopCounterMode"),
        ("raises", "dispatch", "register_flop_formula"),
    ),
    "utils.mkldnn": (("raises", "script", "to_mkldnn"),),
    "utils.mobile_optimizer": (("raises", "script", "optimize_for_mobile"),),
    "utils.throughput_benchmark": (("class", "script", "ThroughputBenchmark"),),
}
NAMES["quantization"] = NAMES["ao.quantization"]

VALUES: dict[str, dict] = {
    "nn.attention.flex_attention": {"_DEFAULT_SPARSE_BLOCK_SIZE": 128},
    "jit.annotations": {"List": list, "Tuple": tuple, "Dict": dict, "Optional": Optional},
    "_dynamo.config": {
        "allow_unspec_int_on_nn_module": False, "cache_size_limit": 8, "recompile_limit": 8,
        "suppress_errors": False, "verbose": False,
    },
    "_inductor.config": {"coordinate_descent_tuning": False, "fallback_random": False},
}  # fmt: skip
