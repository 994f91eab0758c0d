"""Runs a script that was written for MobileInsight."""

from __future__ import annotations

import argparse
import os
import runpy
import sys

from . import alias, checkout


def main() -> None:
    """Parses the command line and runs the script."""
    parser = argparse.ArgumentParser(
        prog="python -m sounding.mobile_insight", description="Runs a script that was written for MobileInsight."
    )
    parser.add_argument(
        "--analyzers",
        metavar="DIR",
        help="take the analyzers from this checkout of mobileinsight-core, not those of this package",
    )
    parser.add_argument("script", metavar="SCRIPT", help="the script")
    parser.add_argument("arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER, help="an argument of the script")
    options = parser.parse_args()
    if options.analyzers is None:
        alias.install()
    else:
        try:
            checkout.use(options.analyzers)
        except FileNotFoundError as error:
            parser.error(str(error))
    sys.argv = [options.script, *options.arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(options.script))
    runpy.run_path(options.script, run_name="__main__")


if __name__ == "__main__":
    main()
