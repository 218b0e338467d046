"""Event files, written by tensorboardX's record writer in the calling thread.

tensorboardX passes events to a thread through a queue that its flush() does not wait for, and names
files by the second, so that a second file can overwrite the first. Both are put right here.
"""

import itertools
import os
import time
import weakref

_count = itertools.count()


class EventLog:
    """One event file; what tensorboardX calls an EventFileWriter.

    Args:
        tensorboardx: gives a module of tensorboardX by name.
        folder: where the file is made.
        max_queue: events that are kept before they are written.
        flush_secs: seconds after which they are written anyway.
        suffix: end of the file's name.
    """

    def __init__(self, tensorboardx, folder, max_queue, flush_secs, suffix):
        os.makedirs(folder, exist_ok=True)
        self._folder = folder
        name = f".{os.getpid()}.{next(_count)}{suffix}"
        writer = tensorboardx("event_file_writer").EventsWriter
        self._file = writer(os.path.join(folder, "events"), name)
        self._close = weakref.finalize(self, self._file.close)  # also when the program ends
        self._max_queue, self._flush_secs = max_queue, flush_secs
        self._waiting, self._flushed = 0, 0.0

    def get_logdir(self):
        """The folder."""
        return self._folder

    def add_event(self, event):
        """Write one event, at the latest with the next flush."""
        self._file.write_event(event)
        self._waiting += 1
        if self._waiting >= self._max_queue or time.monotonic() > self._flushed + self._flush_secs:
            self.flush()

    def flush(self):
        """Write what is kept."""
        if self._close.alive:
            self._file.flush()
            self._waiting, self._flushed = 0, time.monotonic()

    def close(self):
        """Write what is kept and close the file."""
        self._close()

    def reopen(self):
        """Nothing: a closed writer makes a new EventLog."""


def new_writer(tensorboardx, folder, purge_step, max_queue, flush_secs, filename_suffix):
    """tensorboardX's SummaryWriter over an EventLog."""
    module = tensorboardx("writer")

    class Writer(module.SummaryWriter):
        def _get_file_writer(self):
            if self.all_writers is None or self.file_writer is None:
                file_writer = module.FileWriter.__new__(module.FileWriter)
                file_writer.event_writer = EventLog(
                    tensorboardx, folder, max_queue, flush_secs, filename_suffix
                )
                file_writer._default_metadata = {}
                self.file_writer = file_writer
                self.all_writers = {folder: file_writer}
                if purge_step is not None:
                    event = module.Event
                    file_writer.add_event(event(step=purge_step, file_version="brain.Event:2"))
                    start = module.SessionLog(status=module.SessionLog.START)
                    file_writer.add_event(event(step=purge_step, session_log=start))
            return self.file_writer

    return Writer(logdir=folder)
