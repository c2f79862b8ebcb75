"""The package knows nothing of screens or devices."""

from __future__ import annotations

import subprocess
import sys


def test_importing_brings_no_screen_and_no_device():
    code = "import sys, spdp_engine.corpus; print([m for m in ('streamlit', 'pyopencl') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
