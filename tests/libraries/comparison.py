"""Compares what a program printed with what it prints under torch, line by line."""

import re

NUMBER = re.compile(r"[-+]?(?:\d+\.\d*(?:[eE][-+]?\d+)?|\d+(?:[eE][-+]?\d+)?|\bnan\b|\binf\b)")
CLOSE = 2e-3


def same(ours, theirs):
    """Whether two lines have the same words, and numbers that are close."""
    if NUMBER.sub("#", ours) != NUMBER.sub("#", theirs):
        return False
    pairs = zip(NUMBER.findall(ours), NUMBER.findall(theirs), strict=True)
    return all(a == b or close(float(a), float(b)) for a, b in pairs)


def close(a, b):
    return abs(a - b) <= CLOSE * max(1.0, abs(b))


def equal_items(ours, theirs):
    """(how many of torch's lines are there, those that are not)"""
    ours, theirs = ours.splitlines(), theirs.splitlines()
    ours += [""] * (len(theirs) - len(ours))
    different = [b for a, b in zip(ours, theirs, strict=False) if not same(a, b)]
    return len(theirs) - len(different), different
