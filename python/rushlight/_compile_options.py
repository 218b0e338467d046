"""The options of torch.compile and Module.compile: there is no compiler, but wrong ones are errors.

Apart from compiler.py, which makes modules: nn.Module imports this one.
"""

_MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")


def _check(
    *, fullgraph=False, dynamic=None, backend="inductor", mode=None, options=None, name=None,
    disable=False, recompile_limit=None, isolate_recompiles=False, shapes_spec=None,
):  # fmt: skip
    if callable(backend):
        raise NotImplementedError(
            "torch.compile(backend=<function>) is not in rushlight: there is no graph to call it "
            "with\nname a backend, or leave it out"
        )
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time."
        )
    if mode is not None and mode not in _MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_MODES)}")
