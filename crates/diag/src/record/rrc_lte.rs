//! 0xB0C0, LTE RRC messages over the air, with the cell they came through.
//!
//! Versions 2 to 9, 12 to 16, 19, 20, 22, 24 to 27, 29 to 31; in between there are versions whose
//! numbers of the channels are unknown. Source: docs/reference/diag.md, records and layouts; 7, 8,
//! 9, 13, 15, 19, 20 and 26 agree with captures field by field, 6, 24 and 30 with a second
//! decoder's vectors. NB-IoT's numbers of 15 and 16 are from a third public decoder; in nine
//! captures of NB-IoT modems every message that 15 numbers 41 and 43 to 46 decodes as that, to
//! its last byte.

use super::rrc::{self, Pdus, RrcPdu, Segment, pdu_names, pdu_of};
use super::{RecordError, checked};
use crate::layout::{
    Bits, Block, Field, Layout, Part, bits, hex, key, names, try_key, u8, u16, u32, uint,
};
use crate::radio::Tti;
use crate::{LogCode, LogRecord};

/// Release of the specification, and sender and receiver, from `$at` on.
macro_rules! release {
    () => {
        &[uint("version", u8(0)), uint("release", u8(1)), hex("release_version", u8(2))]
    };
    (nr) => {
        &[
            uint("version", u8(0)),
            uint("release", u8(1)),
            hex("release_version", u8(2)),
            uint("nr_release", u8(3)),
            hex("nr_release_version", u8(4)),
        ]
    };
}

/// Bearer and cell from `$at` on, the carrier's number of `$earfcn`, time and kind of message after
/// it.
macro_rules! message {
    ($at:expr, $earfcn:expr, $time:expr, $pdus:expr) => {
        &[
            uint("radio_bearer", u8($at)),
            uint("pci", u16($at + 1)),
            uint("earfcn", $earfcn),
            uint("subframe", bits($time, 3, 0)),
            uint("frame", bits($time, 13, 4)),
            uint("above_frame", bits($time, 15, 14)),
            names("pdu", u8($time + 2), $pdus),
        ]
    };
}

const fn header(fields: &'static [&'static [Field]], size: u16) -> Part {
    Part::Block(Block { size, fields })
}

const fn message(len: Bits) -> Part {
    Part::Opaque { name: "message", len }
}

/// The first numbering: channels from 1.
const FROM_1: Pdus = &[
    (1, RrcPdu::LteBcchBch),
    (2, RrcPdu::LteBcchDlSch),
    (3, RrcPdu::LteMcch),
    (4, RrcPdu::LtePcch),
    (5, RrcPdu::LteDlCcch),
    (6, RrcPdu::LteDlDcch),
    (7, RrcPdu::LteUlCcch),
    (8, RrcPdu::LteUlDcch),
];

/// Channels from 8.
const FROM_8: Pdus = &[
    (8, RrcPdu::LteBcchBch),
    (9, RrcPdu::LteBcchDlSch),
    (10, RrcPdu::LteMcch),
    (11, RrcPdu::LtePcch),
    (12, RrcPdu::LteDlCcch),
    (13, RrcPdu::LteDlDcch),
    (14, RrcPdu::LteUlCcch),
    (15, RrcPdu::LteUlDcch),
];

/// One kind of system information more, and NB-IoT from 54.
const NB_FROM_54: Pdus = &[
    (1, RrcPdu::LteBcchBch),
    (2, RrcPdu::LteBcchDlSch),
    (4, RrcPdu::LteMcch),
    (5, RrcPdu::LtePcch),
    (6, RrcPdu::LteDlCcch),
    (7, RrcPdu::LteDlDcch),
    (8, RrcPdu::LteUlCcch),
    (9, RrcPdu::LteUlDcch),
    (54, RrcPdu::NbBcchBch),
    (55, RrcPdu::NbBcchDlSch),
    (56, RrcPdu::NbPcch),
    (57, RrcPdu::NbDlCcch),
    (58, RrcPdu::NbDlDcch),
    (59, RrcPdu::NbUlCcch),
    (61, RrcPdu::NbUlDcch),
];

/// As [`NB_FROM_54`], before there was NB-IoT.
const FROM_1_WITH_GAP: Pdus = NB_FROM_54.split_at(8).0;

/// As [`NB_FROM_54`], with NB-IoT from 40.
const NB_FROM_40: Pdus = &[
    (1, RrcPdu::LteBcchBch),
    (2, RrcPdu::LteBcchDlSch),
    (4, RrcPdu::LteMcch),
    (5, RrcPdu::LtePcch),
    (6, RrcPdu::LteDlCcch),
    (7, RrcPdu::LteDlDcch),
    (8, RrcPdu::LteUlCcch),
    (9, RrcPdu::LteUlDcch),
    (40, RrcPdu::NbBcchBch),
    (41, RrcPdu::NbBcchDlSch),
    (42, RrcPdu::NbPcch),
    (43, RrcPdu::NbDlCcch),
    (44, RrcPdu::NbDlDcch),
    (45, RrcPdu::NbUlCcch),
    (46, RrcPdu::NbUlDcch),
];

