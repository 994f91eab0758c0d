"""Log records of a modem at a serial port."""

from ...packet import DMLogPacket, FormatError
from . import dm_collector_c
from .dm_collector import DMCollector

__all__ = ["DMCollector", "DMLogPacket", "FormatError", "dm_collector_c"]
