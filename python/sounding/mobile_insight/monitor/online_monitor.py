"""Log records of a live modem."""

from __future__ import annotations

from .monitor import Monitor

__all__ = ["OnlineMonitor"]


class OnlineMonitor(Monitor):
    """Requests the enabled log records from a modem, and sends each when it comes."""

    def __init__(self) -> None:
        super().__init__()
        self.phy_ser_name: str | None = None
        self.phy_baudrate = 9600
        self._timeout: float | None = None

    def set_serial_port(self, phy_ser_name: str) -> None:
        """The Diag port, as in `/dev/ttyUSB0`."""
        self.phy_ser_name = phy_ser_name

    def set_baudrate(self, rate: int) -> None:
        """Kept for scripts that set it: on USB it means nothing."""
        self.phy_baudrate = rate

    def set_timeout(self, seconds: float | None) -> None:
        """A modem that is silent for so long is at its end; without, only one that is unplugged is."""
        self._timeout = seconds

    def run(self) -> None:
        """Sends every enabled record until the modem is gone or Ctrl-C is pressed, then an event `Monitor.STOP`."""
        if self.phy_ser_name is None:
            raise ValueError("set_serial_port says which port to open")
        self.broadcast_info("STARTED", {})
        try:
            self._replay(self.phy_ser_name, timeout=self._timeout)
        except KeyboardInterrupt:
            self.log_info("stopped")
        finally:
            self._end()
