# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sends live video over SRT at the rate that the feed advises: srt.py FEED HOST PORT.

The advice becomes SRTO_MAXBW, which limits retransmissions too. The encoder gets less, so that there is room for them.
`encoder` makes frames of the right size: put yours in its place.
"""

import ctypes
import itertools
import socket
import struct
import sys
import time

from advice import Advice, run

FALLBACK = 500_000  # bit/s without advice
ENCODER = 0.8  # its part of the rate: the rest is for headers and retransmissions
FRAMES, MESSAGE = 30, 1316  # per second; bytes, seven packets of MPEG-TS
WAITS = 0.1  # s of data that may wait in SRT; then a frame is left out
SRTO_MAXBW, SRTO_SNDDATA, SRTO_SENDER = 16, 19, 21

srt = ctypes.CDLL("libsrt.so.1.5")
srt.srt_getlasterror_str.restype = ctypes.c_char_p


def call(name, *arguments):
    if getattr(srt, name)(*arguments) < 0:
        sys.exit(f"{name}: {srt.srt_getlasterror_str().decode()}")


def encoder(bits_per_sec):
    return bytes(int(bits_per_sec / 8 / FRAMES))


def main(feed, host, port):
    advice, due = Advice(feed), time.monotonic()
    srt.srt_startup()
    out = srt.srt_create_socket()
    call("srt_setsockflag", out, SRTO_SENDER, ctypes.byref(ctypes.c_int(1)), 4)
    to = struct.pack("=H", socket.AF_INET) + struct.pack("!H", int(port)) + socket.inet_aton(host) + bytes(8)
    call("srt_connect", out, to, len(to))
    waiting, size = ctypes.c_int(), ctypes.c_int(4)
    for number in itertools.count():
        advised = advice.bits_per_sec()
        rate = advised or FALLBACK
        if number % FRAMES == 0:
            print(f"{rate} bit/s by {'advice' if advised else 'fallback'}", flush=True)
        call("srt_setsockflag", out, SRTO_MAXBW, ctypes.byref(ctypes.c_int64(rate // 8)), 8)
        call("srt_getsockflag", out, SRTO_SNDDATA, ctypes.byref(waiting), ctypes.byref(size))
        frame = encoder(rate * ENCODER) if waiting.value * MESSAGE * 8 < rate * WAITS else b""
        for part in (frame[at : at + MESSAGE] for at in range(0, len(frame), MESSAGE)):
            call("srt_send", out, part, len(part))
        due = max(due + 1 / FRAMES, time.monotonic())
        time.sleep(max(0, due - time.monotonic()))


if __name__ == "__main__":
    run(main)
