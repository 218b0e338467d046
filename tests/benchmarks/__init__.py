"""Timings beside torch's: `python -m tests.benchmarks`.

A row is a statement over names that a set-up makes from a module, once from rushlight and once from
torch, so both sides run the same text in the same process. Ratios travel between machines, absolute
times do not.
"""
