"""MobileInsight's own analyzers, run from a checkout of mobileinsight-core."""

from __future__ import annotations

import importlib.util
import os
import sys

from . import alias

PACKAGE = f"{alias.NAME}.analyzer"


def use(folder: str) -> None:
    """Makes `mobile_insight.analyzer`, under both of its names, the package of the checkout in `folder`."""
    beginning = _beginning(folder)
    alias.install()
    own = sys.modules[alias.NAME].__name__
    for name in [name for name in sys.modules if _is_analyzer(name.removeprefix(own.removesuffix(alias.NAME)))]:
        del sys.modules[name]
    spec = importlib.util.spec_from_file_location(
        PACKAGE, beginning, submodule_search_locations=[os.path.dirname(beginning)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{beginning} cannot be imported")
    theirs = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = theirs
    sys.modules[alias.NAME].analyzer = theirs  # type: ignore[attr-defined]
    spec.loader.exec_module(theirs)
    for name, module in list(sys.modules.items()):
        if _is_analyzer(name):
            sys.modules[own + name.removeprefix(alias.NAME)] = module


def _is_analyzer(name: str) -> bool:
    return name == PACKAGE or name.startswith(PACKAGE + ".")


def _beginning(folder: str) -> str:
    """The file that begins the package: of a whole checkout, or of the package's own folder."""
    for within in ("mobile_insight/analyzer", "analyzer", ""):
        found = os.path.join(folder, within, "__init__.py")
        if os.path.isfile(found) and os.path.isfile(os.path.join(os.path.dirname(found), "analyzer.py")):
            return os.path.abspath(found)
    raise FileNotFoundError(
        f"{folder}: there is no mobile_insight/analyzer/analyzer.py; name the folder of a mobileinsight-core checkout"
    )
