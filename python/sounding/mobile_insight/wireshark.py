"""RRC messages as the XML that Wireshark makes of them, from this project's own trees.

Members keep their names, with `_` for `-` and the specification's prefix. A sequence and a member without a value end in
`_element`. An item of a list is named by its type: `rrc_lists.txt`, which `scripts/rrc-lists` makes from the
specifications, has the types.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any
from xml.etree import ElementTree

from .. import Message
from . import wireshark_nas

Node = tuple[Any, str, Any, Any, list[Any]]

LTE, NR = "lte-rrc", "nr-rrc"
TITLES = {
    LTE: "LTE Radio Resource Control (RRC) protocol",
    NR: "NR Radio Resource Control (RRC) protocol",
}
#: The types of messages whose name does not follow from their channel.
TYPES = {
    "nr_reconfiguration": "RRCReconfiguration",
    "nr_reconfiguration_complete": "RRCReconfigurationComplete",
    "nr_radio_bearer_config": "RadioBearerConfig",
    "nr_capability": "UE-NR-Capability",
    "mrdc_capability": "UE-MRDC-Capability",
}
#: Strings that hold a message of the other specification.
OTHER = {
    "nr-SecondaryCellGroupConfig-r15": (NR, "RRCReconfiguration"),
    "nr-RadioBearerConfig1-r15": (NR, "RadioBearerConfig"),
    "nr-RadioBearerConfig2-r15": (NR, "RadioBearerConfig"),
    "scg-ConfigResponseNR-r15": (NR, "RRCReconfigurationComplete"),
    "ul-DCCH-MessageNR-r15": (NR, "UL-DCCH-Message"),
    "ul-DCCH-MessageNR-r16": (NR, "UL-DCCH-Message"),
    "ul-DCCH-MessageNR": (NR, "UL-DCCH-Message"),
    "dl-DCCH-MessageNR-r16": (NR, "DL-DCCH-Message"),
    "eutra-SCG": (LTE, "RRCConnectionReconfiguration"),
    "eutra-SCG-Response": (LTE, "RRCConnectionReconfigurationComplete"),
    "ul-DCCH-MessageEUTRA": (LTE, "UL-DCCH-Message"),
    "ul-DCCH-MessageEUTRA-r16": (LTE, "UL-DCCH-Message"),
    "dl-DCCH-MessageEUTRA-r16": (LTE, "DL-DCCH-Message"),
}
#: Members that Wireshark renames, by the item or member that they are in.
RENAMED = {
    ("q-RxLevMin", "CarrierFreqUTRA-FDD"): "utra_q_RxLevMin",
    ("q-RxLevMin", "CarrierFreqUTRA-TDD"): "utra_q_RxLevMin",
    ("q-RxLevMin", "commonInfo"): "geran_q_RxLevMin",
}


@cache
def _types() -> dict[tuple[str, ...], str]:
    """By kind, prefix and name, and where that matters the member that it is in: the type of items or of content."""
    types = {}
    for line in (files(__package__) / "rrc_lists.txt").read_text().splitlines():
        if not line.startswith("#"):
            kind, specification, name, found, *within = line.split()
            types[kind, f"{specification}-rrc", name, *within] = found
    return types


def _type(kind: str, prefix: str, name: str, within: str) -> str | None:
    types = _types()
    return types.get((kind, prefix, name, within)) or types.get((kind, prefix, name))


def xml(message: Message) -> str | None:
    """The message as `<msg>`; None if it cannot be decoded."""
    tree = message.tree()
    packet = ElementTree.Element("packet")
    if tree is None:
        if not wireshark_nas.add(packet, message):
            return None
    else:
        system, _, channel = message.channel.partition("_")
        prefix = NR if system in ("nr", "mrdc") else LTE
        proto = ElementTree.SubElement(
            packet, "proto", {"name": prefix.replace("-", "_"), "showname": TITLES[prefix]}
        )
        type_name = TYPES.get(message.channel)
        if type_name is None:
            type_name = channel.upper().replace("_", "-") + "-Message" + ("-NB" if system == "nb" else "")
        _add(proto, tree, prefix, type_name, None, "")
    root = ElementTree.Element("msg")
    root.append(packet)
    return ElementTree.tostring(root, encoding="unicode")


def _add(parent: ElementTree.Element, node: Node, prefix: str, name: str, item: str | None, within: str) -> None:
    """Adds a value. `item` is the type of its items, if that follows from its own type."""
    _, kind, value, number, inner = node
    own = RENAMED.get((name, within)) if prefix == LTE else None
    field = ElementTree.SubElement(parent, "field")
    label = f"{prefix}.{own or name.replace('-', '_')}"
    if kind in ("sequence", "null"):
        field.attrib.update(name=label + "_element", showname=name, show="")
        for member in inner:
            # Members of an extension are members of what it extends.
            _add(field, member, prefix, member[0], None, within if name == "nonCriticalExtension" else name)
        return
    show, said = str(value), str(value)
    if kind in ("choice", "name", "later"):
        show, said = str(number), f"{value} ({number})"
    elif kind == "boolean":
        show = str(int(value))
    elif kind == "bits":
        show = _bytes(value)
        field.set("value", show.replace(":", ""))
        said = f"{field.get('value')} [bit length {len(value)}]"
    elif kind == "octets":
        show = value.hex(":")
        field.set("value", value.hex())
        said = value.hex()
    elif kind == "list":
        show, said = str(len(inner)), f"{len(inner)} item" + "s" * (len(inner) != 1)
    elif kind == "contains":
        show = said = ""
    field.attrib.update(name=label, showname=f"{name}: {said}", show=show)
    if kind == "choice":
        for member in inner:
            _add(field, member, prefix, member[0], None, name)
    elif kind == "contains":
        other = OTHER.get(name) or (prefix, _type("content", prefix, name, within) or name)
        _add(field, inner[0], *other, None, name)
    elif kind == "list":
        item = item or _type("member", prefix, name, within) or f"{name}_item"
        for at, found in enumerate(inner):
            place = ElementTree.SubElement(field, "field", {"name": "", "show": f"Item {at}"})
            _add(place, found, prefix, item, _types().get(("list", prefix, item)), name)


def _bytes(bits: str) -> str:
    """Bits in hex, the first one highest, filled with zeros to a byte."""
    filled = bits + "0" * (-len(bits) % 8)
    return ":".join(f"{int(filled[at : at + 8], 2):02x}" for at in range(0, len(filled), 8))
