"""The DataLoader's parts: collate, fetch, pin_memory; messages, worker and pool for processes."""

from . import collate, fetch, pin_memory, worker
