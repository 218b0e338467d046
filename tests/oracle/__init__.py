"""torch's own samples as the judge: `python -m tests.oracle [names]` prints a table per op."""
