# SPDX-License-Identifier: MIT OR Apache-2.0
"""One stream over several modems, divided by advice: bonding.py FEED HOST PORT MODEM=ADDRESS MODEM=ADDRESS...

ADDRESS is the host's address on the modem's network device; routes by source lead its packets there. Each link has a clock of
its own, which the modem's advice drives. The next packet of the stream takes the link whose clock is due first. The receiver
puts packets in order by their numbers.
"""

import socket
import time

from advice import Advice, run

FALLBACK = 200_000  # bit/s of a link without advice
PAYLOAD = 1200  # bytes of a packet; its IPv4 and UDP headers have 28 more
LATE = 0.02  # s that a late link makes up for, and no more


class Link:
    def __init__(self, advice, modem, address, to):
        self.advice, self.modem, self.said = advice, modem, 0
        self.out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.out.bind((address, 0))
        self.out.connect(to)
        self.due = time.monotonic()

    def send(self, packet):
        advised = self.advice.bits_per_sec(self.modem)
        rate = advised or FALLBACK
        if time.monotonic() - self.said > 1:
            print(f"{self.modem}: {rate} bit/s by {'advice' if advised else 'fallback'}", flush=True)
            self.said = time.monotonic()
        try:
            self.out.send(packet)
        except OSError:
            pass  # Its modem has no network now, or no one listens yet.
        self.due = max(self.due, time.monotonic() - LATE) + (len(packet) + 28) * 8 / rate


def main(feed, host, port, *links):
    advice = Advice(feed)
    links = [Link(advice, *link.split("="), (host, int(port))) for link in links]
    number = 0
    while True:
        link = min(links, key=lambda link: link.due)
        time.sleep(max(0, link.due - time.monotonic()))
        link.send(number.to_bytes(8, "big") + bytes(PAYLOAD - 8))
        number += 1


if __name__ == "__main__":
    run(main)
