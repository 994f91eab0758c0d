"""Decoded log records."""

from .dm_log_packet import DMLogPacket, FormatError

__all__ = ["DMLogPacket", "FormatError"]
