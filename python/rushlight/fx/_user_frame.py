"""Where in the user's program a call was recorded."""

import os
import traceback

_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def user_stack():
    """The stack as text, without the frames of this package."""
    frames = [f for f in traceback.extract_stack() if not f.filename.startswith(_FOLDER)]
    return "".join(traceback.StackSummary.from_list(frames).format()).strip()
