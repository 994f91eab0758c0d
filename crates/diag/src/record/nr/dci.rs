//! 0xB885, downlink control information: the network's assignments and grants for the device.
//!
//! Versions 2.5 and 3.9; one source, none in a capture. In 3.9, orders for random access, power
//! control and preemption may follow, which are not described.

use super::{DCI_FORMAT, HEADER_2, RECORD_COUNT_3, RNTI, SLOT, VERSION, slot_keys, slot_of};
use crate::LogCode;
use crate::layout::{
    Bits, Block, Count, Field, Layout, Names, Node, Part, bits, bytes, flag, hex, key, names,
    try_key, u8, u16, uint,
};
use crate::radio::Slot;
use crate::record::{RecordError, checked};

const LEVEL_V2_5: Names = &[(0, "1"), (2, "2"), (3, "4"), (4, "8")];
const LEVEL_V3_9: Names = &[(0, "1"), (2, "2"), (4, "4"), (6, "8"), (8, "16")];

const UPLINK_V2_5: &[Part] = &[Part::Block(Block {
    size: 28,
    fields: &[&[
        bytes("raw", 0, 12),
        flag("ndi", 12, 6),
        uint("mcs", bits(12, 11, 7)),
        uint("rv", bits(12, 14, 13)),
        uint("harq", bits(12, 16, 15)),
        uint("tpc", bits(12, 20, 19)),
        uint("rb_assignment", u16(16)),
        uint("dai_1", bits(18, 4, 3)),
        uint("precoding", bits(18, 15, 10)),
        uint("antenna_ports", u8(20)),
    ]],
})];

const DOWNLINK_V2_5: &[Part] = &[Part::Block(Block {
    size: 8,
    fields: &[&[
        uint("time_allocation", bits(0, 5, 2)),
        uint("mcs", bits(0, 10, 6)),
        flag("ndi", 0, 11),
        uint("dai", bits(0, 13, 12)),
        uint("tpc", bits(2, 1, 0)),
        uint("pucch_resource", bits(2, 4, 2)),
        uint("harq_timing", bits(2, 7, 5)),
        uint("harq", bits(5, 5, 2)),
    ]],
})];

const fn when(name: &'static str, formats: &'static [u64], parts: &'static [Part]) -> Part {
    Part::List { name, count: Count::When(bits(0, 8, 7), formats), parts }
}

const MESSAGE_V2_5: &[Part] = &[
    Part::Block(Block {
        size: 4,
        fields: &[&[
            names("rnti", bits(0, 6, 3), RNTI),
            names("format", bits(0, 8, 7), DCI_FORMAT),
            names("aggregation", bits(0, 11, 9), LEVEL_V2_5),
            flag("has_raw", 0, 13),
        ]],
    }),
    when("uplink", &[0, 1], UPLINK_V2_5),
    when("downlink", &[2, 3], DOWNLINK_V2_5),
];

const SLOT_V2_5: &[Part] = &[
    Part::Block(Block { size: 8, fields: &[SLOT, &[uint("message_count", u8(4))]] }),
    Part::List { name: "messages", count: Count::Says(u8(4)), parts: MESSAGE_V2_5 },
];

const COUNTS_V3_9: &[Field] = &[
    uint("uplink_count", u8(8)),
    uint("downlink_count", u8(9)),
    uint("broadcast_count", u8(10)),
    uint("order_count", u8(11)),
    uint("tpc_count", u8(12)),
    uint("power_saving_count", u8(13)),
];

const RECORDS: &[Field] = &[uint("record_count", bits(2, 15, 12))];

const UPLINK_V3_9: &[Part] = &[Part::Block(Block {
    size: 40,
    fields: &[
        SLOT,
        RECORDS,
        &[
            names("format", bits(5, 1, 0), DCI_FORMAT),
            names("aggregation", bits(5, 5, 2), LEVEL_V3_9),
            uint("raw_kind", bits(5, 7, 6)),
            bytes("raw", 8, 16),
            uint("mcs", bits(25, 4, 0)),
            uint("rv", bits(25, 6, 5)),
            uint("harq", bits(25, 10, 7)),
            uint("tpc", bits(25, 12, 11)),
            uint("time_allocation", bits(25, 15, 13)),
            uint("bwp", bits(25, 17, 17)),
            uint("rb_assignment", bits(28, 18, 0)),
            uint("dai_1", bits(28, 20, 19)),
            uint("dai_2", bits(28, 22, 21)),
            uint("precoding", bits(31, 7, 2)),
            flag("ul_sch", 32, 0),
            uint("antenna_ports", bits(32, 4, 1)),
            flag("dmrs_sequence", 32, 6),
            uint("srs_request", bits(32, 8, 7)),
            uint("csi_request", bits(32, 14, 9)),
            flag("allocation_type", 35, 0),
            uint("prune_reason", bits(35, 5, 3)),
            hex("prune_errors", bits(35, 20, 6)),
        ],
    ],
})];

const DOWNLINK_V3_9: &[Part] = &[Part::Block(Block {
    size: 32,
    fields: &[
        SLOT,
        RECORDS,
        &[
            names("format", bits(5, 1, 0), DCI_FORMAT),
            uint("layers", u8(9)),
            uint("start_cce", bits(10, 7, 1)),
            uint("rb_assignment", bits(16, 18, 3)),
            uint("time_allocation", bits(16, 25, 22)),
            uint("mcs", bits(20, 4, 0)),
            uint("rv", bits(20, 6, 5)),
            flag("ndi", 20, 7),
            uint("mcs_1", bits(21, 4, 0)),
            uint("rv_1", bits(21, 6, 5)),
            flag("ndi_1", 21, 7),
            uint("harq", u8(22)),
            uint("antenna_ports", u8(24)),
            uint("zp_csi_trigger", bits(25, 2, 1)),
            flag("dmrs_sequence", 25, 3),
            uint("pucch_resource", bits(25, 9, 7)),
            uint("harq_timing", bits(25, 12, 10)),
            uint("dai", bits(25, 15, 13)),
        ],
    ],
})];

