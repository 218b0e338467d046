"""Profiling in steps of a training loop, with traces for chrome://tracing and TensorBoard."""

from rushlight.autograd.profiler import record_function
from rushlight.profiler._profile import (
    DeviceType,
    ProfilerAction,
    ProfilerActivity,
    kineto_available,
    profile,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)

__all__ = [
    "DeviceType", "ProfilerAction", "ProfilerActivity", "kineto_available", "profile",
    "record_function", "schedule", "supported_activities", "tensorboard_trace_handler",
]  # fmt: skip
