# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sends UDP packets at the rate that the feed advises: udp.py FEED HOST PORT.

A packet is paced by the advice of its own moment, so that a drop holds from the next packet on. Put your media in `payload`.
"""

import socket
import time

from advice import Advice, run

FALLBACK = 500_000  # bit/s without advice
PAYLOAD = 1200  # bytes of a packet; its IPv4 and UDP headers have 28 more
LATE = 0.02  # s that a late sender makes up for, and no more


def payload(number):
    return number.to_bytes(8, "big") + bytes(PAYLOAD - 8)


def main(feed, host, port):
    advice = Advice(feed)
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    out.connect((host, int(port)))
    number, said, due = 0, 0, time.monotonic()
    while True:
        advised = advice.bits_per_sec()
        rate = advised or FALLBACK
        if time.monotonic() - said > 1:
            print(f"{rate} bit/s by {'advice' if advised else 'fallback'}", flush=True)
            said = time.monotonic()
        try:
            out.send(payload(number))
        except ConnectionRefusedError:
            pass  # No one listens yet.
        number += 1
        due = max(due, time.monotonic() - LATE) + (PAYLOAD + 28) * 8 / rate
        time.sleep(max(0, due - time.monotonic()))


if __name__ == "__main__":
    run(main)
