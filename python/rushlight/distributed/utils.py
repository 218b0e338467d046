"""torch.distributed.utils: what strategies of libraries take from it."""

from __future__ import annotations

from rushlight.distributed._model_checks import take_from


def _sync_module_states(
    module, process_group, broadcast_bucket_size, src, params_and_buffers_to_ignore,
    broadcast_buffers=True,
):  # fmt: skip
    """Gives all ranks of the group the parameters and buffers of one, by its rank there."""
    named = [*module.named_parameters(), *(module.named_buffers() if broadcast_buffers else ())]
    states = [tensor for name, tensor in named if name not in params_and_buffers_to_ignore]
    take_from(src, states, process_group)
