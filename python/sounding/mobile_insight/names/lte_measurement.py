"""0xB193."""

from __future__ import annotations

from typing import Any

from ..rules import Item, Record, Rule, Table, made, same, text
from .words import CELL

#: For an absent antenna MobileInsight has the level of zero steps; here it has none.
NOT_THERE = {
    **{f"rsrp_rx{rx}_dbm": -180.0 for rx in range(2)},
    **{f"rsrq_rx{rx}_db": -30.0 for rx in range(2)},
}

#: Fields that only cells of modems with four antennas have, without a name in MobileInsight.
UNNAMED = ("rsrp_filtered_dbm", "rsrq_filtered_db")


def _cell(*more: Rule, unmapped: tuple[str, ...] = UNNAMED) -> Table:
    antennas = range(4)
    return Table(
        same("Physical Cell ID", "pci"),
        text("Serving Cell Index", "cell", CELL),
        same("Is Serving Cell", "serving"),
        same("Current SFN", "frame"),
        same("Current Subframe Number", "subframe"),
        tuple(same(f"RSRP Rx[{rx}]", f"rsrp_rx{rx}_dbm") for rx in antennas),
        same("RSRP", "rsrp_dbm"),
        tuple(same(f"RSRQ Rx[{rx}]", f"rsrq_rx{rx}_db") for rx in antennas),
        same("RSRQ", "rsrq_db"),
        tuple(same(f"RSSI Rx[{rx}]", f"rssi_rx{rx}_dbm") for rx in antennas),
        same("RSSI", "rssi_dbm"),
        tuple(same(f"FTL SNR Rx[{rx}]", f"snr_rx{rx}_db") for rx in antennas),
        *more,
        unmapped=unmapped,
    )


PROJECTED = (
    # Without its fraction.
    made("Projected SIR", "projected_sir_db", lambda item: int(item["projected_sir_db"])),
    same("Post IC RSRQ", "rsrq_after_cancellation_db"),
)
PLAIN = _cell(unmapped=(*UNNAMED, "projected_sir_db", "rsrq_after_cancellation_db"))
WITH_PROJECTION = _cell(*PROJECTED)

SUB_PACKET = Table(
    same("SubPacket ID", "id"),
    same("SubPacket Version", "version"),
    same("SubPacket Size", "len_bytes"),
    same("E-ARFCN", "earfcn"),
    same("Num-of-cells", "cell_count"),
)
#: Which part of the interference a receiver takes out; MobileInsight has no name for the rest.
LEFT_OUT = ("valid_receivers", "receiver_map")


def _sub_packets(value: list[Item], item: Item, strange: set[str]) -> list[dict[str, Any]]:
    """A sub-packet holds the fields of its cell, or a list of cells. MobileInsight has the first of them."""
    out = []
    for sub in value:
        table = WITH_PROJECTION if sub["version"] == 19 else PLAIN
        own = {name: sub[name] for name in sub if name in SUB_PACKET.known}
        cell = {name: sub[name] for name in sub if name not in own and name not in LEFT_OUT}
        cells = cell.pop("cells", [])
        merged = SUB_PACKET.apply(own, strange)
        for found in (cell, *cells[:1]):
            measured = {**NOT_THERE, **found} if "pci" in found else found
            merged |= table.apply(measured, strange)
        out.append(merged)
    return out


SERVING = Table(
    same("Version", "version"),
    same("Number of SubPackets", "sub_packet_count"),
    Rule("Subpackets", "sub_packets", _sub_packets),
)

RECORDS = (Record(0xB193, {None: SERVING}),)
