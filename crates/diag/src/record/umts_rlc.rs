//! RLC of WCDMA: PDUs in 0x4135, 0x4145 and 0x4146, their ciphering in 0x4168 and 0x4169.
//!
//! None of them has a version. Source: docs/reference/diag.md, records and layouts; 0x4168 and
//! 0x4169 agree with the vectors of another decoder, the others are in no capture.

use crate::layout::{
    Block, Count, Field, Layout, Names, Part, bits, hex, names, u8, u16, u32, uint,
};

const fn block(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

const fn layout(parts: &'static [Part]) -> Layout {
    Layout { versions: &[], parts }
}

/// PDUs of acknowledged mode are whole octets long (TS 25.322 §9.2.1.4).
pub(super) static SIGNALLING_LAYOUTS: &[Layout] = &[layout(&[
    block(1, &[&[uint("pdu_count", u8(0))]]),
    Part::List {
        name: "pdus",
        count: Count::Says(u8(0)),
        parts: &[
            block(
                5,
                &[&[
                    uint("channel", u8(0)),
                    uint("logged_count", u16(1)),
                    uint("len_bits", u16(3)),
                ]],
            ),
            Part::Opaque { name: "pdu", len: bits(3, 15, 3) },
        ],
    },
])];

pub(super) static CONTROL_LAYOUTS: &[Layout] = &[layout(&[
    block(3, &[&[uint("channel", u8(0)), uint("len_bytes", u16(1))]]),
    Part::Opaque { name: "pdu", len: u16(1) },
])];

/// TS 33.102 §6.6.6; 255 means no ciphering.
const ALGORITHM: Names = &[(0, "uea0"), (1, "uea1"), (2, "uea2"), (255, "none")];

const CIPHERED: &[Field] =
    &[uint("channel", u8(0)), hex("ck", u32(1)), names("algorithm", u8(5), ALGORITHM)];
const DOWNLINK: &[Field] = &[hex("message", u32(6)), hex("count_c", u32(10))];
const UPLINK: &[Field] = &[hex("count_c", u32(6))];

const PDU_COUNT: Part = block(2, &[&[uint("pdu_count", u16(0))]]);

const fn pdus(parts: &'static [Part]) -> Part {
    Part::List { name: "pdus", count: Count::Says(u16(0)), parts }
}

pub(super) static DOWNLINK_CIPHER_LAYOUTS: &[Layout] =
    &[layout(&[PDU_COUNT, pdus(&[block(14, &[CIPHERED, DOWNLINK])])])];

pub(super) static UPLINK_CIPHER_LAYOUTS: &[Layout] =
    &[layout(&[PDU_COUNT, pdus(&[block(10, &[CIPHERED, UPLINK])])])];
