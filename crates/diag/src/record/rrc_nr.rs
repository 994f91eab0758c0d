//! 0xB821, NR RRC messages, with the cell they came through.
//!
//! Versions 7, 8, 9, 12, 14, 17, 19, 20, 23 to 26, 28. Source: docs/reference/diag.md, records and
//! layouts; 8 agrees with captures field by field, whose messages also decode as the kinds of their
//! numbers.

use super::rrc::{self, Pdus, RrcPdu, Segment, pdu_names, pdu_of};
use super::{RecordError, checked};
use crate::layout::{
    Bits, Block, Field, Layout, Part, bits, hex, key, names, try_key, u8, u16, u32, u64, uint,
};
use crate::{LogCode, LogRecord};

const RELEASE: &[Field] = &[
    uint("version", u32(0)),
    uint("release", u8(4)),
    hex("release_version", u8(5)),
    uint("radio_bearer", u8(6)),
    uint("pci", u16(7)),
];

/// The cell's identity, 36 bits above the 24 of its network's; all zero or nonsense where the modem
/// knows none.
const IDENTITY: Field = hex("cell_global_identity", u64(9));

/// The fields after the cell: carrier, time, kind of message, blocks of system information, length.
/// The first is at `$at`, the second has `$time` bits.
macro_rules! message {
    ($at:expr, $time:expr, $pdus:expr) => {
        &[
            uint("nr_arfcn", u32($at)),
            hex("time", bits($at + 4, $time - 1, 0)),
            names("pdu", u8($at + 4 + $time / 8), $pdus),
            hex("sib_mask", u32($at + 5 + $time / 8)),
            uint("len_bytes", u16($at + 9 + $time / 8)),
        ]
    };
}

/// Channels as the first versions number them.
const CHANNELS: [(u64, RrcPdu); 10] = [
    (1, RrcPdu::NrBcchBch),
    (2, RrcPdu::NrBcchDlSch),
    (3, RrcPdu::NrDlCcch),
    (4, RrcPdu::NrDlDcch),
    (5, RrcPdu::NrPcch),
    (6, RrcPdu::NrUlCcch),
    (7, RrcPdu::NrUlCcch1),
    (8, RrcPdu::NrUlDcch),
    (9, RrcPdu::NrReconfiguration),
    (10, RrcPdu::NrReconfigurationComplete),
];

/// Channels with multicast, at first numbered on without a gap.
const WITH_MCCH: [(u64, RrcPdu); 9] = [
    (1, RrcPdu::NrBcchBch),
    (2, RrcPdu::NrBcchDlSch),
    (3, RrcPdu::NrDlCcch),
    (4, RrcPdu::NrDlDcch),
    (5, RrcPdu::NrMcch),
    (6, RrcPdu::NrPcch),
    (7, RrcPdu::NrUlCcch),
    (8, RrcPdu::NrUlCcch1),
    (9, RrcPdu::NrUlDcch),
];

/// One numbering after another.
const fn and<const N: usize, const M: usize, const L: usize>(
    first: [(u64, RrcPdu); N],
    more: [(u64, RrcPdu); M],
) -> [(u64, RrcPdu); L] {
    assert!(N + M == L);
    let mut all = [first[0]; L];
    let mut i = 1;
    while i < L {
        all[i] = if i < N { first[i] } else { more[i - N] };
        i += 1;
    }
    all
}

const V7: Pdus = &and::<10, 1, 11>(CHANNELS, [(24, RrcPdu::NrRadioBearerConfig)]);
const V8: Pdus = &and::<10, 1, 11>(CHANNELS, [(26, RrcPdu::NrRadioBearerConfig)]);
const V9: Pdus = &and::<10, 3, 13>(
    CHANNELS,
    [(25, RrcPdu::NrRadioBearerConfig), (28, RrcPdu::MrdcCapability), (29, RrcPdu::NrCapability)],
);
const V14: Pdus = &and::<10, 4, 14>(
    CHANNELS,
    [
        (28, RrcPdu::NrRadioBearerConfig),
        (31, RrcPdu::MrdcCapability),
        (32, RrcPdu::NrCapability),
        (33, RrcPdu::NrCapability),
    ],
);
const V17: Pdus = &and::<10, 1, 11>(CHANNELS, [(29, RrcPdu::NrRadioBearerConfig)]);
const V20: Pdus = &and::<9, 3, 12>(
    WITH_MCCH,
    [
        (10, RrcPdu::NrReconfiguration),
        (11, RrcPdu::NrReconfigurationComplete),
        (36, RrcPdu::NrRadioBearerConfig),
    ],
);
const V26: Pdus = &and::<9, 3, 12>(
    WITH_MCCH,
    [
        (11, RrcPdu::NrReconfiguration),
        (12, RrcPdu::NrReconfigurationComplete),
        (36, RrcPdu::NrRadioBearerConfig),
    ],
);
const V28: Pdus = &and::<9, 4, 13>(
    WITH_MCCH,
    [
        (10, RrcPdu::NrUlDcch),
        (11, RrcPdu::NrReconfiguration),
        (12, RrcPdu::NrReconfigurationComplete),
        (36, RrcPdu::NrRadioBearerConfig),
    ],
);