/// More kinds of broadcast, and NB-IoT from 45.
const NB_FROM_45: Pdus = &[
    (1, RrcPdu::LteBcchBch),
    (3, RrcPdu::LteBcchDlSch),
    (6, RrcPdu::LteMcch),
    (7, RrcPdu::LtePcch),
    (8, RrcPdu::LteDlCcch),
    (9, RrcPdu::LteDlDcch),
    (10, RrcPdu::LteUlCcch),
    (11, RrcPdu::LteUlDcch),
    (45, RrcPdu::NbBcchBch),
    (46, RrcPdu::NbBcchDlSch),
    (47, RrcPdu::NbPcch),
    (48, RrcPdu::NbDlCcch),
    (49, RrcPdu::NbDlDcch),
    (50, RrcPdu::NbUlCcch),
    (52, RrcPdu::NbUlDcch),
];

/// The layouts of one header with its numbering of channels.
macro_rules! layouts {
    ($($versions:expr, $pdus:ident of $count:literal, $release:tt, $at:expr, $earfcn:expr, $time:expr,
       [$($more:expr),*], $len:expr, $size:expr;)*) => {
        &[$(Layout {
            versions: &$versions,
            parts: &[
                header(
                    &[release! $release, message!($at, $earfcn, $time, &pdu_names::<$count>($pdus)), &[$($more,)* uint("len_bytes", u16($len))]],
                    $size,
                ),
                message(u16($len)),
            ],
        }),*]
    };
}

/// The blocks in a message of system information.
const fn sibs(at: u16) -> Field {
    hex("sib_mask", u32(at))
}

const SEGMENT: u16 = 23;

pub(super) static LAYOUTS: &[Layout] = layouts! {
    [2, 3, 4], FROM_1 of 8, (), 3, u16(6), 8, [], 11, 13;
    [5, 6, 7], FROM_1 of 8, (), 3, u16(6), 8, [sibs(11)], 15, 17;
    [8, 13, 22], FROM_1 of 8, (), 3, u32(6), 10, [sibs(13)], 17, 19;
    [9, 12], FROM_8 of 8, (), 3, u32(6), 10, [sibs(13)], 17, 19;
    [14], FROM_1_WITH_GAP of 8, (), 3, u32(6), 10, [sibs(13)], 17, 19;
    [15, 16], NB_FROM_40 of 15, (), 3, u32(6), 10, [sibs(13)], 17, 19;
    [20, 24], NB_FROM_54 of 15, (), 3, u32(6), 10, [sibs(13)], 17, 19;
    [19], NB_FROM_45 of 15, (), 3, u32(6), 10, [sibs(13)], 17, 19;
    [25], NB_FROM_54 of 15, (nr), 5, u32(8), 12, [sibs(15)], 19, 21;
    [26, 27, 29], NB_FROM_45 of 15, (nr), 5, u32(8), 12, [sibs(15)], 19, 21;
    [30, 31], NB_FROM_45 of 15, (nr), 5, u32(8), 12, [sibs(15), uint("segment", u8(SEGMENT))], 19, 24;
};

/// For each of [`LAYOUTS`], its numbering of channels.
static PDUS: [Pdus; 11] = [
    FROM_1,
    FROM_1,
    FROM_1,
    FROM_8,
    FROM_1_WITH_GAP,
    NB_FROM_40,
    NB_FROM_54,
    NB_FROM_45,
    NB_FROM_54,
    NB_FROM_45,
    NB_FROM_45,
];

static KEYS: [Keys; 11] = {
    let mut keys = [Keys::of(LAYOUTS[0].parts); 11];
    let mut i = 1;
    while i < keys.len() {
        keys[i] = Keys::of(LAYOUTS[i].parts);
        i += 1;
    }
    keys
};

/// The bit paths of the fields of [`LteRrc`], in one layout.
#[derive(Clone, Copy)]
struct Keys {
    bearer: Bits,
    pci: Bits,
    earfcn: Bits,
    frame: Bits,
    subframe: Bits,
    pdu: Bits,
    segment: Option<Bits>,
}

impl Keys {
    const fn of(parts: &[Part]) -> Self {
        Self {
            bearer: key(parts, "radio_bearer"),
            pci: key(parts, "pci"),
            earfcn: key(parts, "earfcn"),
            frame: key(parts, "frame"),
            subframe: key(parts, "subframe"),
            pdu: key(parts, "pdu"),
            segment: try_key(parts, "segment"),
        }
    }
}

/// An RRC message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LteRrc<'a> {
    /// Kind of message; `None` for an unknown one.
    pub pdu: Option<RrcPdu>,
    /// The number that the record's version gives this kind.
    pub number: u8,
    /// The signalling bearer it came by; 0 before a connection.
    pub bearer: u8,
    /// The cell, 0..=503.
    pub pci: u16,
    /// The carrier's number.
    pub earfcn: u32,
    /// When; `None` outside the frame structure.
    pub tti: Option<Tti>,
    /// Its segment; `None` for an unknown number.
    pub segment: Option<Segment>,
    /// The message, encoded.
    pub message: &'a [u8],
}

impl<'a> LteRrc<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB0C0);

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
            earfcn: node.read(keys.earfcn) as u32,
            tti: Tti::new(node.read(keys.frame) as u16, node.read(keys.subframe) as u8),
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
