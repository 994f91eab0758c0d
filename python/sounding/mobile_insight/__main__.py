"""Runs a script that was written for MobileInsight: `python -m sounding.mobile_insight SCRIPT [ARGUMENT]…`."""

import os
import runpy
import sys

from . import alias

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python -m sounding.mobile_insight SCRIPT [ARGUMENT]…")
    alias.install()
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")
