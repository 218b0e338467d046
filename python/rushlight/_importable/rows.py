"""The table of names that are importable without their function; docs/coverage.md shows it.

NAMES: module -> rows of (kind, word of reasons.py, names), "" being torch; __init__.py says the
kinds; an exception names its base in parentheses. VALUES: module -> settings that programs read or
set, without effect.
"""

from typing import Optional

from rushlight._absent_methods import OF_BLOCKS, OF_DISPATCH, OF_NESTED

DECORATORS = (
    "allow_in_graph disallow_in_graph assume_constant_result disable forbid_in_graph "
    "dont_skip_tracing nonstrict_trace"
)

NAMES = {
    "": (
        ("class", "compiler", "SymInt SymFloat SymBool"),
        ("class", "export", "ScriptObject"),
        ("class", "script", "ScriptModule ScriptFunction"),
        ("class", "script", "TensorType DeviceObjType"),
        ("class", "archives", "PyTorchFileReader PyTorchFileWriter"),
        ("layout", "nested", "jagged"),
        ("layout", "sparse", "_mkldnn"),
        ("raises", "sparse", "sparse_bsr_tensor sparse_bsc_tensor"),
        ("raises", "sparse", "ccol_indices_copy col_indices_copy crow_indices_copy"),
        ("raises", "sparse", "indices_copy row_indices_copy values_copy _sparse_sum"),
        ("dtype", "dtypes", "qint8(1) quint8(1) qint32(4) quint4x2(1) quint2x4(1)"),
        ("dtype", "dtypes", "uint1(1) uint2(1) uint3(1) uint4(1) uint5(1) uint6(1) uint7(1)"),
        ("dtype", "dtypes", "int1(1) int2(1) int3(1) int4(1) int5(1) int6(1) int7(1)"),
        ("raises", "quantized", "quantize_per_tensor quantize_per_channel"),
    ),
    "Tensor": (
        ("raises", "sparse", OF_BLOCKS),
        ("raises", "nested", OF_NESTED),
        ("raises", "dispatch", OF_DISPATCH),
    ),
    "_C": (
        ("false", "vmap", "_are_functorch_transforms_active"),
        ("nothing", "script", "_jit_set_texpr_fuser_enabled _jit_override_can_fuse_on_gpu"),
        ("nothing", "script", "_jit_override_can_fuse_on_cpu"),
        ("class", "script", "Value ScriptModule ScriptFunction ScriptMethod Graph"),
        ("false", "compiler", "_get_tracing_state _is_tracing _jit_set_profiling_executor"),
        ("false", "compiler", "_jit_set_profiling_mode _jit_set_autocast_mode"),
        ("nothing", "logs", "_log_api_usage_metadata"),
        ("nothing", "script", "_jit_set_nvfuser_enabled _jit_set_nvfuser_guard_mode"),
        ("false", "script", "_jit_can_fuse_on_cpu _jit_can_fuse_on_gpu"),
        ("class", "dispatch", "DispatchKey DispatchKeySet _ExcludeDispatchKeyGuard"),
        ("nothing", "dispatch", "_current_autograd_node"),
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
    "_decomp": (
        ("raises", "compiler", "core_aten_decompositions get_decompositions"),
        ("raises", "compiler", "register_decomposition remove_decompositions"),
    ),
    "_dynamo": (
        ("identity", "compiler", f"{DECORATORS} run substitute_in_graph"),
        ("false", "compiler", "is_compiling is_dynamo_supported is_inductor_supported"),
        ("raises", "compiler", "explain export optimize optimize_assert register_backend"),
        ("raises", "compiler", "lookup_backend"),
        ("nothing", "compiler", "graph_break mark_dynamic mark_static mark_static_address"),
        ("nothing", "compiler", "maybe_mark_dynamic reset reset_code_caches"),
    ),
    "_dynamo._trace_wrapped_higher_order_op": (("class", "compiler", "TransformGetItemToIndex"),),
    "_dynamo.exc": (
        ("exception", "compiler", "TorchDynamoException(RuntimeError) Unsupported(RuntimeError)"),
        ("exception", "compiler", "BackendCompilerFailed(RuntimeError) UserError(RuntimeError)"),
        (
            "exception",
            "compiler",
            "TorchRuntimeError(RuntimeError) InternalTorchDynamoError(RuntimeError)",
        ),
        ("exception", "compiler", "TensorifyScalarRestartAnalysis(RuntimeError)"),
    ),
    "_dynamo.external_utils": (("false", "compiler", "is_compiling"),),
    "_functorch.aot_autograd": (("raises", "compiler", "aot_function aot_module"),),
    "_functorch.vmap": (
        ("raises", "vmap", "_add_batch_dim _maybe_remove_batch_dim _broadcast_to_and_flatten"),
        ("raises", "vmap", "_get_name _remove_batch_dim"),
    ),
    "_guards": (
        ("class", "compiler", "TracingContext"),
        ("nothing", "compiler", "active_fake_mode detect_fake_mode"),
    ),
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
        ("raises", "fake", "unset_fake_temporarily"),
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
        ("raises", "compiler", "save_cache_artifacts load_cache_artifacts"),
        ("raises", "compiler", "load_compiled_function"),
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
    "distributed.elastic.multiprocessing.errors": (
        ("identity", "elastic", "record"),
        ("exception", "elastic", "ChildFailedError(Exception)"),
    ),
    "distributed.fsdp.sharded_grad_scaler": (("class", "parallel", "ShardedGradScaler"),),
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
    "fx.experimental.proxy_tensor": (
        ("nothing", "dispatch", "get_proxy_mode"),
        ("class", "dispatch", "ProxyTorchDispatchMode"),
    ),
    "fx.passes.infra.pass_base": (("class", "export", "PassResult PassBase"),),
    "jit": (
        ("class", "script", "RecursiveScriptModule ScriptFunction TracedModule"),
        ("class", "script", "TopLevelTracedModule CompilationUnit Attribute"),
        ("exception", "script", "TracerWarning(Warning) ScriptWarning(Warning)"),
        ("exception", "script", "TracingCheckError(Exception) Error(RuntimeError)"),
        ("identity", "script", "_overload _overload_method _script_if_tracing interface"),
        ("identity", "script", "script_if_tracing script_method freeze optimize_for_inference"),
        ("nothing", "script", "enable_onednn_fusion set_fusion_strategy"),
        ("false", "script", "onednn_fusion_enabled"),
        ("raises", "script", "_get_trace_graph"),
    ),
    "jit._script": (("class", "script", "ScriptModule RecursiveScriptModule ScriptFunction"),),
    "jit._trace": (
        ("class", "script", "TopLevelTracedModule TracedModule"),
        ("nothing", "script", "_trace_module_map"),
    ),
    "library": (("raises", "dispatch", "get_ctx"),),
    "masked": (
        ("class", "nested", "MaskedTensor"),
        ("raises", "nested", "masked_tensor as_masked_tensor"),
        ("false", "nested", "is_masked_tensor"),
    ),
    "nested": (
        ("raises", "nested", "nested_tensor nested_tensor_from_jagged as_nested_tensor"),
        ("raises", "nested", "to_padded_tensor"),
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
        ("raises", "sparse", "to_sparse_semi_structured as_sparse_gradcheck"),
        ("class", "sparse", "SparseSemiStructuredTensor"),
    ),
    "utils._python_dispatch": (
        ("class", "dispatch", "TorchDispatchMode"),
        ("false", "dispatch", "is_traceable_wrapper_subclass _get_current_dispatch_mode"),
    ),
    "utils._sympy.numbers": (("class", "export", "IntInfinity NegativeIntInfinity"),),
    "utils._sympy.value_ranges": (("class", "export", "ValueRanges"),),
    "utils._triton": (
        ("false", "compiler", "has_triton has_triton_package has_triton_experimental_host_tma"),
        ("false", "compiler", "has_triton_tensor_descriptor_host_tma has_triton_tma"),
        ("false", "compiler", "has_triton_tma_device has_triton_stable_tma_api"),
    ),
    "utils.bundled_inputs": (("raises", "script", "bundle_inputs"),),
    "utils.data.datapipes.iter.combinatorics": (
        ("class", "pipes", "SamplerIterDataPipe ShufflerIterDataPipe"),
    ),
    "utils.mkldnn": (("raises", "script", "to_mkldnn"),),
    "_lazy": (
        ("nothing", "lazy", "mark_step wait_device_ops"),
        ("raises", "lazy", "add_step_closure get_tensor_id run_step_closures sync_multi to_cpu"),
    ),
    "backends.cusparselt": (
        ("false", "engines", "is_available"),
        ("nothing", "engines", "version get_max_alg_id"),
    ),
    "backends.kleidiai": (("false", "engines", "is_available"),),
    "backends.nnpack": (("false", "engines", "is_available"), ("raises", "engines", "set_flags")),
    "backends.python_native": (
        ("false", "native", "is_dsl_disabled is_operation_disabled"),
        ("nothing", "native", "disable_operations enable_operations"),
        ("nothing", "native", "disable_dispatch_keys enable_dispatch_keys"),
        ("raises", "native", "get_dsl_operations operations_disabled"),
    ),
    "multiprocessing.reductions": (
        ("class", "sharing", "StorageWeakRef SharedCache"),
        ("raises", "sharing", "rebuild_cuda_tensor rebuild_event rebuild_meta_tensor"),
        ("raises", "sharing", "rebuild_nested_tensor rebuild_sparse_compressed_tensor"),
        ("raises", "sharing", "rebuild_sparse_coo_tensor rebuild_storage_empty"),
        ("raises", "sharing", "rebuild_storage_fd rebuild_storage_filename rebuild_tensor"),
        ("raises", "sharing", "rebuild_typed_storage rebuild_typed_storage_child"),
        ("raises", "sharing", "reduce_event reduce_nested_tensor reduce_sparse_tensor"),
        ("raises", "sharing", "reduce_storage reduce_typed_storage reduce_typed_storage_child"),
        ("raises", "sharing", "fd_id storage_from_cache"),
    ),
    "backends.opt_einsum": (("false", "engines", "is_available"),),
    "distributed.pipelining": (
        ("class", "stages", "Pipe PipelineStage Schedule1F1B ScheduleDualPipeV ScheduleGPipe"),
        ("class", "stages", "ScheduleInterleaved1F1B ScheduleInterleavedZeroBubble"),
        ("class", "stages", "ScheduleLoopedBFS ScheduleZBVZeroBubble SplitPoint"),
        ("raises", "stages", "build_stage pipe_split pipeline"),
    ),
    "nn.intrinsic": (
        ("class", "quantized", "BNReLU2d BNReLU3d ConvBn1d ConvBn2d ConvBn3d ConvBnReLU1d"),
        ("class", "quantized", "ConvBnReLU2d ConvBnReLU3d ConvReLU1d ConvReLU2d ConvReLU3d"),
        ("class", "quantized", "LinearBn1d LinearReLU"),
    ),
    "nn.qat": (("class", "quantized", "Conv1d Conv2d Conv3d Embedding EmbeddingBag Linear"),),
    "nn.quantizable": (("class", "quantized", "LSTM LSTMCell MultiheadAttention"),),
    "nn.quantized.dynamic": (
        ("class", "quantized", "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d"),
        ("class", "quantized", "ConvTranspose3d GRU GRUCell LSTM LSTMCell Linear RNNCell"),
    ),
    "utils.cpp_extension": (
        ("class", "extensions", "BuildExtension"),
        ("raises", "extensions", "CUDAExtension CppExtension SyclExtension include_paths"),
        ("raises", "extensions", "library_paths load load_inline"),
    ),
    "utils.mobile_optimizer": (("raises", "script", "optimize_for_mobile"),),
    "utils.throughput_benchmark": (("class", "script", "ThroughputBenchmark"),),
    "_C._distributed_c10d": (("class", "parallel", "Reducer"),),
    "_dynamo.eval_frame": (("false", "compiler", "is_dynamo_supported is_inductor_supported"),),
    "_higher_order_ops.associative_scan": (("raises", "compiler", "associative_scan"),),
    "_inductor": (
        ("nothing", "compiler", "cudagraph_mark_step_begin"),
        ("raises", "compiler", "list_mode_options list_options"),
    ),
    "_inductor.codecache": (("raises", "compiler", "extract_tensor_metadata_for_cache_key"),),
    "_inductor.cpu_vec_isa": (("raises", "compiler", "pick_vec_isa"),),
    "_inductor.exc": (("exception", "compiler", "InductorError(RuntimeError)"),),
    "_inductor.runtime.cache_dir_utils": (("raises", "compiler", "cache_dir"),),
    "_subclasses.functional_tensor": (
        ("class", "fake", "FunctionalTensor FunctionalTensorMode"),
        ("raises", "fake", "mb_unwrap_functional_tensor"),
    ),
    "_subclasses.meta_utils": (("class", "fake", "MetaConverter"),),
    "distributed._tensor.experimental": (("raises", "parallel", "implicit_replication"),),
    "distributed.autograd": (
        ("class", "rpc", "DistAutogradContext context"),
        ("raises", "rpc", "backward get_gradients"),
        ("false", "rpc", "is_available"),
    ),
    "distributed.checkpoint.default_planner": (
        ("class", "archives", "DefaultLoadPlanner DefaultSavePlanner"),
    ),
    "distributed.checkpoint.optimizer": (
        ("raises", "archives", "load_sharded_optimizer_state_dict"),
    ),
    "distributed.launcher.api": (("class", "elastic", "LaunchConfig elastic_launch"),),
    "distributed.pipelining.microbatch": (("class", "stages", "TensorChunkSpec"),),
    "distributed.tensor.experimental": (
        ("raises", "parallel", "context_parallel implicit_replication local_map"),
    ),
    "distributed.tensor.experimental._attention": (("raises", "parallel", "set_rotate_method"),),
    "fx.experimental.symbolic_shapes": (
        ("class", "export", "ShapeEnv SymTypes"),
        ("exception", "export", "GuardOnDataDependentSymNode(RuntimeError)"),
        ("raises", "export", "free_symbols free_unbacked_symbols guard_or_false guard_or_true"),
        ("raises", "export", "guard_size_oblivious statically_known_true is_symbolic"),
    ),
    "nested._internal.nested_tensor": (("class", "nested", "NestedTensor"),),
    "nested._internal.ops": (("raises", "nested", "extract_kwargs"),),
    "nn.quantized": (
        ("class", "quantized", "BatchNorm2d BatchNorm3d Conv1d Conv2d Conv3d FloatFunctional"),
        ("class", "quantized", "FXFloatFunctional Linear QFunctional Quantize DeQuantize"),
    ),
    "nn.quantized.functional": (("raises", "quantized", "conv1d conv2d conv3d linear"),),
    "numa.binding": (("class", "engines", "AffinityMode NumaOptions"),),
    "quantization.observer": (
        (
            "class",
            "quantized",
            "HistogramObserver MinMaxObserver ObserverBase PerChannelMinMaxObserver",
        ),
        ("class", "quantized", "MovingAverageMinMaxObserver NoopObserver PlaceholderObserver"),
    ),
    "quantization.qconfig": (
        ("class", "quantized", "QConfig"),
        ("raises", "quantized", "get_default_qconfig get_default_qat_qconfig"),
    ),
    "utils.data.graph_settings": (
        ("raises", "pipes", "apply_shuffle_settings apply_sharding apply_random_seed"),
        ("raises", "pipes", "get_all_graph_pipes"),
    ),
    "xpu": (
        ("nothing", "xpu", "empty_cache synchronize manual_seed manual_seed_all"),
        ("nothing", "xpu", "reset_peak_memory_stats reset_accumulated_memory_stats"),
        ("false", "xpu", "is_bf16_supported is_current_stream_capturing"),
        ("raises", "xpu", "current_device set_device get_device_name get_device_properties"),
        ("raises", "xpu", "get_device_capability current_stream memory_allocated mem_get_info"),
        ("raises", "xpu", "max_memory_allocated memory_reserved max_memory_reserved memory_stats"),
        ("raises", "xpu", "get_rng_state get_rng_state_all set_rng_state set_rng_state_all"),
        ("class", "xpu", "device Stream Event StreamContext"),
        ("raises", "xpu", "stream set_stream initial_seed seed seed_all"),
    ),
    "distributed.fsdp": (("class", "parallel", "OptimStateKeyType"),),
    "distributed.optim": (("class", "rpc", "DistributedOptimizer"),),
}
NAMES["quantization"] = NAMES["ao.quantization"]
NAMES["ao.quantization.observer"] = NAMES["quantization.observer"]
NAMES["ao.quantization.qconfig"] = NAMES["quantization.qconfig"]

VALUES: dict[str, dict] = {
    "backends.miopen": {"immediate": False},
    "backends.opt_einsum": {"enabled": False, "strategy": None},
    "backends.python_native": {"all_dsls": [], "available_dsls": []},
    "backends.quantized": {"engine": "none", "supported_engines": ["none"]},
    "backends.xnnpack": {"enabled": False},
    "utils.cpp_extension": {"CUDA_HOME": None, "ROCM_HOME": None},
    "jit.annotations": {
        "List": list, "Tuple": tuple, "Dict": dict, "Optional": Optional,
        **dict.fromkeys(("BroadcastingList1", "BroadcastingList2", "BroadcastingList3"), list),
    },
    "_dynamo.config": {
        "allow_unspec_int_on_nn_module": False, "cache_size_limit": 8, "recompile_limit": 8,
        "suppress_errors": False, "verbose": False,
    },
    "_inductor.config": {"coordinate_descent_tuning": False, "fallback_random": False},
}  # fmt: skip
