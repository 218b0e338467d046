"""Everyday operations and layers x dtypes x layouts x sizes, against torch in the same process."""
