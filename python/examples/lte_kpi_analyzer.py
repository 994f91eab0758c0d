"""What a phone was granted, and how well it received its cell: a script as one writes it for MobileInsight.

Only the two imports tell that it runs on `sounding`.

    python lte_kpi_analyzer.py CAPTURE [LOG.xml]
"""

import sys
from collections import defaultdict

from sounding.mobile_insight.analyzer import Analyzer, MsgLogger
from sounding.mobile_insight.monitor import OfflineReplayer


class UplinkAnalyzer(Analyzer):
    """Bytes granted on the uplink and bytes of them that carried nothing, second by second."""

    def __init__(self):
        Analyzer.__init__(self)
        self.add_source_callback(self.__msg_callback)
        self.granted = defaultdict(int)
        self.padding = defaultdict(int)

    def set_source(self, source):
        Analyzer.set_source(self, source)
        source.enable_log("LTE_MAC_UL_Transport_Block")

    def __msg_callback(self, msg):
        if msg.type_id != "LTE_MAC_UL_Transport_Block":
            return
        log_item = msg.data.decode()
        second = log_item["timestamp"].replace(microsecond=0)
        for packet in log_item["Subpackets"]:
            for sample in packet["Samples"]:
                self.granted[second] += sample["Grant (bytes)"]
                self.padding[second] += sample["Padding (bytes)"]


class SignalAnalyzer(Analyzer):
    """RSRP of the serving cell."""

    def __init__(self):
        Analyzer.__init__(self)
        self.add_source_callback(self.__msg_callback)
        self.rsrp = []

    def set_source(self, source):
        Analyzer.set_source(self, source)
        source.enable_log("LTE_PHY_Serv_Cell_Measurement")

    def __msg_callback(self, msg):
        if msg.type_id != "LTE_PHY_Serv_Cell_Measurement":
            return
        log_item = msg.data.decode()
        for packet in log_item["Subpackets"]:
            if packet.get("Serving Cell Index") == "PCell":
                self.rsrp.append(packet["RSRP"])


def main():
    src = OfflineReplayer()
    src.set_input_path(sys.argv[1])

    if len(sys.argv) > 2:
        logger = MsgLogger()
        logger.set_decode_format(MsgLogger.XML)
        logger.set_dump_type(MsgLogger.FILE_ONLY)
        logger.save_decoded_msg_as(sys.argv[2])
        logger.set_source(src)

    uplink = UplinkAnalyzer()
    uplink.set_source(src)
    signal = SignalAnalyzer()
    signal.set_source(src)

    src.run()

    print("second               granted/kB  padding")
    for second, granted in sorted(uplink.granted.items()):
        share = uplink.padding[second] / granted if granted else 0
        print(f"{second}  {granted / 1000:10.1f}  {share:7.1%}")
    if signal.rsrp:
        mean = sum(signal.rsrp) / len(signal.rsrp)
        print(f"RSRP {mean:.1f} dBm, mean of {len(signal.rsrp)} measurements")


if __name__ == "__main__":
    main()
