"""A log record, under the name that MobileInsight's analyzers import."""

from ....packet import DMLogPacket, FormatError

__all__ = ["DMLogPacket", "FormatError"]
