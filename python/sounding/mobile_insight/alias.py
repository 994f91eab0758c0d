"""Importing this makes `import mobile_insight` mean `sounding.mobile_insight`, for the rest of the program."""

from __future__ import annotations

import importlib
import pkgutil
import sys

from .. import mobile_insight as _package

NAME = "mobile_insight"


def install() -> None:
    """Registers the package and all its modules under their other name."""
    own = _package.__name__
    sys.modules[NAME] = _package
    for found in pkgutil.walk_packages(_package.__path__, own + "."):
        if found.name not in (f"{own}.alias", f"{own}.__main__"):
            sys.modules[NAME + found.name[len(own) :]] = importlib.import_module(found.name)


install()
