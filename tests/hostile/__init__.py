"""Calls that mean harm: each returns or raises; none ends the process, hangs or leaves memory."""
