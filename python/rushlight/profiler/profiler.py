"""The profiler with a schedule, under torch's module path."""

from rushlight.profiler._profile import (
    ProfilerAction,
    profile,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)
from rushlight.profiler._profile import _default_schedule_fn as _default_schedule_fn

__all__ = [
    "ProfilerAction", "profile", "schedule", "supported_activities", "tensorboard_trace_handler",
]  # fmt: skip