const IDENTIFIED: &[Field] = &[IDENTITY];
const SEGMENTED: &[Field] = &[uint("segment", u8(34))];

macro_rules! layouts {
    ($($versions:expr, $pdus:ident of $count:literal, [$($before:ident),*], $at:expr, $time:expr,
       [$($after:ident),*], $size:expr;)*) => {
        &[$(Layout {
            versions: &$versions,
            parts: &[
                Part::Block(Block {
                    size: $size,
                    fields: &[
                        RELEASE,
                        $($before,)*
                        message!($at, $time, &pdu_names::<$count>($pdus)),
                        $($after,)*
                    ],
                }),
                Part::Opaque { name: "message", len: u16($at + 9 + $time / 8) },
            ],
        }),*]
    };
}

pub(super) static LAYOUTS: &[Layout] = layouts! {
    [7], V7 of 11, [], 9, 32, [], 24;
    [8], V8 of 11, [], 9, 32, [], 24;
    [9], V9 of 13, [], 9, 32, [], 24;
    [12], V9 of 13, [], 9, 24, [], 23;
    [14], V14 of 14, [], 9, 24, [], 23;
    [17], V17 of 11, [IDENTIFIED], 17, 24, [], 31;
    [19, 25], V17 of 11, [IDENTIFIED], 17, 24, [], 32;
    [20], V20 of 12, [IDENTIFIED], 17, 24, [], 32;
    [23, 24], V20 of 12, [IDENTIFIED], 17, 24, [SEGMENTED], 35;
    [26], V26 of 12, [IDENTIFIED], 17, 24, [SEGMENTED], 35;
    [28], V28 of 13, [IDENTIFIED], 17, 24, [SEGMENTED], 35;
};

/// For each of [`LAYOUTS`], its numbering of messages.
static PDUS: [Pdus; 11] = [V7, V8, V9, V9, V14, V17, V17, V20, V20, V26, V28];

static KEYS: [Keys; 11] = {
    let mut keys = [Keys::of(LAYOUTS[0].parts); 11];
    let mut i = 1;
    while i < keys.len() {
        keys[i] = Keys::of(LAYOUTS[i].parts);
        i += 1;
    }
    keys
};

/// The bit paths of the fields of [`NrRrc`], in one layout.
#[derive(Clone, Copy)]
struct Keys {
    bearer: Bits,
    pci: Bits,
    arfcn: Bits,
    pdu: Bits,
    segment: Option<Bits>,
}

impl Keys {
    const fn of(parts: &[Part]) -> Self {
        Self {
            bearer: key(parts, "radio_bearer"),
            pci: key(parts, "pci"),
            arfcn: key(parts, "nr_arfcn"),
            pdu: key(parts, "pdu"),
            segment: try_key(parts, "segment"),
        }
    }
}

/// An RRC message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NrRrc<'a> {
    /// Kind of message; `None` for an unknown one.
    pub pdu: Option<RrcPdu>,
    /// The number that the record's version gives this kind.
    pub number: u8,
    /// The signalling bearer it came by; 0 before a connection.
    pub bearer: u8,
    /// The cell, 0..=1007; 0 too where the message came within one of LTE.
    pub pci: u16,
    /// The carrier's number; 0 where the message came within one of LTE.
    pub nr_arfcn: u32,
    /// Its segment; `None` for an unknown number.
    pub segment: Option<Segment>,
    /// The message, encoded.
    pub message: &'a [u8],
}

impl<'a> NrRrc<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB821);

    /// Reads the body of a record.
    ///
    /// # Errors
    ///
    /// [`RecordError::Unsupported`] if the version is not described; [`RecordError::Corrupt`] if
    /// the body is too short for it.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        let (node, layout) = checked(Self::CODE, LAYOUTS, body)?;
        let keys = &KEYS[layout];
        let number = node.read(keys.pdu);
        Ok(Self {
            pdu: pdu_of(PDUS[layout], number),
            number: number as u8,
            bearer: node.read(keys.bearer) as u8,
            pci: node.read(keys.pci) as u16,
            nr_arfcn: node.read(keys.arfcn) as u32,
            segment: keys
                .segment
                .map_or(Some(Segment::Whole), |segment| Segment::from_number(node.read(segment))),
            message: node.message().unwrap_or_default(),
        })
    }

    /// Kind of message and part of it.
    ///
    /// # Errors
    ///
    /// [`RecordError::Unsupported`] if the record's number of the kind, or of the part, is unknown
    /// in its version.
    pub fn described(&self, log: &LogRecord<'_>) -> Result<(RrcPdu, Segment), RecordError> {
        rrc::described(log, self.pdu, self.number, self.segment)
    }
}
