"""Sweeps of plans over many processes or machines: `python -m sounding.sweep PLAN --out DIR`."""

from ._parts import Part, SweepError, run_part
from ._sweep import sweep

__all__ = ["Part", "SweepError", "run_part", "sweep"]
