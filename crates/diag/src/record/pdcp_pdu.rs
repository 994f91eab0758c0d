//! 0xB0A2 and 0xB0B2, PDCP control PDUs, and 0xB0B1, uplink data PDUs before ciphering.
//!
//! Packet version 1 with sub-packet 194, of versions 1 and 24 for control and of version 1 for
//! data. Source: docs/reference/diag.md, records and layouts; 0xB0A2 24 and 0xB0B1 are in captures,
//! and end where the record ends if the bytes logged follow each head. So they do in control's
//! version 1, whose source takes them for two in every PDU.

use super::common::BEARER_MODE;
use super::sub::HEADER;
use crate::layout::{
    Bits, Block, Count, Field, Layout, Part, SubLayout, bits, names, u8, u16, uint,
};

const BEARER: Part = Part::Block(Block {
    size: 5,
    fields: &[&[
        uint("rb_config", u8(0)),
        names("mode", u8(1), BEARER_MODE),
        uint("sn_bits", u8(2)),
        uint("pdu_count", u16(3)),
    ]],
});

const SHORT_BEARER: Part = Part::Block(Block {
    size: 4,
    fields: &[&[
        uint("rb_config", u8(0)),
        names("mode", u8(1), BEARER_MODE),
        uint("sn_bits", u8(2)),
        uint("pdu_count", u8(3)),
    ]],
});

const PDU: &[Field] = &[
    uint("pdu_bytes", u16(0)),
    uint("logged_bytes", u16(2)),
    uint("subframe", bits(4, 3, 0)),
    uint("frame", bits(4, 13, 4)),
];

const fn pdus(count: Bits, parts: &'static [Part]) -> Part {
    Part::List { name: "pdus", count: Count::Says(count), parts }
}

const FIRST_BYTES: Part = Part::Opaque { name: "first_bytes", len: u16(2) };

const PDU_V1: &[Part] = &[Part::Block(Block { size: 6, fields: &[PDU] }), FIRST_BYTES];
const CONTROL_V24: &[Part] =
    &[Part::Block(Block { size: 7, fields: &[PDU, &[uint("control_type", u8(6))]] }), FIRST_BYTES];

const fn record(known: &'static [SubLayout]) -> Part {
    Part::SubPackets { count: u8(1), known }
}

const fn sub(name: &'static str, versions: &'static [u8], parts: &'static [Part]) -> SubLayout {
    SubLayout { id: 194, name, versions, parts }
}

pub(super) static CONTROL_LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        HEADER,
        record(&[
            sub("control_pdus", &[1], &[SHORT_BEARER, pdus(u8(3), PDU_V1)]),
            sub("control_pdus", &[24], &[BEARER, pdus(u16(3), CONTROL_V24)]),
        ]),
    ],
}];

pub(super) static DATA_LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[HEADER, record(&[sub("data_pdus", &[1], &[BEARER, pdus(u16(3), PDU_V1)])])],
}];
