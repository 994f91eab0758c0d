"""MobileInsight's interface, on top of `sounding`.

A script written for MobileInsight runs after a change of its imports:

    from sounding.mobile_insight.monitor import OfflineReplayer
    from sounding.mobile_insight.analyzer import Analyzer, MsgLogger

or after one line before them, `import sounding.mobile_insight.alias`, or without any change, as
`python -m sounding.mobile_insight SCRIPT`.
"""

from . import analyzer, element, monitor
from .element import Element, Event
from .packet import DMLogPacket, FormatError

__all__ = ["DMLogPacket", "Element", "Event", "FormatError", "analyzer", "element", "monitor"]