const BROADCAST_V3_9: &[Part] = &[Part::Block(Block {
    size: 32,
    fields: &[
        SLOT,
        RECORDS,
        &[
            names("rnti", bits(4, 7, 4), RNTI),
            names("format", bits(5, 1, 0), DCI_FORMAT),
            names("aggregation", bits(5, 6, 3), LEVEL_V3_9),
            uint("layers", u8(9)),
            uint("start_cce", bits(10, 7, 1)),
            uint("rb_assignment", bits(16, 18, 3)),
            uint("time_allocation", bits(16, 25, 22)),
        ],
    ],
})];

pub(in super::super) static LAYOUTS: &[Layout] = &[
    Layout {
        versions: &[0x2_0005],
        parts: &[
            HEADER_2,
            Part::List { name: "slots", count: Count::Says(u8(15)), parts: SLOT_V2_5 },
        ],
    },
    Layout {
        versions: &[0x3_0009],
        parts: &[
            Part::Block(Block { size: 16, fields: &[VERSION, RECORD_COUNT_3, COUNTS_V3_9] }),
            Part::List { name: "uplink", count: Count::Says(u8(8)), parts: UPLINK_V3_9 },
            Part::List { name: "downlink", count: Count::Says(u8(9)), parts: DOWNLINK_V3_9 },
            Part::List { name: "broadcast", count: Count::Says(u8(10)), parts: BROADCAST_V3_9 },
        ],
    },
];

static KEYS: [[Keys; 2]; 2] = [
    [Keys::of(SLOT_V2_5, UPLINK_V2_5), Keys::of(SLOT_V2_5, DOWNLINK_V2_5)],
    [Keys::of(UPLINK_V3_9, UPLINK_V3_9), Keys::of(DOWNLINK_V3_9, DOWNLINK_V3_9)],
];

/// The bit paths of the fields of [`NrControlMessage`], in one version and direction.
struct Keys {
    slot: slot_keys::Keys,
    mcs: Bits,
    harq: Bits,
    rv: Option<Bits>,
    ndi: Option<Bits>,
    time_allocation: Option<Bits>,
}

impl Keys {
    const fn of(slot: &[Part], message: &[Part]) -> Self {
        Self {
            slot: slot_keys::Keys::of(slot),
            mcs: key(message, "mcs"),
            harq: key(message, "harq"),
            rv: try_key(message, "rv"),
            ndi: try_key(message, "ndi"),
            time_allocation: try_key(message, "time_allocation"),
        }
    }
}

/// A record of downlink control information.
#[derive(Clone, Copy, Debug)]
pub struct NrDci<'a> {
    node: Node<'a>,
    version: usize,
}

/// A grant or an assignment for this device; broadcasts do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NrControlMessage {
    /// When it was received.
    pub slot: Option<Slot>,
    /// It grants an uplink transmission.
    pub uplink: bool,
    /// I_MCS, 0..=31.
    pub mcs: u8,
    /// HARQ process; of uplink grants of version 2.5 the lower two bits.
    pub harq: u8,
    /// Redundancy version; assignments of version 2.5 lack it.
    pub rv: Option<u8>,
    /// New-data indicator; grants of version 3.9 lack it.
    pub ndi: Option<bool>,
    /// Index of its configured time-domain allocation; grants of version 2.5 lack it.
    pub time_allocation: Option<u8>,
}

impl NrControlMessage {
    fn read(slot: Option<Slot>, uplink: bool, message: Node<'_>, keys: &Keys) -> Self {
        let number = |bits| message.read(bits) as u8;
        Self {
            slot,
            uplink,
            mcs: number(keys.mcs),
            harq: number(keys.harq),
            rv: keys.rv.map(number),
            ndi: keys.ndi.map(|bits| message.read(bits) != 0),
            time_allocation: keys.time_allocation.map(number),
        }
    }
}

impl<'a> NrDci<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB885);

    /// Reads the body of a record.
    ///
    /// # Errors
    ///
    /// [`RecordError::Unsupported`] if the version is not described; [`RecordError::Corrupt`] if
    /// the body is too short for it.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        checked(Self::CODE, LAYOUTS, body).map(|(node, version)| Self { node, version })
    }

    /// The messages addressed to this device: version 2.5 has them in order of time, 3.9 uplink
    /// first.
    pub fn messages(&self) -> impl Iterator<Item = NrControlMessage> + use<'a> {
        let [uplink, downlink] = &KEYS[self.version];
        let both = move |slot: Option<Slot>, item: Node<'a>| {
            let up = item.list("uplink").map(move |message| (true, message, uplink));
            let down = item.list("downlink").map(move |message| (false, message, downlink));
            up.chain(down).map(move |(direction, message, keys)| {
                let slot = slot.or_else(|| slot_of(&keys.slot, message));
                NrControlMessage::read(slot, direction, message, keys)
            })
        };
        // Version 3.9 has one list for all slots, and each message its own slot; it has no list of
        // slots.
        let flat = (self.version == 1).then_some(self.node).into_iter();
        let flat = flat.flat_map(move |node| both(None, node));
        let slots = self.node.list("slots").flat_map(move |item| {
            let slot = slot_of(&uplink.slot, item);
            item.list("messages").flat_map(move |message| {
                both(slot, message).map(move |found| NrControlMessage { slot, ..found })
            })
        });
        flat.chain(slots)
    }
}
