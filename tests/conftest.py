"""Workers side by side get temporary directories of their own.

A seeded mock keeps its files in a directory that is named after its seed, so that its answers are
the same in every run; of two processes only one can have it.
"""

import atexit
import os
import shutil
import tempfile

if os.environ.get("PYTEST_XDIST_WORKER"):
    _own = tempfile.mkdtemp(prefix="icecheck-worker-")
    atexit.register(shutil.rmtree, _own, ignore_errors=True)
    os.environ["TMPDIR"] = tempfile.tempdir = _own
