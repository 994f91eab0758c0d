"""Sources of log records."""

from .dm_collector import DMCollector
from .monitor import Event, Monitor
from .offline_replayer import OfflineReplayer
from .online_monitor import OnlineMonitor

__all__ = ["DMCollector", "Event", "Monitor", "OfflineReplayer", "OnlineMonitor"]
