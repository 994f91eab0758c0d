//! 0xB0A3 and 0xB0B3, PDCP data PDUs under ciphering, and 0xB0A5 and 0xB0B5, signalling PDUs under
//! integrity protection: sizes, times and counts. The keys that the records carry are not read.
//!
//! Packet version 1 with sub-packet 195 of versions 1, 3, 24 (downlink) or 26 (uplink), 40 and 50,
//! and with sub-packets 198 and 199 of version 1. Source: docs/reference/diag.md, records and
//! layouts; 0xB0A3 1 and 24, 0xB0B3 1 and 26 and both signalling records agree with captures field
//! by field.

use super::common::CIPHER;
use super::sub::HEADER;
use crate::layout::{
    Block, Count, Field, Layout, Names, Part, SubLayout, bits, flag, hex, names, u8, u16, u32, uint,
};

const MODE: Names = &[(0, "am"), (1, "um")];
const SN_BITS: Names = &[(0, "5"), (1, "7"), (2, "12")];

const CIPHERS: Part = Part::Block(Block {
    size: 36,
    fields: &[&[
        names("srb_cipher", u8(32), CIPHER),
        names("drb_cipher", u8(33), CIPHER),
        uint("pdu_count", u16(34)),
    ]],
});

const BEARER: &[Field] = &[
    uint("rb_config", bits(0, 5, 0)),
    names("mode", bits(0, 6, 6), MODE),
    names("sn_bits", bits(0, 8, 7), SN_BITS),
    uint("bearer", bits(0, 13, 9)),
    flag("valid", 1, 6),
];
/// One bit more for the length of sequence numbers.
const BEARER_V50: &[Field] = &[
    uint("rb_config", bits(0, 5, 0)),
    names("mode", bits(0, 6, 6), MODE),
    names("sn_bits", bits(0, 9, 7), SN_BITS),
    uint("bearer", bits(0, 14, 10)),
    flag("valid", 1, 7),
];
const PDU: &[Field] = &[
    uint("pdu_bytes", u16(2)),
    uint("logged_bytes", u16(4)),
    uint("subframe", bits(6, 3, 0)),
    uint("frame", bits(6, 13, 4)),
];
const SN: &[Field] = &[uint("sn", bits(8, 11, 0))];
const COUNT: &[Field] = &[uint("count", u32(8))];

/// The beginning of the PDU as it went over the air.
const FIRST_BYTES: Part = Part::Opaque { name: "first_bytes", len: u16(4) };

const fn pdus(parts: &'static [Part]) -> Part {
    Part::List { name: "pdus", count: Count::Says(u16(34)), parts }
}

const PDUS_V1: Part =
    pdus(&[Part::Block(Block { size: 12, fields: &[BEARER, PDU, SN] }), FIRST_BYTES]);
const PDUS: Part =
    pdus(&[Part::Block(Block { size: 13, fields: &[BEARER, PDU, SN] }), FIRST_BYTES]);
const PDUS_V40: Part =
    pdus(&[Part::Block(Block { size: 13, fields: &[BEARER, PDU, COUNT] }), FIRST_BYTES]);
const PDUS_V50: Part =
    pdus(&[Part::Block(Block { size: 13, fields: &[BEARER_V50, PDU, COUNT] }), FIRST_BYTES]);

const fn ciphered(versions: &'static [u8], parts: &'static [Part]) -> SubLayout {
    SubLayout { id: 195, name: "ciphered_pdus", versions, parts }
}

pub(super) static LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        HEADER,
        Part::SubPackets {
            count: u8(1),
            known: &[
                ciphered(&[1], &[CIPHERS, PDUS_V1]),
                ciphered(&[3, 24, 26], &[CIPHERS, PDUS]),
                ciphered(&[40], &[CIPHERS, PDUS_V40]),
                ciphered(&[50], &[CIPHERS, PDUS_V50]),
            ],
        },
    ],
}];

const SIGNALLING: &[Field] = &[
    uint("rb_config", bits(0, 5, 0)),
    uint("pdu_bytes", u16(2)),
    uint("logged_bytes", u16(4)),
    uint("subframe", bits(6, 3, 0)),
    uint("frame", bits(6, 13, 4)),
    uint("count", u32(8)),
    hex("mac_i", u32(12)),
];
const EXPECTED: &[Field] = &[hex("expected_mac_i", u32(16))];
const MESSAGE: Part = Part::Opaque { name: "pdu", len: u16(4) };

const ALGORITHMS: Part = Part::Block(Block {
    size: 36,
    fields: &[&[
        names("cipher", u8(32), CIPHER),
        names("integrity", u8(33), CIPHER),
        uint("pdu_count", u16(34)),
    ]],
});

const fn signalling(known: &'static [SubLayout]) -> Part {
    Part::SubPackets { count: u8(1), known }
}

pub(super) static DOWNLINK_SIGNALLING_LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        HEADER,
        signalling(&[SubLayout {
            id: 198,
            name: "signalling_pdus",
            versions: &[1],
            parts: &[
                ALGORITHMS,
                pdus(&[Part::Block(Block { size: 20, fields: &[SIGNALLING, EXPECTED] }), MESSAGE]),
            ],
        }]),
    ],
}];

pub(super) static UPLINK_SIGNALLING_LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        HEADER,
        signalling(&[SubLayout {
            id: 199,
            name: "signalling_pdus",
            versions: &[1],
            parts: &[
                ALGORITHMS,
                pdus(&[Part::Block(Block { size: 16, fields: &[SIGNALLING] }), MESSAGE]),
            ],
        }]),
    ],
}];
