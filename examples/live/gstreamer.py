# SPDX-License-Identifier: MIT OR Apache-2.0
"""A GStreamer pipeline that encodes at the rate that the feed advises: gstreamer.py FEED HOST PORT [SOURCE].

x264enc takes a new bitrate while it runs. Its buffer (VBV) is short, so that no frame is much longer than the others. The sink
spreads packets by the rate. While it is late, the queue leaves frames out. SOURCE is any element with raw video, v4l2src of a
camera for example.
"""

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst

from advice import Advice, run

FALLBACK = 500_000  # bit/s without advice
ENCODER = 0.85  # its part of the rate: x264 is exact over seconds and not over frames, and packets have headers
LOOKS = 20  # ms between two looks at the advice
SOURCE = "videotestsrc is-live=true pattern=snow"
PIPELINE = """
    {source} ! video/x-raw,width=320,height=240,framerate=30/1 ! videoconvert
    ! queue leaky=downstream max-size-buffers=1
    ! x264enc name=encoder tune=zerolatency speed-preset=ultrafast key-int-max=300 vbv-buf-capacity=120 bitrate={kbit}
    ! rtph264pay mtu=1200 ! queue max-size-buffers=0 max-size-bytes=0 max-size-time=100000000
    ! udpsink name=sink host={host} port={port} sync=true
"""


class Sender:
    def __init__(self, feed, host, port, source=SOURCE):
        self.advice, self.rate, self.by = Advice(feed), FALLBACK, "fallback"
        text = PIPELINE.format(source=source, host=host, port=port, kbit=int(FALLBACK * ENCODER / 1000))
        self.pipeline = Gst.parse_launch(text)
        self.encoder, self.sink = map(self.pipeline.get_by_name, ("encoder", "sink"))

    def follow(self):
        advised = self.advice.bits_per_sec()
        rate = advised or FALLBACK
        if rate != self.rate:
            self.encoder.set_property("bitrate", int(rate * ENCODER / 1000))  # kbit/s
            self.sink.set_property("max-bitrate", rate)
        self.rate, self.by = rate, "advice" if advised else "fallback"
        return True

    def say(self):
        print(f"{self.rate} bit/s by {self.by}", flush=True)
        return True


def main(*arguments):
    Gst.init(None)
    sender = Sender(*arguments)
    GLib.timeout_add(LOOKS, sender.follow)
    GLib.timeout_add(1000, sender.say)
    sender.pipeline.set_state(Gst.State.PLAYING)
    GLib.MainLoop().run()


if __name__ == "__main__":
    run(main)
